// Operators whose functions a program registers (symbol/schema/custom_op.h). MXNet:
// src/operator/custom/custom.cc.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/schema/custom_op.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using Names = OpSchema::Names;

// The names of the arrays of a call. A call without a registered operator, which only code that
// skips MakeOpCall makes, has those of the default.
struct CustomNames {
  Names arguments = {"data"}, outputs = {"output"}, auxiliary_states;
};

CustomNames NamesOf(const OpCall& call) {
  const auto op = FindCustomOp(call.attrs);
  if (!op.ok()) return {};
  return {(*op)->arguments(call.attrs), (*op)->outputs(call.attrs),
          (*op)->auxiliary_states(call.attrs)};
}

Names Join(Names a, const Names& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Names Prefixed(const char* prefix, const Names& names) {
  Names prefixed;
  for (const std::string& name : names) prefixed.push_back(absl::StrCat(prefix, name));
  return prefixed;
}

bool NeedsHeadGradient(const OpCall& call) {
  const auto op = FindCustomOp(call.attrs);
  return !op.ok() || (*op)->needs_head_gradient;
}

absl::Status CheckCustom(AttrMap& attrs) {
  COOPER_ASSIGN_OR_RETURN(const CustomOp* op, FindCustomOp(attrs));
  if (!op->arguments(attrs).empty() && !op->outputs(attrs).empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("custom operator '", attrs["op_type"], "' names no argument or no output"));
}

// Calls `infer` with what a context knows, and adds what it finds.
template <typename T, typename Context, typename Infer>
absl::Status InferCustom(Context& c, const Infer& infer) {
  const CustomNames names = NamesOf(c.call());
  CustomFacts<T> facts{.attrs = c.call().attrs,
                       .arguments = std::vector<T>(names.arguments.size()),
                       .outputs = std::vector<T>(names.outputs.size()),
                       .auxiliary_states = std::vector<T>(names.auxiliary_states.size())};
  const int num_arguments = static_cast<int>(names.arguments.size());
  const auto input = [&](int i) -> T& {
    return i < num_arguments ? facts.arguments[i] : facts.auxiliary_states[i - num_arguments];
  };
  for (int i = 0; i < c.num_inputs(); ++i) input(i) = c.input(i);
  for (int i = 0; i < c.num_outputs(); ++i) facts.outputs[i] = c.output(i);
  COOPER_RETURN_IF_ERROR(infer(facts));
  if (facts.arguments.size() != names.arguments.size() ||
      facts.outputs.size() != names.outputs.size() ||
      facts.auxiliary_states.size() != names.auxiliary_states.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "its function changed the number of arrays: ", facts.arguments.size(), " arguments, ",
        facts.outputs.size(), " outputs, ", facts.auxiliary_states.size(), " auxiliary states"));
  }
  for (int i = 0; i < c.num_inputs(); ++i) COOPER_RETURN_IF_ERROR(c.SetInput(i, input(i)));
  for (int i = 0; i < c.num_outputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(i, facts.outputs[i]));
  }
  return absl::OkStatus();
}

absl::Status CustomShape(ShapeContext& c) {
  COOPER_ASSIGN_OR_RETURN(const CustomOp* op, FindCustomOp(c.call().attrs));
  if (!c.input(0).IsFull()) return absl::OkStatus();
  return InferCustom<PartialShape>(c, [&](CustomShapes& shapes) {
    if (op->infer_shape) return op->infer_shape(shapes);
    for (PartialShape& output : shapes.outputs) output = shapes.arguments[0];
    return absl::OkStatus();
  });
}

absl::Status CustomType(TypeContext& c) {
  COOPER_ASSIGN_OR_RETURN(const CustomOp* op, FindCustomOp(c.call().attrs));
  if (!c.input(0).has_value()) return absl::OkStatus();
  return InferCustom<std::optional<DType>>(c, [&](CustomTypes& types) {
    if (op->infer_type) return op->infer_type(types);
    for (auto* list : {&types.arguments, &types.outputs, &types.auxiliary_states}) {
      for (auto& type : *list) type = types.arguments[0];
    }
    return absl::OkStatus();
  });
}

// Gradient rule: the user's function gets the head gradients, all inputs and all outputs.
absl::StatusOr<std::vector<NodeEntry>> CustomGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(const CustomOp* op, FindCustomOp(c.call().attrs));
  std::vector<NodeEntry> none(c.num_inputs());
  if (!op->backward) return none;
  std::vector<NodeEntry> inputs;
  for (int i = 0; i < c.num_outputs() && op->needs_head_gradient; ++i) {
    COOPER_ASSIGN_OR_RETURN(inputs.emplace_back(), c.head(i));
  }
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.input(i));
  for (int i = 0; i < c.num_outputs(); ++i) inputs.push_back(c.output(i));
  COOPER_ASSIGN_OR_RETURN(std::vector<NodeEntry> gradients,
                          c.Backward("_backward_Custom", std::move(inputs)));
  gradients.resize(c.num_inputs());
  return gradients;
}

COOPER_REGISTER_OP(Custom)
    .Alias("_npi_Custom")
    .Describe(
        "The operator that the program has registered as op_type (symbol/schema/custom_op.h). All "
        "attributes are handed to its functions.")
    .FixAttrs(CheckCustom)
    .Inputs([](const OpCall& call) {
      const CustomNames names = NamesOf(call);
      return Join(names.arguments, names.auxiliary_states);
    })
    .AuxInputs([](const OpCall& call) {
      const CustomNames names = NamesOf(call);
      std::vector<int> indices;
      for (size_t i = 0; i < names.auxiliary_states.size(); ++i) {
        indices.push_back(static_cast<int>(names.arguments.size() + i));
      }
      return indices;
    })
    .Outputs([](const OpCall& call) { return NamesOf(call).outputs; })
    .Shape(CustomShape)
    .Type(CustomType)
    .IgnoreHeadGradient([](const OpCall& call) { return !NeedsHeadGradient(call); })
    .Gradient(CustomGradient);

COOPER_REGISTER_OP(_backward_Custom)
    .Describe("Gradient of Custom.")
    .Inputs([](const OpCall& call) {
      const CustomNames names = NamesOf(call);
      Names inputs;
      if (NeedsHeadGradient(call)) inputs = Prefixed("ograd_", names.outputs);
      inputs = Join(std::move(inputs), Join(names.arguments, names.auxiliary_states));
      return Join(std::move(inputs), names.outputs);
    })
    .Outputs([](const OpCall& call) { return NamesOf(call).arguments; })
    .Shape(GradientShape)
    .Type(GradientType);

}  // namespace
}  // namespace cooper
