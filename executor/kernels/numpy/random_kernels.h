#ifndef COOPER_EXECUTOR_KERNELS_NUMPY_RANDOM_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_NUMPY_RANDOM_KERNELS_H_

// Kernels of NumPy's random arrays, over the devices of
// executor/kernels/reduce/axis_reduction_kernels.h, for random.cc and .cu. The kernels of
// _random_uniform and _random_normal draw the numbers: those of the output if the distribution's
// parameters are numbers, else standard ones in the workspace, which are scaled by the inputs.

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/kernels/reduce/reduce_functions.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/host_device.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/random_param.h"
#include "symbol/ops/random/draw_param.h"
#include "symbol/schema/op.h"

namespace cooper {

// A number of [low, high) from one of [0, 1), and a normal one from a standard normal one. The
// scaled uniform number is rounded, so it may become `high`, unlike those of _random_uniform.
struct ScaledUniform : ReduceFunction<3> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C drawn, C low, C high) {
    return low + drawn * (high - low);
  }
};
struct ScaledNormal : ReduceFunction<3> {
  template <typename C>
  COOPER_HOST_DEVICE static C Apply(C drawn, C loc, C scale) {
    return loc + drawn * scale;
  }
};

// The kernels of one device D. Numbers depend on the node's random stream alone: equal seeds give
// equal numbers on every device and with any number of threads.
template <typename D>
struct NumpyRandomKernels {
  // The call of the operator that draws, with parameters made for it, and its kernel. Made once,
  // when the node is bound.
  struct State : KernelState {
    OpCall call;
    const Kernel* kernel = nullptr;
  };

  // Prepares an operator with the parameters of Names, for which operator `base` draws. If a
  // parameter of the distribution is an array, the workspace holds one standard number for each
  // element of the output. Errors: those of FindOp and FindKernel, if `base` is not linked.
  template <typename Names>
  static absl::StatusOr<Prepared> Prepare(const PrepareContext& c, const char* base) {
    using Distribution = typename Names::Distribution;
    const auto& param = c.param<NumpyRandomParam<Names>>();
    auto drawn = std::make_shared<RandomParam<Distribution>>();
    const bool by_numbers = param.num_inputs() == 0;
    if (by_numbers) {
      static_cast<Distribution&>(*drawn) = Distribution::Of(*param.first, *param.second);
    }
    auto state = std::make_unique<State>();
    COOPER_ASSIGN_OR_RETURN(state->call.op, FindOp(base));
    COOPER_ASSIGN_OR_RETURN(state->kernel, FindKernel(base, c.context.device_type));
    state->call.params = std::move(drawn);
    return Prepared{.state = std::move(state),
                    .workspace_bytes = by_numbers ? 0 : c.outputs[0].size_bytes()};
  }

  // Prepare the operators of one distribution, with and without the suffix _n.
  static absl::StatusOr<Prepared> PrepareUniform(const PrepareContext& c) {
    return Prepare<UniformNames>(c, "_random_uniform");
  }
  static absl::StatusOr<Prepared> PrepareNormal(const PrepareContext& c) {
    return Prepare<NormalNames>(c, "_random_normal");
  }

  // Draws numbers to `array` by the node's stream.
  static absl::Status Draw(const KernelContext& c, const ArrayView& array, WriteReq req) {
    const auto& state = *static_cast<const State*>(c.state);
    return state.kernel->run({.call = state.call,
                              .inputs = {},
                              .outputs = {&array, 1},
                              .reqs = {&req, 1},
                              .workspace = nullptr,
                              .state = nullptr,
                              .is_train = c.is_train,
                              .random = c.random,
                              .context = c.context,
                              .queue = c.queue});
  }

  // Draws numbers and scales them by F. A Kernel::RunFn. Errors: those of D::Broadcast.
  template <typename Names, typename F>
  static absl::Status Run(const KernelContext& c) {
    const ArrayView& out = c.outputs[0];
    if (c.reqs[0] == WriteReq::kNull || out.size() == 0) return absl::OkStatus();
    const auto& param = c.param<NumpyRandomParam<Names>>();
    if (param.num_inputs() == 0) return Draw(c, out, c.reqs[0]);
    ArrayView drawn = out;
    drawn.data = c.workspace;
    COOPER_RETURN_IF_ERROR(Draw(c, drawn, WriteReq::kWrite));
    ElemwiseOperand operands[3] = {OperandOf(drawn)};
    absl::Span<const int64_t> shapes[3] = {out.shape.dims()};
    size_t next = 0;
    for (int i : {1, 2}) {
      const std::optional<double>& number = i == 1 ? param.first : param.second;
      if (number.has_value()) {
        operands[i] = OperandOf(*number);
      } else {
        operands[i] = OperandOf(c.inputs[next]);
        shapes[i] = c.inputs[next++].shape.dims();
      }
    }
    return D::template Broadcast<F>(c, operands, shapes, out.shape.dims(), out, c.reqs[0]);
  }

  // Registers the kernels. Call it from a static initializer, once for each device. Inputs may have
  // any dtype.
  static bool Register(DeviceType device) {
    constexpr auto kUniform = Run<UniformNames, ScaledUniform>;
    constexpr auto kNormal = Run<NormalNames, ScaledNormal>;
    [[maybe_unused]] const KernelRegistrar kernels[] = {
        {"_npi_uniform", device, kAnyDType, kUniform, PrepareUniform},
        {"_npi_uniform_n", device, kAnyDType, kUniform, PrepareUniform},
        {"_npi_normal", device, kAnyDType, kNormal, PrepareNormal},
        {"_npi_normal_n", device, kAnyDType, kNormal, PrepareNormal},
    };
    return true;
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_NUMPY_RANDOM_KERNELS_H_
