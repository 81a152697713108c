// Tests the messages of inference when shapes contradict each other, are missing, or are too large.
// Rules of operators are tested beside them, whole graphs by the golden cases.

#include "symbol/inference/infer_shape.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Symbol TwoLayers() {
  Symbol x = Symbol::Variable("data");
  for (const char* name : {"fc1", "fc2"}) {
    x = *Symbol::Create("FullyConnected",
                        {.name = name, .inputs = {x}, .attrs = {{"num_hidden", "8"}}});
  }
  return x;
}

TEST(InferShapeTest, AContradictionNamesNodeArgumentAndWhereShapesCameFrom) {
  EXPECT_THAT(InferShape(TwoLayers(), {{"data", {4, 6}}, {"fc2_weight", {8, 5}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("FullyConnected 'fc2'"), HasSubstr("input 'weight'"),
                             HasSubstr("(8, 5)"), HasSubstr("expected (8, 8)"),
                             HasSubstr("data 'fc1_output' (4, 8)"))));
}

TEST(InferShapeTest, WhatIsMissingIsNamed) {
  EXPECT_THAT(InferShape(TwoLayers(), {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("data ?"), HasSubstr("first node without a shape"),
                             HasSubstr("'fc1'"))));
  COOPER_ASSERT_OK_AND_ASSIGN(const InferredShapes shapes, InferShapePartial(TwoLayers(), {}));
  EXPECT_FALSE(shapes.outputs[0].rank_known());
}

// The rule of RNN sets the rank of its output before any shape is known.
TEST(InferShapeTest, ARankAloneIsMissingInformation) {
  const Symbol rnn = *Symbol::Create(
      "RNN", {.name = "rnn",
              .inputs = {Symbol::Variable("data")},
              .attrs = {{"mode", "lstm"}, {"state_size", "5"}, {"num_layers", "1"}}});
  const Symbol swapped =
      *Symbol::Create("SwapAxis", {.inputs = {rnn}, .attrs = {{"dim1", "0"}, {"dim2", "1"}}});
  const Symbol net = *Symbol::Create(
      "FullyConnected", {.name = "fc", .inputs = {swapped}, .attrs = {{"num_hidden", "8"}}});
  COOPER_EXPECT_OK(InferShapePartial(net, {}));
  EXPECT_THAT(InferShape(net, {}), StatusIs(absl::StatusCode::kFailedPrecondition,
                                            HasSubstr("unknown variables: data")));
  COOPER_ASSERT_OK_AND_ASSIGN(const InferredShapes shapes, InferShape(net, {{"data", {7, 2, 3}}}));
  EXPECT_EQ(shapes.outputs[0], PartialShape({2, 8}));
  EXPECT_THAT(InferShape(TwoLayers(), {{"data", {3, kUnknownDim}}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'fc1'")));
}

// In a graph with NumPy operators () is the shape of a scalar, in others it is unknown.
TEST(InferShapeTest, AScalarIsAShapeOfNumpyMode) {
  const Symbol scale = Symbol::Variable("scale", {.shape = PartialShape(Shape())});
  const OpArgs args = {.inputs = {Symbol::Variable("data"), scale}};
  COOPER_ASSERT_OK_AND_ASSIGN(
      const InferredShapes shapes,
      InferShape(*Symbol::Create("_npi_multiply", args), {{"data", {4, 6}}}));
  EXPECT_EQ(shapes.args[1].ToString(), "()");
  EXPECT_EQ(shapes.outputs[0].ToString(), "(4, 6)");
  EXPECT_FALSE(InferShape(*Symbol::Create("broadcast_mul", args), {{"data", {4, 6}}}).ok());
}

TEST(InferShapeTest, TheBatchSizeFlowsBack) {
  const Symbol sum =
      *Symbol::Create("elemwise_add", {.inputs = {TwoLayers(), Symbol::Variable("rest")}});
  COOPER_ASSERT_OK_AND_ASSIGN(const InferredShapes shapes,
                              InferShape(sum, {{"data", {kUnknownDim, 6}}, {"rest", {4, 8}}}));
  EXPECT_EQ(shapes.args[0], PartialShape({4, 6}));
}

// The negative extents must not reach gather_nd, whose rule indexes the shape of its data.
TEST(InferShapeTest, NegativeExtentsAreRefused) {
  const Symbol x = Symbol::Variable("x", {.shape = {3, 3}});
  const Symbol indices = *Symbol::Create(
      "Reshape", {.name = "r", .inputs = {x}, .attrs = {{"target_shape", "(-1099511627776, -1)"}}});
  const Symbol picked = *Symbol::Create("gather_nd", {.inputs = {x, indices}});
  EXPECT_THAT(InferShapePartial(picked, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("Reshape 'r'"),
                             HasSubstr("target_shape (-1099511627776, -1) has the extent "
                                       "-1099511627776"))));
  const Symbol pick = *Symbol::Create(
      "gather_nd", {.inputs = {Symbol::Variable("data"), Symbol::Variable("indices")}});
  const KnownShapes shapes = {{"data", {3, 3}}, {"indices", {-5, kUnknownDim}}};
  for (const auto& status :
       {InferShapePartial(pick, shapes).status(), InferShape(pick, shapes).status()}) {
    EXPECT_THAT(status,
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("variable 'indices' has shape (-5, ?), which has a negative "
                                   "extent")));
  }
}

TEST(InferShapeTest, ElementsThatCannotBeCountedAreRefused) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  const Symbol outer = *Symbol::Create(
      "broadcast_add", {.name = "outer", .inputs = {Symbol::Variable("a"), Symbol::Variable("b")}});
  EXPECT_THAT(InferShape(outer, {{"a", {kHuge, 1}}, {"b", {1, kHuge}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("'outer'"), HasSubstr("too many elements"))));
  EXPECT_THAT(InferShape(outer, {{"a", {kHuge, kHuge}}, {"b", {1, 1}}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("too many elements")));
}

}  // namespace
}  // namespace cooper
