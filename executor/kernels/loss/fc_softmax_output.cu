// GPU kernels of _fc_softmax_output and its gradient. They process rows in blocks, so that the
// softmax finds the product's result in the cache.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/block_limit.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loss/fc_softmax_gradient_cuda.h"
#include "executor/kernels/loss/fc_softmax_rows_cuda.h"
#include "executor/kernels/reducers/set_reduce.h"
#include "executor/kernels/reducers/set_values.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/device_scope.h"
#include "symbol/ops/loss/fc_softmax_output_param.h"

namespace cooper {
namespace {

enum Input { kData, kWeight, kBias };

// Writes or adds the softmax of scores + bias to out, which may be `scores`.
template <int kHeld, typename T>
__global__ void __launch_bounds__(kThreadsHolding<T, kHeld>, kBlocksHolding<T, kHeld>)
    BiasedSoftmax(SetPlan plan, const T* scores, const T* bias, T* out, bool add) {
  const SetThread thread(plan);
  thread.ForEachSet([&](int64_t set) {
    constexpr int kHere = kHeldHere<kHeld>;
    // If values are held in registers the bias is added later: both would not fit at once.
    const bool adds_at_once = kHere == 0 && bias != nullptr;
    const int64_t begin = set * plan.n;
    auto values = ValuesOf<kHeld>(thread, set, [&](int64_t i) {
      return adds_at_once ? scores[i] + bias[i - begin] : scores[i];
    });
    if constexpr (kHere > 0) {
      if (bias != nullptr) values.Replace([&](int64_t j, T x) { return x + bias[j]; });
    }
    T top = std::numeric_limits<T>::lowest();
    values.ForEach([&](int64_t, int64_t, T x) {
      if (x > top) top = x;
    });
    top = thread.Max(top);
    if constexpr (kHere > 0) {
      const T sum = values.template ReplaceAndSum<T>([&](int64_t, T x) { return exp(x - top); });
      values.ForEach([&](int64_t i, int64_t, T e) { StoreTo(out + i, e / sum, add); });
    } else {
      const T sum = values.template Sum<T>([&](int64_t, T x) { return exp(x - top); });
      values.ForEach([&](int64_t i, int64_t, T x) { StoreTo(out + i, exp(x - top) / sum, add); });
    }
  });
}

// Launches BiasedSoftmax, which keeps a row in its threads' registers where it fits.
template <typename T>
absl::Status LaunchBiasedSoftmax(const KernelContext& c, int64_t rows, int64_t classes,
                                 const T* scores, const T* bias, T* out, bool add) {
  const SetPlan plan = PlanSets(rows, classes, 1, kThreadsHolding<T, 0>, kMaxHeld);
  return DispatchHeld<T, kMaxHeld>(plan, [&](auto held) {
    return LaunchSets(c, plan, BiasedSoftmax<decltype(held)::value, T>, scores, bias, out, add);
  });
}

// Computes grad = (probability - [j = label]) * scale.
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

// Computes the gradients that ScoreGradients computes, and writes or adds their sums over all rows
// to `sums`. A block has as many columns as a warp has lanes, and its warps share the rows. Rows
// are counted from the start of `labels`.
constexpr int kColumns = 32, kRowsAtOnce = 16;

template <typename T>
__global__ void ScoreGradientsAndSums(int64_t rows, int64_t classes, const T* probabilities,
                                      RowLabels<T> labels, FcSoftmaxScale scale_of, T* grad,
                                      T* sums, bool add) {
  __shared__ T partial[kRowsAtOnce][kColumns];
  const int lane = static_cast<int>(threadIdx.x) % kColumns;
  const int first = static_cast<int>(threadIdx.x) / kColumns;
  const T scale = scale_of.Get<T>();
  for (int64_t begin = blockIdx.x * int64_t{kColumns}; begin < classes;
       begin += gridDim.x * int64_t{kColumns}) {
    const int64_t column = begin + lane;
    T sum = 0;
    if (column < classes) {
#pragma unroll 4
      for (int64_t row = first; row < rows; row += kRowsAtOnce) {
        const int64_t i = row * classes + column;
        const bool ignores = labels.Ignores(row);
        const T known = column == labels.At(row) ? T{1} : T{0};
        // Loads with __ldcs, because probabilities are not read again in this pass and should not
        // evict the gradients from the cache.
        const T gradient = ignores ? T{0} : (__ldcs(probabilities + i) - known) * scale;
        grad[i] = gradient;
        sum += gradient;
      }
    }
    partial[first][lane] = sum;
    __syncthreads();
    if (first == 0 && column < classes) {
      for (int k = 1; k < kRowsAtOnce; ++k) sum += partial[k][lane];
      StoreTo(sums + column, sum, add);
    }
    __syncthreads();  // until all threads have read the shared sums
  }
}

// Prepares the forward kernel. With kAdd a block's scores are computed in the workspace.
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
    COOPER_RETURN_IF_ERROR(LaunchBiasedSoftmax(c, count, classes, scores, bias, out, add));
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status Backward(const KernelContext& c) {
  using Arrays = FcSoftmaxGradientArrays;
  const bool makes_sums = c.inputs[Arrays::kWeight].shape[0] >= FcSoftmaxGpuManyClasses();
  const FcSoftmaxGpuGradient<T> gradient(c, makes_sums);
  const int64_t classes = gradient.classes();
  const T* output = c.inputs[Arrays::kProbability].as<T>();
  return gradient.Run([&](const auto& block, const FcSoftmaxScale& scale) {
    const T* probabilities = output + block.begin * classes;
    const RowLabels<T> labels(c.param<FcSoftmaxOutputParam>(),
                              c.inputs[Arrays::kLabel].as<T>() + block.begin);
    if (block.sums == nullptr) {
      return LaunchSets(c, PlanSets(block.count, classes, 1), ScoreGradients<T>, probabilities,
                        labels, scale, block.scores);
    }
    const dim3 grid(BlocksFor((classes + kColumns - 1) / kColumns, 1 << 20));
    return Launch(c, grid, dim3(kColumns * kRowsAtOnce), ScoreGradientsAndSums<T>, block.count,
                  classes, probabilities, labels, scale, block.scores, block.sums,
                  gradient.Adds(block, Arrays::kBiasGradient));
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
