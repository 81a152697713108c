// Tests symbols whose layers MXNet has fused for oneDNN. Their results are tested by a golden case
// (tests/golden/ops/_graph/fused_for_onednn).

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/json/json.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

COOPER_REGISTER_OP(Layer).Inputs({"data", "weight"}).Shape(SameShape).Type(SameType);
COOPER_REGISTER_OP(act).Inputs({"data"}).Shape(SameShape).Type(SameType);

constexpr char kSubgraph[] = R"({"nodes": [
    {"op": "null", "name": "data0", "inputs": []},
    {"op": "null", "name": "weight0", "inputs": []},
    {"op": "Layer", "name": "fc", "inputs": [[0, 0, 0], [1, 0, 0]]},
    {"op": "act", "name": "relu", "inputs": [[2, 0, 0]]}], "heads": [[3, 0, 0]]})";

// Returns a file with a fused layer "fused" and another node behind it.
std::string File(const std::string& op, const std::string& attrs, const std::string& subgraphs,
                 const std::string& inputs = "[[0, 0, 0], [1, 0, 0]]") {
  return absl::StrCat(R"({"nodes": [
      {"op": "null", "name": "x", "inputs": []},
      {"op": "null", "name": "w", "inputs": []},
      {"op": ")",
                      op, R"(", "name": "fused", "attrs": {)", attrs, R"(}, "inputs": )", inputs,
                      R"(, "subgraphs": [)", subgraphs, R"(]},
      {"op": "act", "name": "last", "inputs": [[2, 0, 0]]}],
      "arg_nodes": [0, 1], "heads": [[3, 0, 0], [2, 0, 0]],
      "attrs": {"mxnet_version": ["int", 10901]}})");
}

TEST(JsonSubgraphTest, AFusedLayerBecomesItsNodes) {
  for (const char* op : {"_sg_mkldnn_conv", "_sg_mkldnn_fully_connected", "_sg_mkldnn_selfatt_qk",
                         "_sg_mkldnn_selfatt_valatt", "_sg_onednn_conv"}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const Symbol symbol,
                                SymbolFromJson(File(op, R"("with_act": "true")", kSubgraph)));
    EXPECT_THAT(symbol.ListOutputs(), ElementsAre("last_output", "fused_output"));
    EXPECT_THAT(symbol.ListArguments(), ElementsAre("x", "w"));
    EXPECT_THAT(symbol.GetInternals().ListOutputs(),
                ElementsAre("x", "w", "fc_output", "fused_output", "last_output"));
    COOPER_EXPECT_OK(SymbolFromJson(SymbolToJson(symbol)));
  }
}

TEST(JsonSubgraphTest, RefusesOthersWithTheReason) {
  const auto changed = [](const char* from, const char* to) {
    return File("_sg_mkldnn_conv", "", absl::StrReplaceAll(kSubgraph, {{from, to}}));
  };
  const struct {
    std::string text;
    absl::StatusCode code;
    const char* message;
  } cases[] = {
      {File("_sg_mkldnn_conv", R"("quantized": "true")", kSubgraph),
       absl::StatusCode::kUnimplemented,
       "node 'fused' (_sg_mkldnn_conv) has subgraphs: control flow or a fused layer that is not"},
      {File("_foreach", "", kSubgraph), absl::StatusCode::kUnimplemented,
       "node 'fused' (_foreach) has subgraphs: control flow or a fused layer that is not linked"},
      {File("_sg_mkldnn_conv", "", absl::StrCat(kSubgraph, ", ", kSubgraph)),
       absl::StatusCode::kUnimplemented, "has other than one subgraph"},
      {File("_sg_mkldnn_conv", "", kSubgraph, "[[0, 0, 0]]"), absl::StatusCode::kInvalidArgument,
       "the subgraph of 'fused' has more variables than inputs"},
      {File("_sg_mkldnn_conv", "", kSubgraph, "[[0, 0], [1, 0], [0, 0]]"),
       absl::StatusCode::kInvalidArgument, "the subgraph of 'fused' has fewer variables than"},
      {changed("[2, 0, 0]", "[4, 0, 0]"), absl::StatusCode::kInvalidArgument,
       "refers to node 4, but only the 3 nodes before it"},
      {changed(R"("heads": [[3, 0, 0]])", R"("heads": [[4, 0, 0]])"),
       absl::StatusCode::kInvalidArgument, "the subgraph of 'fused' head refers to node 4"},
      {changed(R"("heads": [[3, 0, 0]])", R"("heads": [])"), absl::StatusCode::kInvalidArgument,
       "the subgraph of 'fused' has no head"},
      {changed(R"("name": "relu",)", R"("name": "relu", "subgraphs": [{}],)"),
       absl::StatusCode::kInvalidArgument, "the subgraph of 'fused' has a subgraph in it"},
      {absl::StrReplaceAll(File("_sg_mkldnn_conv", "", kSubgraph),
                           {{"[[3, 0, 0], [2, 0, 0]]", "[[2, 1, 0]]"}}),
       absl::StatusCode::kInvalidArgument, "refers to output 1 of a subgraph that has 1"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(SymbolFromJson(c.text), StatusIs(c.code, HasSubstr(c.message)));
  }
}

// The head of the subgraph is an input: no node is renamed.
TEST(JsonSubgraphTest, ASubgraphMayPassAnInputOn) {
  const std::string pass =
      R"({"nodes": [{"op": "null", "name": "a", "inputs": []}], "heads": [[0, 0, 0]]})";
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol symbol,
                              SymbolFromJson(File("_sg_mkldnn_conv", "", pass, "[[0, 0, 0]]")));
  EXPECT_THAT(symbol.ListOutputs(), ElementsAre("last_output", "x"));
}

}  // namespace
}  // namespace cooper
