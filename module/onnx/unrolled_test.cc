// Unrolled networks, which become one model for all lengths.

#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/onnx/export_onnx.h"
#include "module/onnx/onnx_model.h"
#include "module/onnx/symbolic_shape.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "symbol/rnn/lstm_cell.h"
#include "symbol/rnn/unroll.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

constexpr int kSteps = 6, kHidden = 2, kFeatures = 3;

Symbol UnrolledLstm() {
  LSTMCell cell(kHidden);
  return Unroll(cell, kSteps, Symbol::Variable("data"), {.merge_outputs = true}).outputs.merged();
}

ArrayMap Parameters() {
  ArrayMap args;
  for (const auto& [name, shape] :
       std::vector<std::pair<std::string, Shape>>{{"lstm_i2h_weight", {4 * kHidden, kFeatures}},
                                                  {"lstm_i2h_bias", {4 * kHidden}},
                                                  {"lstm_h2h_weight", {4 * kHidden, kHidden}},
                                                  {"lstm_h2h_bias", {4 * kHidden}}}) {
    args[name] = *NDArray::Full(shape, 0.5);
  }
  return args;
}

int64_t CountOf(const OnnxModel& model, const std::string& op) {
  return absl::c_count_if(model.nodes, [&op](const OnnxNode& node) { return node.op_type == op; });
}

TEST(UnrolledTest, StepsBecomeOneLayerOfAnyLength) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const OnnxModel model,
      MakeOnnxModel(UnrolledLstm(), Parameters(), {},
                    {{"data", {{"batch"}, {"length", kSteps}, {"", kFeatures}}}}));
  EXPECT_EQ(CountOf(model, "LSTM"), 1);
  EXPECT_EQ(CountOf(model, "Gemm"), 0);
  EXPECT_EQ(model.outputs[0].dims[1].symbol, "length");
}

TEST(UnrolledTest, StepsStayAsTheyAreOnRequest) {
  COOPER_ASSERT_OK_AND_ASSIGN(const OnnxModel model,
                              MakeOnnxModel(UnrolledLstm(), Parameters(), {},
                                            {{"data", {{"batch"}, {"", kSteps}, {"", kFeatures}}}},
                                            {.fuse_recurrence = false}));
  EXPECT_EQ(CountOf(model, "LSTM"), 0);
  EXPECT_EQ(CountOf(model, "Gemm"), 2 * kSteps);
  EXPECT_EQ(model.outputs[0].dims[1].extent, kSteps);
}

TEST(UnrolledTest, TheLengthOfTheNetworkMustBeGiven) {
  EXPECT_THAT(
      MakeOnnxModel(UnrolledLstm(), Parameters(), {},
                    {{"data", {{"batch"}, {"length"}, {"", kFeatures}}}}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("give it, such as length=60")));
  EXPECT_THAT(MakeOnnxModel(UnrolledLstm(), Parameters(), {},
                            {{"data", {{"batch"}, {"length", kSteps}, {"", kFeatures}}}},
                            {.fuse_recurrence = false}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the network does not accept any length")));
}

}  // namespace
}  // namespace cooper
