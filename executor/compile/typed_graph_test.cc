#include "executor/compile/typed_graph.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "executor/program/kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

COOPER_REGISTER_OP(_test_typed)
    .Describe("An operator with a kernel.")
    .Shape(SameShape)
    .Type(SameType);
COOPER_REGISTER_KERNEL(_test_typed, DeviceType::kCpu, kAnyDType,
                       [](const KernelContext&) { return absl::OkStatus(); });

// Returns data + _test_typed(w), whose second term depends on w alone.
Symbol Sum() {
  const auto of_w = Symbol::Create("_test_typed", {.inputs = {Symbol::Variable("w")}});
  const auto sum =
      Symbol::Create("elemwise_add", {.name = "sum", .inputs = {Symbol::Variable("data"), *of_w}});
  EXPECT_TRUE(sum.ok()) << sum.status();
  return *sum;
}

std::vector<std::string> NodeNames(const TypedGraph& typed) {
  std::vector<std::string> names;
  for (const Node* node : typed.graph->nodes()) names.push_back(node->name());
  return names;
}

TEST(TypedGraphTest, ShapesAndTypesFollowAndTheRestIsFloat32) {
  const CompileOptions options{.shapes = {{"data", {2, 3}}}};
  COOPER_ASSERT_OK_AND_ASSIGN(const TypedGraph typed, InferTypedGraph(Sum(), options));
  for (const PartialShape& shape : typed.shapes) EXPECT_EQ(shape, PartialShape({2, 3}));
  for (int i = 0; i < typed.graph->num_nodes(); ++i) {
    EXPECT_EQ(typed.types[typed.graph->first_entry(i)], DType::kFloat32);
    EXPECT_EQ(typed.ids.at(typed.graph->nodes()[i]), i);
  }
  EXPECT_THAT(typed.entry_of_written, ElementsAre(0, 1, 2, 3));
  const CompileOptions halves{.shapes = options.shapes, .types = {{"w", DType::kFloat16}}};
  COOPER_ASSERT_OK_AND_ASSIGN(const TypedGraph half, InferTypedGraph(Sum(), halves));
  for (const auto& type : half.types) EXPECT_EQ(type, DType::kFloat16);
}

TEST(TypedGraphTest, NamesAreTheGraphs) {
  const KnownShapes shapes = {{"data", {2, 3}}};
  const struct {
    CompileOptions options;
    const char* message;
  } cases[] = {
      {{.shapes = {{"date", {2, 3}}}},
       "a shape is given for 'date', which is not a variable of the graph; the names are data, w; "
       "did you "
       "mean 'data'?"},
      {{.shapes = shapes, .types = {{"v", DType::kInt8}}},
       "a type is given for 'v', which is not a variable of the graph"},
      {{.shapes = shapes, .grad_reqs = {{"sum", WriteReq::kWrite}}},
       "a gradient is requested for 'sum', which is not an argument of the graph"},
      {{.shapes = shapes, .constants = {"v"}},
       "'v' is to be a constant, but no argument or auxiliary state"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(InferTypedGraph(Sum(), c.options).status(),
                StatusIs(absl::StatusCode::kNotFound, HasSubstr(c.message)));
  }
}

TEST(TypedGraphTest, PassesRewriteWhatTheyAreAskedTo) {
  const Symbol sum = Sum();
  const CompileOptions constant{.shapes = {{"data", {2, 3}}}, .constants = {"w"}};
  CompileOptions without = constant, placed = constant, trained = constant;
  without.disabled_passes = {"constants"};
  placed.group2ctx = {{"group", Context::Cpu(1)}};
  trained.grad_reqs = {{"data", WriteReq::kWrite}};
  for (const CompileOptions& options : {without, placed, trained}) {
    COOPER_ASSERT_OK_AND_ASSIGN(TypedGraph typed, InferTypedGraph(sum, options));
    COOPER_ASSERT_OK(RunGraphPasses(options, typed));
    EXPECT_THAT(typed.rewrites, IsEmpty());
    EXPECT_EQ(typed.symbol.outputs(), sum.outputs());
  }
  COOPER_ASSERT_OK_AND_ASSIGN(TypedGraph typed, InferTypedGraph(sum, constant));
  COOPER_ASSERT_OK(RunGraphPasses(constant, typed));
  ASSERT_EQ(typed.rewrites.size(), 1u);
  ASSERT_EQ(typed.rewrites[0].folded.size(), 1u);
  EXPECT_EQ(typed.rewrites[0].folded[0].name, "_test_typed(w)");
  EXPECT_THAT(NodeNames(typed), ElementsAre("data", "_test_typed(w)", "sum"));
  // The entries of data, w, _test_typed and sum.
  EXPECT_THAT(typed.entry_of_written, ElementsAre(0, -1, 1, 2));
  for (const PartialShape& shape : typed.shapes) EXPECT_EQ(shape, PartialShape({2, 3}));
  EXPECT_EQ(typed.ids.at(typed.graph->nodes()[2]), 3) << "a copy has the number of its node";
}

}  // namespace
}  // namespace cooper
