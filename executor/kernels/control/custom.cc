// Kernels of Custom: they hand the arrays of a node to the functions of the program. There is none
// for GPUs; with BindOptions::fallback the executor copies the arrays to the CPU and back.

#include <cstdint>
#include <memory>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "executor/kernels/loops/convert.h"
#include "executor/program/kernel.h"
#include "executor/program/scratch_cursor.h"
#include "ndarray/base/status_macros.h"
#include "symbol/schema/custom_op.h"

namespace cooper {
namespace {

// Up to 16 arrays of up to five axes need no allocation.
using Arrays = absl::InlinedVector<CustomArray, 16>;

struct CustomState : KernelState {
  const CustomOp* op = nullptr;
  size_t arguments = 0, auxiliary_states = 0, outputs = 0;
};

// Returns the arrays of the outputs: their own memory where it is overwritten, otherwise scratch.
Arrays OutputsOf(absl::Span<const ArrayView> outputs, absl::Span<const WriteReq> reqs,
                 ScratchCursor& scratch) {
  Arrays arrays;
  for (size_t k = 0; k < outputs.size(); ++k) {
    const ArrayView& output = outputs[k];
    arrays.push_back({.data = reqs[k] == WriteReq::kWrite ? output.data
                                                          : scratch.Take<char>(output.size_bytes()),
                      .shape = output.shape,
                      .dtype = output.dtype});
  }
  return arrays;
}

absl::StatusOr<Prepared> PrepareCustom(const PrepareContext& c) {
  auto state = std::make_unique<CustomState>();
  COOPER_ASSIGN_OR_RETURN(state->op, FindCustomOp(c.call.attrs));
  state->arguments = state->op->arguments(c.call.attrs).size();
  state->auxiliary_states = state->op->auxiliary_states(c.call.attrs).size();
  state->outputs = state->op->outputs(c.call.attrs).size();
  ScratchCursor scratch(nullptr);
  OutputsOf(c.outputs, c.reqs, scratch);
  return Prepared{.state = std::move(state), .workspace_bytes = scratch.bytes()};
}

// Calls fn(outputs), then adds what was asked to be added.
template <typename Fn>
absl::Status RunCustom(const KernelContext& c, const Fn& fn) {
  ScratchCursor scratch(c.workspace);
  const Arrays outputs = OutputsOf(c.outputs, c.reqs, scratch);
  if (absl::Status status = fn(outputs); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat("op_type '", c.call.attrs.at("op_type"),
                                                    "': ", status.message()));
  }
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (c.reqs[k] != WriteReq::kAdd) continue;
    ConvertArray({.data = outputs[k].data, .shape = outputs[k].shape, .dtype = outputs[k].dtype},
                 c.outputs[k], WriteReq::kAdd);
  }
  return absl::OkStatus();
}

// The inputs of a node, taken in their order.
class InputCursor {
 public:
  explicit InputCursor(absl::Span<const ArrayView> inputs) {
    for (const ArrayView& input : inputs) {
      arrays_.push_back({.data = input.data, .shape = input.shape, .dtype = input.dtype});
    }
  }

  absl::Span<const CustomArray> Take(size_t count) {
    const auto taken = absl::MakeConstSpan(arrays_).subspan(next_, count);
    next_ += count;
    return taken;
  }

 private:
  Arrays arrays_;
  size_t next_ = 0;
};

absl::Status CustomCpu(const KernelContext& c) {
  const auto& state = *static_cast<const CustomState*>(c.state);
  InputCursor inputs(c.inputs);
  const auto arguments = inputs.Take(state.arguments);
  const auto auxiliary_states = inputs.Take(state.auxiliary_states);
  return RunCustom(c, [&](const Arrays& outputs) {
    return state.op->forward({.attrs = c.call.attrs,
                              .is_train = c.is_train,
                              .arguments = arguments,
                              .outputs = outputs,
                              .auxiliary_states = auxiliary_states});
  });
}

absl::Status CustomBackwardCpu(const KernelContext& c) {
  const auto& state = *static_cast<const CustomState*>(c.state);
  InputCursor inputs(c.inputs);
  const auto heads = inputs.Take(state.op->needs_head_gradient ? state.outputs : 0);
  const auto arguments = inputs.Take(state.arguments);
  const auto auxiliary_states = inputs.Take(state.auxiliary_states);
  const auto outputs = inputs.Take(state.outputs);
  return RunCustom(c, [&](const Arrays& gradients) {
    return state.op->backward({.attrs = c.call.attrs,
                               .head_gradients = heads,
                               .arguments = arguments,
                               .outputs = outputs,
                               .auxiliary_states = auxiliary_states,
                               .gradients = gradients});
  });
}

COOPER_REGISTER_KERNEL(Custom, DeviceType::kCpu, kAnyDType, CustomCpu, PrepareCustom);
COOPER_REGISTER_KERNEL(_backward_Custom, DeviceType::kCpu, kAnyDType, CustomBackwardCpu,
                       PrepareCustom);

}  // namespace
}  // namespace cooper
