// The C++ of interchange.md, run: check_snippets.sh holds them together.

#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/npz_iter.h"
#include "module/predict/c_api/c_predict_api.h"
#include "ndarray/array/named_arrays.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/dlpack/dlpack.h"
#include "ndarray/files/npz_file.h"
#include "ndarray/files/params_file.h"
#include "symbol/graph/symbol.h"
#include "symbol/json/json.h"
#include "symbol/op/nn.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;

// Lets a consumer of DLPack compute on `array`, whose elements it shares.
absl::Status Give(const NDArray& array, const std::function<void(DLManagedTensor*)>& consumer) {
  COOPER_ASSIGN_OR_RETURN(DLManagedTensorPtr tensor, ToDLPack(array));
  consumer(tensor.release());  // calls the tensor's deleter when it is done
  return absl::OkStatus();
}

// Doubles the elements of a tensor of another library in place.
absl::Status DoubleInPlace(DLManagedTensor* tensor) {
  COOPER_ASSIGN_OR_RETURN(const NDArray array, FromDLPack(tensor));
  COOPER_ASSIGN_OR_RETURN(const absl::Span<float> elements, array.Data<float>());
  for (float& element : elements) element *= 2;
  return absl::OkStatus();  // the last NDArray is gone: the tensor's deleter is called
}

TEST(InterchangePageTest, SharesElementsThroughDLPack) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray array, NDArray::FromVector<float>({2}, {1, 2}));
  COOPER_ASSERT_OK(
      Give(array, [](DLManagedTensor* tensor) { COOPER_EXPECT_OK(DoubleInPlace(tensor)); }));
  EXPECT_THAT(array.ToVector<float>(), IsOkAndHolds(ElementsAre(2, 4)));
  EXPECT_EQ(array.storage().use_count(), 1) << "nobody else keeps the elements";
}

// Takes weights from Python, numpy.savez("weights.npz", **{"fc1_weight": ...}), and gives results.
absl::Status ThroughNumPy(const std::string& weights, const std::string& results) {
  COOPER_ASSIGN_OR_RETURN(const NamedArrays arrays, LoadNpz(weights));
  for (const auto& [name, array] : arrays) std::cout << name << " " << array.ToString() << "\n";
  return SaveNpz(results, arrays, {.compress = true});
}

TEST(InterchangePageTest, ReadsAndWritesNumPysFiles) {
  const std::string weights = testing::TempDir() + "/weights.npz", results = weights + "-out.npz";
  COOPER_ASSERT_OK(SaveNpz(weights, {{"fc1_weight", *NDArray::Zeros({2, 3})}}));
  testing::internal::CaptureStdout();
  const absl::Status status = ThroughNumPy(weights, results);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "fc1_weight (2, 3) float32 cpu(0)\n");
  COOPER_ASSERT_OK(status);
  COOPER_ASSERT_OK_AND_ASSIGN(const NamedArrays arrays, LoadNpz(results));
  EXPECT_EQ(arrays[0].first, "fc1_weight");
}

// Serves batches of a data set that was saved with numpy.savez.
absl::StatusOr<std::unique_ptr<NDArrayIter>> Digits(const std::string& path) {
  return NpzIter(path, {{"data", "x_train"}}, {{"softmax_label", "y_train"}},
                 {.batch_size = 32, .data_dtype = DType::kFloat32});
}

TEST(InterchangePageTest, ServesADataSet) {
  const std::string path = testing::TempDir() + "/digits.npz";
  COOPER_ASSERT_OK(SaveNpz(path, {{"x_train", *NDArray::Zeros({40, 28, 28}, DType::kUint8)},
                                  {"y_train", *NDArray::Zeros({40}, DType::kInt64)}}));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto iter, Digits(path));
  EXPECT_EQ(iter->provide_data()[0].dtype, DType::kFloat32);
  EXPECT_EQ(iter->num_rows(), 40);
}

// Adds one to every array of a file of MXNet's or cooper's.
absl::Status AddOne(const std::string& from, const std::string& to) {
  COOPER_ASSIGN_OR_RETURN(const NamedArrays arrays, LoadNamedArrays(from));
  for (const auto& [name, array] : arrays) {
    COOPER_ASSIGN_OR_RETURN(const absl::Span<float> elements, array.Data<float>());
    for (float& element : elements) element += 1;
  }
  return SaveNamedArrays(to, arrays);
}

TEST(InterchangePageTest, ReadsAndWritesMXNetsFiles) {
  const std::string from = testing::TempDir() + "/from.params",
                    to = testing::TempDir() + "/to.params";
  COOPER_ASSERT_OK(SaveNamedArrays(from, {{"a", *NDArray::Full({2}, 3)}}));
  COOPER_ASSERT_OK(AddOne(from, to));
  COOPER_ASSERT_OK_AND_ASSIGN(const NamedArrays arrays, LoadNamedArrays(to));
  EXPECT_THAT(arrays[0].second.ToVector<float>(), IsOkAndHolds(ElementsAre(4, 4)));
}

// Computes the output of a model for one row of four numbers. Returns 0, or -1 after an error, of
// which MXGetLastError tells the reason.
int PredictRow(const std::string& symbol_json, const std::string& params, const float* row,
               float* output, uint32_t outputs) {
  const char* names[] = {"data"};
  const uint32_t begins[] = {0, 2}, shape[] = {1, 4};
  PredictorHandle predictor = nullptr;
  if (MXPredCreate(symbol_json.c_str(), params.data(), static_cast<int>(params.size()),
                   /*dev_type=*/1, /*dev_id=*/0, 1, names, begins, shape, &predictor) != 0) {
    return -1;
  }
  int status = MXPredSetInput(predictor, "data", row, 4);
  if (status == 0) status = MXPredForward(predictor);
  if (status == 0) status = MXPredGetOutput(predictor, 0, output, outputs);
  MXPredFree(predictor);
  return status;
}

TEST(InterchangePageTest, PredictsThroughC) {
  const Symbol net = op::FullyConnected(Symbol::Variable("data"), {.num_hidden = 2, .name = "fc"});
  const std::string json = SymbolToJson(net);
  COOPER_ASSERT_OK_AND_ASSIGN(
      const std::string params,
      SerializeNamedArrays({{"arg:fc_weight", *NDArray::Full({2, 4}, 1)},
                            {"arg:fc_bias", *NDArray::FromVector<float>({2}, {0, 5})}}));
  const float row[] = {1, 2, 3, 4};
  float output[2] = {};
  EXPECT_EQ(PredictRow(json, params, row, output, 2), 0) << MXGetLastError();
  EXPECT_THAT(output, ElementsAre(10, 15));
  EXPECT_EQ(PredictRow("{", params, row, output, 2), -1);
}

}  // namespace
}  // namespace cooper
