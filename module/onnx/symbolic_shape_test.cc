#include "module/onnx/symbolic_shape.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/graph/symbol.h"
#include "symbol/schema/attr_values.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

Symbol Op(const char* op, const Symbol& input, AttrValues attrs) {
  return Symbol::Keep(Symbol::Create(op, {.name = "op", .inputs = {input}, .attrs = attrs}));
}

// Returns the formulas of the output's extents, or the error.
std::string ShapeText(const Symbol& symbol, const InputDims& inputs) {
  if (!symbol.status().ok()) return symbol.status().ToString();
  const IndexedGraph graph(symbol.outputs());
  const auto shapes = InferSymbolicShapes(graph, {}, inputs);
  if (!shapes.ok()) return std::string(shapes.status().message());
  const SymbolicShape& shape = shapes->entries[graph.entry(symbol.outputs()[0])];
  return absl::StrJoin(shape, " ", [&](std::string* out, const Extent& extent) {
    absl::StrAppend(out, extent.known ? shapes->Text(extent) : "?");
  });
}

TEST(SymbolicShapeTest, FitsFormulas) {
  const Symbol data = Symbol::Variable("data");
  const InputDims open = {{"data", {{"batch"}, {"length"}, {"", 6}}}};
  struct Case {
    const char* op;
    AttrValues attrs;
    const char* shape;
  };
  for (const Case& c : std::vector<Case>{
           {"relu", {}, "batch length 6"},
           {"Flatten", {}, "batch 6*length"},
           {"Reshape", {{"shape", "(-3, 0)"}}, "batch*length 6"},
           {"Reshape", {{"shape", "(-1,)"}}, "6*batch*length"},
           {"Reshape", {{"shape", "(0, 0, 2, -1)"}}, "batch length 2 3"},
           {"slice_axis", {{"axis", 1}, {"begin", 2}, {"end", -2}}, "batch length-4 6"},
           {"Pad", {{"mode", "edge"}, {"pad_width", "(1, 1, 0, 0, 0, 0)"}}, "batch+2 length 6"},
           {"Pooling", {{"kernel", "(4,)"}, {"stride", "(3,)"}}, "batch length 1"},
           {"slice_axis", {{"axis", 1}, {"begin", 0}, {"end", 5}}, "batch 5 6"},
       }) {
    EXPECT_EQ(ShapeText(Op(c.op, data, c.attrs), open), c.shape) << c.op;
  }
}

TEST(SymbolicShapeTest, OtherDependenciesAreNotKnown) {
  const Symbol pooled =
      Op("Pooling", Symbol::Variable("data"), {{"kernel", "(2,)"}, {"stride", "(5,)"}});
  EXPECT_EQ(ShapeText(pooled, {{"data", {{"batch"}, {"", 3}, {"length"}}}}), "batch 3 ?");
}

TEST(SymbolicShapeTest, RefusesWhatTheNetworkDoesNotAccept) {
  const Symbol rows = Op("Reshape", Symbol::Variable("data"), {{"shape", "(20, -1)"}});
  EXPECT_THAT(ShapeText(rows, {{"data", {{"length", 20}, {"", 3}}}}),
              HasSubstr("the network does not accept any length, give a number in its place: with "
                        "length=41"));
  const Symbol parts = Op("SliceChannel", Symbol::Variable("data"), {{"num_outputs", 7}});
  EXPECT_THAT(ShapeText(parts, {{"data", {{"batch"}, {"length"}}}}),
              HasSubstr("with batch=24, length=48. If the network is built for one value of these, "
                        "give it, such as length=60"));
}

TEST(SymbolicShapeTest, ASymbolHasOneExtent) {
  EXPECT_THAT(
      SampleExtents({{"a", {{"n", 3}}}, {"b", {{"n", 4}}}}),
      StatusIs(absl::StatusCode::kInvalidArgument, "input 'b': n is 4, and 3 in another place"));
}

}  // namespace
}  // namespace cooper
