// Tests how int8 layers are replaced. Their results are tested by golden cases
// (tests/golden/ops/_sg_mkldnn_conv and the like).

#include "executor/passes/graph/expand_int8_layers.h"

#include <vector>

#include "executor/executor.h"
#include "executor/passes/graph/constants_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/json/json.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A convolution with BatchNorm and relu between quantize_v2 and dequantize.
constexpr char kLayer[] = R"json({"nodes": [
    {"op": "null", "name": "data", "inputs": []},
    {"op": "_contrib_quantize_v2", "name": "q", "inputs": [[0, 0, 0]],
     "attrs": {"min_calib_range": "0", "max_calib_range": "1", "out_type": "auto"}},
    {"op": "null", "name": "w", "inputs": []},
    {"op": "null", "name": "gamma", "inputs": []},
    {"op": "null", "name": "beta", "inputs": []},
    {"op": "null", "name": "mean", "inputs": []},
    {"op": "null", "name": "var", "inputs": []},
    {"op": "_sg_mkldnn_conv", "name": "conv",
     "attrs": {"quantized": "true", "with_bn": "true", "with_relu": "true",
               "min_calib_range": "0", "max_calib_range": "2"},
     "inputs": [[1, 0, 0], [2, 0, 0], [3, 0, 0], [4, 0, 0], [5, 0, 1], [6, 0, 1], [1, 1, 0],
                [1, 2, 0]],
     "subgraphs": [{"nodes": [
         {"op": "null", "name": "data0", "inputs": []},
         {"op": "null", "name": "w0", "inputs": []},
         {"op": "Convolution", "name": "c", "inputs": [[0, 0, 0], [1, 0, 0]],
          "attrs": {"kernel": "(3, 3)", "num_filter": "4", "no_bias": "True"}},
         {"op": "null", "name": "gamma0", "inputs": []},
         {"op": "null", "name": "beta0", "inputs": []},
         {"op": "null", "name": "mean0", "inputs": []},
         {"op": "null", "name": "var0", "inputs": []},
         {"op": "BatchNorm", "name": "b", "attrs": {"fix_gamma": "False"},
          "inputs": [[2, 0, 0], [3, 0, 0], [4, 0, 0], [5, 0, 0], [6, 0, 0]]},
         {"op": "Activation", "name": "r", "attrs": {"act_type": "relu"}, "inputs": [[7, 0, 0]]}],
       "arg_nodes": [0, 1, 3, 4, 5, 6], "heads": [[8, 0, 0]]}]},
    {"op": "_contrib_dequantize", "name": "out", "inputs": [[7, 0, 0], [7, 1, 0], [7, 2, 0]]}],
  "arg_nodes": [0, 2, 3, 4, 5, 6], "heads": [[8, 0, 0]],
  "attrs": {"mxnet_version": ["int", 10901]}})json";

TEST(ExpandInt8LayersTest, ConstantWeightsAreQuantizedOnce) {
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol net, SymbolFromJson(kLayer));
  const BindOptions options = Options(net, {1, 3, 6, 7});
  const auto variable = Bind(net, options), constant = Bind(net, WithConstants(options));
  EXPECT_THAT(variable->DebugString(),
              AllOf(HasSubstr("_quantized_weight"), HasSubstr("_int8_convolution")));
  EXPECT_THAT(constant->DebugString(),
              AllOf(Not(HasSubstr("_quantized_weight ")), HasSubstr("_int8_convolution")));
  const std::vector<float> output = Output(*constant);
  EXPECT_EQ(output, Output(*variable));
  EXPECT_THAT(output, ::testing::Contains(::testing::Gt(0.1F)));
}

}  // namespace
}  // namespace cooper
