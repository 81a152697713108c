// What lowering refuses, though shapes and dtypes of the forward pass are right.

#include "executor/compile/lower.h"

#include <vector>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/dtype.h"
#include "ndarray/status_macros.h"
#include "ndarray/status_matchers.h"
#include "symbol/gradient_context.h"
#include "symbol/op.h"
#include "symbol/shape_context.h"
#include "symbol/symbol.h"
#include "symbol/type_context.h"

namespace cooper {
namespace {

// Forgets that the gradient of its input has another dtype than its output's.
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

}  // namespace
}  // namespace cooper
