// Tests that lowering rejects gradients whose dtype is wrong although the forward pass is valid,
// and that it does not request values that are read only for their shape.

#include "executor/compile/lower.h"

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "executor/program/kernel.h"
#include "executor/program/program.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

// An operator whose output has another dtype than its input, and whose gradient has the dtype of
// the output by mistake.
COOPER_REGISTER_OP(_test_count)
    .Describe("data in int64.")
    .Shape(SameShape)
    .Type([](TypeContext& c) { return c.SetOutput(0, DType::kInt64); })
    .Gradient([](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
      return std::vector<NodeEntry>{head};
    });

TEST(LowerTest, AGradientIsLikeItsArgument) {
  const auto counts = Symbol::Create("_test_count", {.inputs = {Symbol::Variable("data")}});
  COOPER_ASSERT_OK(counts.status());
  CompileOptions options;
  options.shapes["data"] = PartialShape{2, 3};
  options.types["data"] = DType::kBool;
  COOPER_EXPECT_OK(LowerToProgram(*counts, options).status());
  options.grad_reqs["data"] = WriteReq::kWrite;
  EXPECT_THAT(LowerToProgram(*counts, options).status().message(),
              ::testing::HasSubstr("the gradient of argument 'data' is int64 (2, 3), expected bool "
                                   "(2, 3) as the argument is"));
}

// Returns the write requests of all outputs of the instructions of `op`, in program order.
std::vector<WriteReq> ReqsOf(const Program& program, absl::string_view op) {
  std::vector<WriteReq> reqs;
  for (const Instruction& instruction : program.instructions) {
    if (instruction.node->op()->name() != op) continue;
    reqs.insert(reqs.end(), instruction.reqs.begin(), instruction.reqs.end());
  }
  return reqs;
}

// The gradient of the second half is zeros: the node reads the shape of that half, but no elements.
TEST(LowerTest, NothingIsWrittenThatIsReadForItsShapeAlone) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const Symbol halves,
      Symbol::Create("SliceChannel", {.inputs = {Symbol::Variable("data")},
                                      .attrs = {{"num_outputs", "2"}, {"axis", "0"}}}));
  CompileOptions options;
  options.shapes["data"] = PartialShape{2, 3};
  options.grad_reqs["data"] = WriteReq::kWrite;
  COOPER_ASSERT_OK_AND_ASSIGN(const LoweredProgram lowered, LowerToProgram(halves[0], options));
  EXPECT_THAT(ReqsOf(lowered.program, "SliceChannel"),
              ::testing::ElementsAre(WriteReq::kWrite, WriteReq::kNull));
  EXPECT_THAT(ReqsOf(lowered.program, "zeros_like"), ::testing::ElementsAre(WriteReq::kWrite));
}

TEST(LowerTest, ANodeThatIsThereForItsShapeRuns) {
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol doubled,
                              Symbol::Create("_mul_scalar", {.inputs = {Symbol::Variable("data")},
                                                             .attrs = {{"scalar", "2"}}}));
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol ones,
                              Symbol::Create("ones_like", {.inputs = {doubled}}));
  CompileOptions options;
  options.shapes["data"] = PartialShape{2, 3};
  COOPER_ASSERT_OK_AND_ASSIGN(const LoweredProgram lowered, LowerToProgram(ones, options));
  EXPECT_THAT(ReqsOf(lowered.program, "_mul_scalar"), ::testing::ElementsAre(WriteReq::kWrite));
}

}  // namespace
}  // namespace cooper
