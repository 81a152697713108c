// A loop over the first axis of its data, whose body is a graph. There are no kernels: executors
// replace a loop by the steps of its body once the extent of that axis is known
// (executor/passes/graph/expand_control_flow.h), and gradients are those of the steps. MXNet:
// src/operator/control_flow.cc.

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/inference/infer_type.h"
#include "symbol/ops/control/control_graph.h"
#include "symbol/ops/control/foreach_body.h"
#include "symbol/ops/control/foreach_param.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

// Returns the shape of a step of data of that shape. The step of a vector has shape (1,), as in
// MXNet, not ().
PartialShape StepShape(const PartialShape& data) {
  if (!data.rank_known()) return data;
  if (data.rank() <= 1) return PartialShape({1});
  return PartialShape(std::vector<int64_t>(data.dims().begin() + 1, data.dims().end()));
}

// Returns the number of steps, from any data input or stacked output; kUnknownDim if unknown.
int64_t LengthOf(const ShapeContext& c) {
  const auto& param = c.param<ForeachParam>();
  const auto first = [](const PartialShape& shape) {
    return shape.rank_known() && shape.rank() > 0 ? shape[0] : kUnknownDim;
  };
  for (int i = 0; i < param.num_data(); ++i) {
    if (first(c.input(i)) != kUnknownDim) return first(c.input(i));
  }
  for (int i = 0; i < param.num_out_data; ++i) {
    if (first(c.output(i)) != kUnknownDim) return first(c.output(i));
  }
  return kUnknownDim;
}

absl::Status SetDataShape(ShapeContext& c, int i, int64_t length, const PartialShape& step) {
  constexpr const char* kWhy = "the steps of the loop";
  const PartialShape& data = c.input(i);
  if (data.rank_known() && data.rank() == 1) return c.SetInput(i, PartialShape({length}), kWhy);
  // A step of shape (1,) may be one of data of rank 1 or 2.
  if (!data.rank_known() && step.rank_known() && step.rank() <= 1) return absl::OkStatus();
  return c.SetInput(i, StackedShape(length, step), kWhy);
}

absl::Status ForeachShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(CheckHasSubgraphs(c.call()));
  const ForeachBody body(c.call());
  const ForeachParam& param = body.param();
  const int states = param.num_data();  // the first of them among the inputs
  COOPER_ASSIGN_OR_RETURN(std::vector<PartialShape> shapes, VariableShapes(body.graph(), {}));
  const auto merge = [&](int entry, const PartialShape& shape) -> absl::Status {
    if (shapes[entry].Merge(shape)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("a step of the body has shape ",
                                                   shapes[entry].ToString(), ", expected ",
                                                   shape.ToString()));
  };
  for (int i = 0; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(
        merge(body.input_entry(i), i < param.num_data() ? StepShape(c.input(i)) : c.input(i)));
  }
  std::vector<int> outputs;  // entries of the body
  for (const NodeEntry& output : body.outputs()) outputs.push_back(body.graph().entry(output));
  for (int j = 0; j < param.num_out_data; ++j) {
    if (c.output(j).rank_known() && c.output(j).rank() > 1) {
      COOPER_RETURN_IF_ERROR(merge(outputs[j], StepShape(c.output(j))));
    }
  }
  // A state has one shape before, during and after the loop.
  for (int round = 0; round < 2; ++round) {
    for (int k = 0; k < param.num_states(); ++k) {
      const int after = outputs[param.num_out_data + k], before = body.input_entry(states + k);
      COOPER_RETURN_IF_ERROR(merge(before, c.output(param.num_out_data + k)));
      COOPER_RETURN_IF_ERROR(merge(before, shapes[after]));
      COOPER_RETURN_IF_ERROR(merge(after, shapes[before]));
    }
    COOPER_RETURN_IF_ERROR(AddContext(InferEntryShapes(body.graph(), shapes), "in the body"));
  }
  const int64_t length = LengthOf(c);
  for (int i = 0; i < c.num_inputs(); ++i) {
    const PartialShape& shape = shapes[body.input_entry(i)];
    COOPER_RETURN_IF_ERROR(i < param.num_data() ? SetDataShape(c, i, length, shape)
                                                : c.SetInput(i, shape, "used in the body"));
  }
  for (int j = 0; j < param.num_outputs; ++j) {
    const PartialShape& step = shapes[outputs[j]];
    COOPER_RETURN_IF_ERROR(
        c.SetOutput(j, j < param.num_out_data ? StackedShape(length, step) : step));
  }
  return absl::OkStatus();
}

absl::Status ForeachType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(CheckHasSubgraphs(c.call()));
  using Type = TypeContext::Type;
  const ForeachBody body(c.call());
  const ForeachParam& param = body.param();
  COOPER_ASSIGN_OR_RETURN(std::vector<Type> types, VariableTypes(body.graph(), {}));
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (c.input(i).has_value()) types[body.input_entry(i)] = c.input(i);
  }
  std::vector<int> outputs;
  for (const NodeEntry& output : body.outputs()) outputs.push_back(body.graph().entry(output));
  for (int j = 0; j < param.num_outputs; ++j) {
    if (!types[outputs[j]].has_value()) types[outputs[j]] = c.output(j);
  }
  for (int k = 0; k < param.num_states(); ++k) {
    Type& before = types[body.input_entry(param.num_data() + k)];
    Type& after = types[outputs[param.num_out_data + k]];
    if (!after.has_value()) after = before;
    if (!before.has_value()) before = after;
  }
  COOPER_RETURN_IF_ERROR(AddContext(InferEntryTypes(body.graph(), types), "in the body"));
  for (int i = 0; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, types[body.input_entry(i)]));
  }
  for (int j = 0; j < param.num_outputs; ++j) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(j, types[outputs[j]]));
  }
  // A state keeps its dtype from step to step.
  for (int k = 0; k < param.num_states(); ++k) {
    COOPER_RETURN_IF_ERROR(
        c.SetInput(param.num_data() + k, types[outputs[param.num_out_data + k]]));
  }
  return absl::OkStatus();
}

COOPER_REGISTER_OP(_foreach)
    .Describe(
        "Runs its body, a graph, once for each index of the first axis of its data, and hands "
        "states from step to step. Outputs: the body's values, stacked, then the last states.")
    .Param<ForeachParam>()
    .Inputs([](const OpCall& call) {
      return NumberedNames("data", call.param<ForeachParam>().num_args - 1);
    })
    .AuxInputs([](const OpCall& call) {
      std::vector<int> indices;
      if (call.subgraphs == nullptr) return indices;  // not yet read from the file
      const ForeachBody body(call);
      for (int i = 0; i + 1 < body.param().num_args; ++i) {
        if (body.graph().is_aux(body.variable(i))) indices.push_back(i);
      }
      return indices;
    })
    .Outputs([](const OpCall& call) {
      return NumberedNames("output", call.param<ForeachParam>().num_outputs, "output");
    })
    .Subgraphs(1, ForeachBody::Check)
    .Shape(ForeachShape)
    .Type(ForeachType);

}  // namespace
}  // namespace cooper
