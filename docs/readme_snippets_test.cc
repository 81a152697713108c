// The second block of C++ in README.md, run: check_snippets.sh holds the two together.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/ndarray_iter.h"
#include "module/network/module.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/files/params_file.h"

namespace cooper {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;

// Returns the outputs of the model PREFIX-symbol.json, PREFIX-0003.params for `rows` (n, features).
absl::StatusOr<NDArray> PredictRows(const std::string& prefix, const NDArray& rows) {
  COOPER_ASSIGN_OR_RETURN(auto data, NDArrayIter::Create({{"data", rows}}, {}, {.batch_size = 4}));
  COOPER_ASSIGN_OR_RETURN(auto model, Module::Load(prefix, /*epoch=*/3));
  COOPER_RETURN_IF_ERROR(model->Bind({.data_shapes = data->provide_data(), .for_training = false}));
  COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> outputs, model->Predict(*data));
  return outputs[0];  // (n, classes)
}

constexpr char kCheckpoint[] = "tests/golden/module/checkpoint/";

TEST(ReadmeTest, PredictsWithAModelThatMXNetSaved) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NamedArrays trace,
                              LoadNamedArrays(std::string(kCheckpoint) + "trace.params"));
  NDArray rows, expected;
  for (const auto& [name, array] : trace) {
    if (name == "batch:1:data:data") rows = array;
    if (name == "loaded/out:0") expected = array;
  }
  ASSERT_FALSE(rows.is_null());
  ASSERT_FALSE(expected.is_null());
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray output,
                              PredictRows(std::string(kCheckpoint) + "prefix", rows));
  EXPECT_EQ(output.shape(), expected.shape());
  EXPECT_THAT(*output.ToVector<float>(), Pointwise(FloatNear(1e-5), *expected.ToVector<float>()));
}

}  // namespace
}  // namespace cooper
