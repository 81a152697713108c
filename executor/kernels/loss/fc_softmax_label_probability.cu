// GPU kernels of _fc_softmax_label_probability and its gradient. In training the gradient kernel
// does all the work: it computes the scores of a block of rows, stores the probability of each
// label, and consumes the scores in the products of the gradients. No array has the size of all
// rows times all classes, and each product is computed once.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loss/fc_softmax_gradient_cuda.h"
#include "executor/kernels/loss/fc_softmax_rows_cuda.h"
#include "executor/kernels/reducers/set_reduce.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/device_scope.h"
#include "symbol/ops/loss/fc_softmax_output_param.h"

namespace cooper {
namespace {

enum Input { kData, kWeight, kBias };  // the label is the last one

// Clamps a label to the classes, as the metrics do.
__device__ int64_t ClassOf(int64_t label, int64_t classes) {
  return label < 0 ? 0 : label < classes ? label : classes - 1;
}

// Writes or adds the probability of each label to out (rows,). Ignored rows get NaN.
template <typename T>
__global__ void LabelProbabilities(SetPlan plan, const T* scores, const T* bias,
                                   RowLabels<T> labels, T* out, bool add) {
  const SetThread thread(plan);
  thread.ForEachSet([&](int64_t set) {
    const bool ignores = set >= 0 && labels.Ignores(set);
    RowSoftmax<T> row{.scores = scores, .bias = bias};
    row.Reduce(thread, ignores ? -1 : set);
    if (set < 0 || !thread.IsFirst()) return;
    if (ignores) {
      if (!add) out[set] = std::numeric_limits<T>::quiet_NaN();
      return;
    }
    const int64_t known = ClassOf(labels.At(set), plan.n);
    StoreTo(out + set, row.Exp(set * plan.n + known, known) / row.sum, add);
  });
}

// Turns scores into their gradients, (probability - [j = label]) * scale, and writes the label's
// probability.
template <typename T>
__global__ void ScoreGradients(SetPlan plan, T* scores, const T* bias, RowLabels<T> labels,
                               FcSoftmaxScale scale_of, T* probabilities) {
  const SetThread thread(plan);
  const T scale = scale_of.Get<T>();
  thread.ForEachSet([&](int64_t set) {
    const bool ignores = set >= 0 && labels.Ignores(set);
    RowSoftmax<T> row{.scores = scores, .bias = bias};
    row.Reduce(thread, ignores ? -1 : set);
    if (set < 0) return;
    if (ignores) {
      thread.ForEach(set, [&](int64_t i, int64_t) { scores[i] = T{0}; });
      if (thread.IsFirst()) probabilities[set] = std::numeric_limits<T>::quiet_NaN();
      return;
    }
    const int64_t label = labels.At(set);
    const int64_t known = ClassOf(label, plan.n);
    thread.ForEach(set, [&](int64_t i, int64_t j) {
      const T probability = row.Exp(i, j) / row.sum;
      if (j == known) probabilities[set] = probability;
      scores[i] = (probability - (j == label ? T{1} : T{0})) * scale;
    });
  });
}

// Computes scores (count, classes) = data (count, features) * weight^T.
template <typename T>
absl::Status MakeScores(const KernelContext& c, const T* data, int64_t count,
                        const ArrayView& weight, T* scores) {
  const int64_t classes = weight.shape[0], features = weight.shape[1];
  return FcSoftmaxStateOf(c).cublas->Gemm(StreamOf(c), DTypeOf<T>(), false, true, count, classes,
                                          features, data, features, weight.data, features,
                                          /*add=*/false, scores, classes);
}

absl::StatusOr<Prepared> PrepareForward(const PrepareContext& c) {
  return PrepareFcSoftmaxGpu(c, c.inputs[kData].dtype, c.inputs[kData].shape[0],
                             c.inputs[kWeight].shape[0], /*has_scores=*/true, 0);
}

template <typename T>
absl::Status Forward(const KernelContext& c) {
  const int64_t rows = c.inputs[kData].shape[0], features = c.inputs[kData].shape[1];
  const int64_t classes = c.inputs[kWeight].shape[0];
  const T* bias = c.inputs.size() == 4 ? c.inputs[kBias].as<T>() : nullptr;
  T* scores = static_cast<T*>(c.workspace);
  const int64_t step = FcSoftmaxStateOf(c).block;
  for (int64_t begin = 0; begin < rows; begin += step) {
    const int64_t count = std::min(step, rows - begin);
    COOPER_RETURN_IF_ERROR(MakeScores(c, c.inputs[kData].as<T>() + begin * features, count,
                                      c.inputs[kWeight], scores));
    COOPER_RETURN_IF_ERROR(
        LaunchSets(c, PlanSets(count, classes, 1), LabelProbabilities<T>, scores, bias,
                   RowLabels<T>(c.param<FcSoftmaxOutputParam>(), c.inputs.back().as<T>() + begin),
                   c.outputs[0].as<T>() + begin, c.reqs[0] == WriteReq::kAdd));
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status Backward(const KernelContext& c) {
  using Arrays = FcSoftmaxGradientArrays;
  const FcSoftmaxGpuGradient<T> gradient(c, /*makes_sums=*/false);
  const T* bias = c.inputs.size() > Arrays::kBias ? c.inputs[Arrays::kBias].as<T>() : nullptr;
  const T* labels = c.inputs[Arrays::kLabel].as<T>();
  T* probabilities = c.inputs[Arrays::kProbability].as<T>();
  return gradient.Run([&](const auto& block, const FcSoftmaxScale& scale) -> absl::Status {
    COOPER_RETURN_IF_ERROR(
        MakeScores(c, gradient.data(block), block.count, c.inputs[Arrays::kWeight], block.scores));
    return LaunchSets(c, PlanSets(block.count, gradient.classes(), 1), ScoreGradients<T>,
                      block.scores, bias,
                      RowLabels<T>(c.param<FcSoftmaxOutputParam>(), labels + block.begin), scale,
                      probabilities + block.begin);
  });
}

absl::Status LabelProbabilityGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  return c.outputs[0].dtype == DType::kFloat64 ? Forward<double>(c) : Forward<float>(c);
}

absl::Status LabelProbabilityBackwardGpu(const KernelContext& c) {
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  return c.inputs[0].dtype == DType::kFloat64 ? Backward<double>(c) : Backward<float>(c);
}

COOPER_REGISTER_KERNEL(_fc_softmax_label_probability, DeviceType::kGpu, kFloat32Or64,
                       LabelProbabilityGpu, PrepareForward);
COOPER_REGISTER_KERNEL(_backward_fc_softmax_label_probability, DeviceType::kGpu, kFloat32Or64,
                       LabelProbabilityBackwardGpu, FcSoftmaxGpuGradient<float>::Prepare);

}  // namespace
}  // namespace cooper
