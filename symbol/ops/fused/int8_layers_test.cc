// Tests the rules of int8 layers, and which subgraphs are refused.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/json/json.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Returns a file of one int8 layer over the variables x0, x1, ...
std::string File(const std::string& op, const std::string& attrs, int inputs,
                 const std::string& subgraph) {
  std::string variables, numbers;
  for (int i = 0; i < inputs; ++i) {
    absl::StrAppend(&variables, R"({"op": "null", "name": "x)", i, R"(", "inputs": []}, )");
    absl::StrAppend(&numbers, i == 0 ? "[" : ", [", i, ", 0, 0]");
  }
  return absl::StrCat(R"({"nodes": [)", variables, R"({"op": ")", op,
                      R"(", "name": "layer", "attrs": {"quantized": "true")", attrs,
                      R"(}, "inputs": [)", numbers, R"(], "subgraphs": [)", subgraph,
                      R"(]}], "arg_nodes": [], "heads": [[)", inputs, ", 0, 0], [", inputs,
                      R"(, 1, 0]], "attrs": {"mxnet_version": ["int", 10901]}})");
}

// data * weight + addend, and relu.
constexpr char kConv[] = R"json({"nodes": [
    {"op": "null", "name": "d", "inputs": []},
    {"op": "null", "name": "w", "inputs": []},
    {"op": "Convolution", "name": "c", "inputs": [[0, 0, 0], [1, 0, 0]],
     "attrs": {"kernel": "(3, 3)", "num_filter": "4", "no_bias": "True"}},
    {"op": "null", "name": "s", "inputs": []},
    {"op": "elemwise_add", "name": "sum", "inputs": [[2, 0, 0], [3, 0, 0]]},
    {"op": "Activation", "name": "r", "attrs": {"act_type": "relu"}, "inputs": [[4, 0, 0]]}],
  "heads": [[5, 0, 0]]})json";

TEST(Int8LayersTest, AConvolutionWithASumHasItsNamesAndShapes) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const Symbol symbol,
      SymbolFromJson(File("_sg_mkldnn_conv", R"(, "min_calib_range": "0", "max_calib_range": "2")",
                          7, kConv)));
  EXPECT_THAT(symbol.ListOutputs(), ElementsAre("layer_output", "layer_output_min"));
  COOPER_ASSERT_OK_AND_ASSIGN(const InferredShapes shapes,
                              InferShape(symbol, {{"x0", {2, 3, 5, 6}}}));
  EXPECT_THAT(shapes.args, ElementsAre(PartialShape{2, 3, 5, 6}, PartialShape{4, 3, 3, 3},
                                       PartialShape{2, 4, 3, 4}, PartialShape{1}, PartialShape{1},
                                       PartialShape{1}, PartialShape{1}));
  EXPECT_THAT(shapes.outputs, ElementsAre(PartialShape{2, 4, 3, 4}, PartialShape{1}));
  COOPER_EXPECT_OK(SymbolFromJson(SymbolToJson(symbol)));
}

TEST(Int8LayersTest, OtherSubgraphsAreRefused) {
  const auto conv = [](const char* from, const char* to) {
    return File("_sg_mkldnn_conv", "", 7, absl::StrReplaceAll(kConv, {{from, to}}));
  };
  const struct {
    std::string file;
    absl::StatusCode code;
    const char* message;
  } cases[] = {
      {conv("relu", "tanh"), absl::StatusCode::kUnimplemented,
       "_sg_mkldnn_conv 'layer': the subgraph of an int8 layer has Activation 'r', expected relu"},
      {conv("elemwise_add", "elemwise_mul"), absl::StatusCode::kInvalidArgument,
       "the subgraph has elemwise_mul 'sum' where its Convolution belongs"},
      {conv("[[2, 0, 0], [3, 0, 0]]", "[[3, 0, 0], [2, 0, 0]]"), absl::StatusCode::kInvalidArgument,
       "the subgraph has variable 's' where its Convolution belongs"},
      {conv("[[2, 0, 0], [3, 0, 0]]", "[[2, 0, 0], [0, 0, 0]]"), absl::StatusCode::kInvalidArgument,
       "other inputs of its nodes than one variable each"},
      {conv("[[2, 0, 0], [3, 0, 0]]", "[[2, 0, 0], [2, 0, 0]]"), absl::StatusCode::kInvalidArgument,
       "other inputs of its nodes than one variable each"},
      {conv("[[5, 0, 0]]", "[]"), absl::StatusCode::kInvalidArgument, "has no output"},
      {conv(R"("no_bias")", R"("layout": "NHWC", "no_bias")"), absl::StatusCode::kUnimplemented,
       "has Convolution 'c' whose channels are last"},
      {File("_sg_mkldnn_conv", "", 6, kConv), absl::StatusCode::kInvalidArgument,
       "takes 7 inputs (data, weight, sum, data_min, data_max, sum_min, sum_max), but 6 came"},
      {File("_sg_mkldnn_conv", "", 7, absl::StrCat(kConv, ", ", kConv)),
       absl::StatusCode::kInvalidArgument, "has 2 subgraphs, expected 1"},
      {File("_sg_mkldnn_fully_connected", "", 6, kConv), absl::StatusCode::kInvalidArgument,
       "the subgraph has elemwise_add 'sum' where its FullyConnected belongs"},
      {File("_sg_mkldnn_selfatt_qk", R"(, "heads": "2")", 3, kConv),
       absl::StatusCode::kInvalidArgument,
       "the subgraph is not one node of _contrib_interleaved_matmul_selfatt_qk"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(SymbolFromJson(c.file), StatusIs(c.code, HasSubstr(c.message)));
  }
}

}  // namespace
}  // namespace cooper
