#include "io/iterators/npz_iter.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/iter_fixtures.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/files/npz_file.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string SaveDigits() {
  const std::string path = testing::TempDir() + "/digits.npz";
  COOPER_EXPECT_OK(SaveNpz(path,
                           {{"x_train", *NDArray::FromVector<uint8_t>({3, 2}, {1, 2, 3, 4, 5, 6})},
                            {"y_train", *NDArray::FromVector<int64_t>({3}, {7, 8, 9})},
                            {"x_test", *NDArray::Zeros({2, 2})}},
                           {.compress = true}));
  return path;
}

TEST(NpzIterTest, ServesTheArraysThatInputsName) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<NDArrayIter> iter,
      NpzIter(SaveDigits(), {{"data", "x_train"}}, {{"softmax_label", "y_train"}},
              {.batch_size = 2, .data_dtype = DType::kFloat32, .label_dtype = DType::kFloat32}));
  EXPECT_EQ(iter->provide_data()[0].name, "data");
  EXPECT_EQ(iter->provide_label()[0].name, "softmax_label");
  const std::vector<DataBatch> batches = Epoch(*iter);
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_THAT(batches[0].data[0].ToVector<float>(), IsOkAndHolds(ElementsAre(1, 2, 3, 4)));
  EXPECT_THAT(batches[0].label[0].ToVector<float>(), IsOkAndHolds(ElementsAre(7, 8)));
  EXPECT_EQ(batches[1].pad, 1);
}

TEST(NpzIterTest, OneArrayMayServeSeveralInputs) {
  COOPER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<NDArrayIter> iter,
                              NpzIter(SaveDigits(), {{"left", "x_train"}, {"right", "x_train"}},
                                      {{"label", "x_train"}}, {.batch_size = 3}));
  const std::vector<DataBatch> batches = Epoch(*iter);
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(batches[0].data.size() + batches[0].label.size(), 3u);
}

TEST(NpzIterTest, NamesFileAndArrayInErrors) {
  const std::string path = SaveDigits();
  const struct {
    std::string path;
    NpzInputs data;
    absl::StatusCode code;
    const char* message;
  } cases[] = {
      {path + ".none", {{"data", "x_train"}}, absl::StatusCode::kNotFound, "digits.npz.none"},
      {path,
       {{"data", "x_tran"}},
       absl::StatusCode::kNotFound,
       "digits.npz': there is no array 'x_tran'; did you mean 'x_train'"},
      {path,
       {{"data", "x_train"}, {"more", "x_test"}},
       absl::StatusCode::kInvalidArgument,
       "digits.npz': "},
      {path, {}, absl::StatusCode::kInvalidArgument, "digits.npz': "},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(NpzIter(c.path, c.data, {}), StatusIs(c.code, HasSubstr(c.message)));
  }
}

}  // namespace
}  // namespace cooper
