// GPU kernels of _fc_softmax_output and its gradient. Rows are taken in blocks: what a product
// leaves in cache the softmax finds there.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/cuda/elements.h"
#include "executor/cuda/launch.h"
#include "executor/cuda/loss/fc_softmax_gradient.h"
#include "executor/cuda/loss/fc_softmax_rows.h"
#include "executor/cuda/reduce/set_reduce.h"
#include "executor/kernel.h"
#include "ndarray/cuda/device_scope.h"
#include "ndarray/status_macros.h"
#include "symbol/ops/loss/fc_softmax_output_param.h"

namespace cooper {
namespace {

enum Input { kData, kWeight, kBias };

// out = or += softmax of scores + bias. `out` may be `scores`.
template <typename T>
__global__ void BiasedSoftmax(SetPlan plan, const T* scores, const T* bias, T* out, bool add) {
  const SetThread thread(plan);
  thread.ForEachSet([&](int64_t set) {
    RowSoftmax<T> row{.scores = scores, .bias = bias};
    row.Reduce(thread, set);
    thread.ForEach(set,
                   [&](int64_t i, int64_t j) { StoreTo(out + i, row.Exp(i, j) / row.sum, add); });
  });
}

// grad = (probability - [j = label]) * scale
template <typename T>
__global__ void ScoreGradients(SetPlan plan, const T* probabilities, RowLabels<T> labels,
                               FcSoftmaxScale scale_of, T* grad) {
  const SetThread thread(plan);
  const T scale = scale_of.Get<T>();
  thread.ForEachSet([&](int64_t row) {
    if (row < 0) return;
    const bool ignores = labels.Ignores(row);
    const int64_t label = labels.At(row);
    thread.ForEach(row, [&](int64_t i, int64_t j) {
      grad[i] = ignores ? T{0} : (probabilities[i] - (j == label ? T{1} : T{0})) * scale;
    });
  });
}

// For kAdd a block's scores are made apart.
absl::StatusOr<Prepared> PrepareForward(const PrepareContext& c) {
  return PrepareFcSoftmaxGpu(c, c.outputs[0].dtype, c.outputs[0].shape[0], c.outputs[0].shape[1],
                             c.reqs[0] == WriteReq::kAdd, 0);
}

template <typename T>
absl::Status Forward(const KernelContext& c) {
  const int64_t rows = c.outputs[0].shape[0], classes = c.outputs[0].shape[1];
  const int64_t features = c.inputs[kData].shape[1];
  const T* bias = c.inputs.size() == 4 ? c.inputs[kBias].as<T>() : nullptr;
  const bool add = c.reqs[0] == WriteReq::kAdd;
  const FcSoftmaxGpuState& state = FcSoftmaxStateOf(c);
  for (int64_t begin = 0; begin < rows; begin += state.block) {
    const int64_t count = std::min(state.block, rows - begin);
    T* out = c.outputs[0].as<T>() + begin * classes;
    T* scores = add ? static_cast<T*>(c.workspace) : out;
    COOPER_RETURN_IF_ERROR(
        state.cublas->Gemm(StreamOf(c), DTypeOf<T>(), false, true, count, classes, features,
                           c.inputs[kData].as<T>() + begin * features, features,
                           c.inputs[kWeight].data, features, /*add=*/false, scores, classes));
    COOPER_RETURN_IF_ERROR(
        LaunchSets(c, PlanSets(count, classes, 1), BiasedSoftmax<T>, scores, bias, out, add));
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status Backward(const KernelContext& c) {
  using Arrays = FcSoftmaxGradientArrays;
  const FcSoftmaxGpuGradient<T> gradient(c);
  const int64_t classes = gradient.classes();
  const T* labels = c.inputs[Arrays::kLabel].as<T>();
  const T* output = c.inputs[Arrays::kProbability].as<T>();
  return gradient.Run([&](const auto& block, const FcSoftmaxScale& scale) {
    return LaunchSets(
        c, PlanSets(block.count, classes, 1), ScoreGradients<T>, output + block.begin * classes,
        RowLabels<T>(c.param<FcSoftmaxOutputParam>(), labels + block.begin), scale, block.scores);
  });
}

absl::Status FcSoftmaxOutputGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  return c.outputs[0].dtype == DType::kFloat64 ? Forward<double>(c) : Forward<float>(c);
}

absl::Status FcSoftmaxOutputBackwardGpu(const KernelContext& c) {
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  return c.inputs[0].dtype == DType::kFloat64 ? Backward<double>(c) : Backward<float>(c);
}

COOPER_REGISTER_KERNEL(_fc_softmax_output, DeviceType::kGpu, kFloat32Or64, FcSoftmaxOutputGpu,
                       PrepareForward);
COOPER_REGISTER_KERNEL(_backward_fc_softmax_output, DeviceType::kGpu, kFloat32Or64,
                       FcSoftmaxOutputBackwardGpu, FcSoftmaxGpuGradient<float>::Prepare);

}  // namespace
}  // namespace cooper
