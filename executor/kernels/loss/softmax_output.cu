// GPU kernels of SoftmaxOutput and its gradient.
//
// The array is viewed as (outer, classes, inner), as on the CPU, and labels are (outer, inner).

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/loss/count_valid.h"
#include "executor/kernels/reducers/set_reduce.h"
#include "executor/kernels/softmax/softmax_sets.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/loss/softmax_output_param.h"

namespace cooper {
namespace {

SetPlan PlanFor(const KernelContext& c) {
  const auto& param = c.param<SoftmaxOutputParam>();
  const Shape& shape = c.outputs[0].shape;
  const int most = MaxThreadsFor(c.inputs[0].dtype, c.outputs[0].dtype);
  const int rank = shape.rank();
  if (param.multi_output) {
    return PlanSets(shape[0], shape[1], shape.Product(2, rank), most, kMaxHeld);
  }
  if (param.preserve_shape) {
    return PlanSets(shape.Product(0, rank - 1), shape[rank - 1], 1, most, kMaxHeld);
  }
  return PlanSets(shape[0], shape.Product(1, rank), 1, most, kMaxHeld);
}

// The factors that the gradient for an array of labels depends on.
struct GradientOptions {
  double scale;           // before the division by *divisor
  const double* divisor;  // null: 1
  double alpha;           // smoothing
  int64_t ignored;
  bool use_ignore, out_grad, add;
};

// Computes (output - target) * scale, times the output with out_grad. `grad` may be `output`.
template <typename T>
__global__ void __launch_bounds__(kThreadsHolding<ComputeType<T>, 0>,
                                  kBlocksHolding<ComputeType<T>, 0>)
    LabelGradient(SetPlan plan, const T* label, const T* output, GradientOptions o, T* grad) {
  using C = ComputeType<T>;
  const SetThread thread(plan);
  const C scale = static_cast<C>(o.divisor == nullptr ? o.scale : o.scale / *o.divisor);
  const C alpha = static_cast<C>(o.alpha);
  const C other = plan.n > 1 ? alpha / static_cast<C>(plan.n - 1) : C{0};
  thread.ForEachSet([&](int64_t set) {
    if (set < 0) return;
    const int64_t own = ConvertElement<int64_t>(label[set]);
    const bool ignored = o.use_ignore && own == o.ignored;
    const auto load = [&](int64_t i) { return ConvertElement<C>(output[i]); };
    thread.ForEachLoaded(set, load, [&](int64_t i, int64_t j, C y) {
      C g = 0;
      if (!ignored) {
        if (j == own) {
          g = (y - C{1} + alpha) * (o.out_grad ? y : C{1}) * scale;
        } else {
          g = (y - other) * scale * (o.out_grad ? y : C{1});
        }
      }
      StoreTo(grad + i, g, o.add);
    });
  });
}

// Handles labels of output's shape, which are probabilities. No label is ignored, and the gradient
// is not normalized.
template <typename T>
__global__ void ProbabilityGradient(int64_t n, const T* label, const T* output,
                                    ComputeType<T> scale, bool out_grad, T* grad, bool add) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    const C y = ConvertElement<C>(output[i]);
    const C g = (y - ConvertElement<C>(label[i])) * scale;
    StoreTo(grad + i, out_grad ? g * y : g, add);
  }
}

absl::Status SoftmaxOutputGpu(const KernelContext& c) {
  using enum SoftmaxOutputArrays::Input;
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const SetPlan plan = PlanFor(c);
  const TypedArray no_lengths = {nullptr, DType::kInt32};
  return LaunchSoftmax<SoftmaxForm::kSoftmax>(c, plan, c.inputs[kData], no_lengths, 1.0,
                                              c.outputs[0], c.reqs[0] == WriteReq::kAdd);
}

// The workspace holds the divisor of normalization "valid", which the device counts.
absl::StatusOr<Prepared> PrepareBackward(const PrepareContext& c) {
  const bool counts = c.param<SoftmaxOutputParam>().normalization == Normalization::kValid;
  return Prepared{.workspace_bytes = counts ? kCountValidBytes : 0};
}

template <typename T>
absl::Status Backward(const KernelContext& c) {
  using enum SoftmaxOutputGradientArrays::Input;
  const auto& param = c.param<SoftmaxOutputParam>();
  const T* label = c.inputs[kLabel].as<T>();
  const T* output = c.inputs[kOutput].as<T>();
  T* grad = c.outputs[0].as<T>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  if (c.inputs[kLabel].shape == c.inputs[kOutput].shape) {
    const int64_t n = c.outputs[0].size();
    return LaunchElements(c, n, ProbabilityGradient<T>, n, label, output,
                          static_cast<ComputeType<T>>(param.grad_scale), param.out_grad, grad, add);
  }
  const SetPlan plan = PlanFor(c);
  const int64_t num_labels = c.inputs[kLabel].size();
  GradientOptions o{.scale = param.grad_scale,
                    .divisor = nullptr,
                    .alpha = param.multi_output ? 0 : param.smooth_alpha,
                    .ignored = IntegerOf<int64_t>(param.ignore_label),
                    .use_ignore = param.use_ignore,
                    .out_grad = param.out_grad,
                    .add = add};
  if (param.normalization == Normalization::kValid) {
    auto* count = static_cast<double*>(c.workspace);
    COOPER_RETURN_IF_ERROR(LaunchCountValid(c, label, num_labels, o.ignored, count));
    o.divisor = count;
  } else {
    // Without multi_output the divisor of kBatch is the number of labels; with it, batch times
    // positions.
    double divisor = static_cast<double>(plan.inner);
    if (param.normalization == Normalization::kBatch) {
      divisor *= static_cast<double>(param.multi_output ? plan.outer : num_labels);
    }
    if (divisor != 0) o.scale /= divisor;
  }
  return LaunchSets(c, plan, LabelGradient<T>, label, output, o, grad);
}

absl::Status SoftmaxOutputBackwardGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return DispatchCudaFloat(c.outputs[0].dtype,
                           [&](auto type) { return Backward<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(SoftmaxOutput, DeviceType::kGpu, kCudaFloats, SoftmaxOutputGpu);
COOPER_REGISTER_KERNEL(_backward_SoftmaxOutput, DeviceType::kGpu, kCudaFloats,
                       SoftmaxOutputBackwardGpu, PrepareBackward);

}  // namespace
}  // namespace cooper
