#include "symbol/ops/elemwise/shape_rule_checker.h"

#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/schema/op.h"
#include "symbol/schema/param_text.h"
#include "symbol/schema/shape_context.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

PartialShape Parse(const std::string& text) {
  if (text == "?") return PartialShape();
  std::vector<std::string> elements;
  COOPER_EXPECT_OK(SplitParamTuple(text, &elements));
  absl::InlinedVector<int64_t, 5> dims;
  for (const std::string& element : elements) {
    dims.push_back(element == "?" ? kUnknownDim : std::stoll(element));
  }
  return PartialShape(dims);
}

}  // namespace

ShapeRuleCase Infers(std::string name, std::string op, AttrMap attrs,
                     std::vector<std::string> inputs, std::vector<std::string> expect_inputs,
                     std::string expect_output) {
  return {.name = std::move(name),
          .op = std::move(op),
          .attrs = std::move(attrs),
          .inputs = std::move(inputs),
          .output = "?",
          .expect_inputs = std::move(expect_inputs),
          .expect_output = std::move(expect_output),
          .error = ""};
}

ShapeRuleCase Refuses(std::string name, std::string op, AttrMap attrs,
                      std::vector<std::string> inputs, std::string error) {
  return {.name = std::move(name),
          .op = std::move(op),
          .attrs = std::move(attrs),
          .inputs = std::move(inputs),
          .output = "?",
          .expect_inputs = {},
          .expect_output = "",
          .error = std::move(error)};
}

void CheckShapeRule(const ShapeRuleCase& test) {
  SCOPED_TRACE(test.name);
  OpCall call{.op = FindOp(test.op).value(), .attrs = test.attrs};
  if (call.op->params() != nullptr) {
    auto params = call.op->params()->Parse(call.attrs);
    ASSERT_THAT(params, IsOk());
    call.params = *params;
  }
  std::vector<PartialShape> shapes;
  for (const std::string& input : test.inputs) shapes.push_back(Parse(input));
  const size_t num_inputs = shapes.size();
  shapes.push_back(Parse(test.output));
  shapes.resize(num_inputs + call.op->OutputNames(call).size());
  std::vector<PartialShape*> pointers;
  for (PartialShape& shape : shapes) pointers.push_back(&shape);
  const absl::Span<PartialShape* const> all(pointers);
  ShapeContext context(call, all.subspan(0, num_inputs), all.subspan(num_inputs), {});
  const absl::Status status = call.op->shape()(context);
  if (test.expect_output.empty()) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(test.error)));
    return;
  }
  ASSERT_THAT(status, IsOk());
  for (size_t i = 0; i < num_inputs; ++i) {
    EXPECT_EQ(shapes[i].ToString(), test.expect_inputs[i]) << "input " << i;
  }
  EXPECT_EQ(shapes[num_inputs].ToString(), test.expect_output);
}

}  // namespace cooper
