// Kernels of _fc_softmax_label_probability and its gradient. In a training run the gradient's does
// all the work: it makes the scores of a block of rows, keeps the probability of each label, and
// uses the rest up. Nothing ever has the size of all rows times all classes, and each product is
// done once.

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "executor/cpu/loss/fc_softmax_blocks.h"
#include "executor/cpu/loss/fc_softmax_gradient.h"
#include "executor/cpu/loss/fc_softmax_rows.h"
#include "executor/cpu/nn/dispatch_float.h"
#include "executor/cpu/nn/softmax_row.h"
#include "executor/cpu/scratch_cursor.h"
#include "executor/kernel.h"
#include "ndarray/gemm.h"
#include "ndarray/parallel.h"
#include "symbol/ops/loss/fc_softmax_output_param.h"

namespace cooper {
namespace {

enum Input { kData, kWeight, kBias };  // the label is the last one

// A label outside of the classes counts as the nearest one, as in the metrics.
int64_t ClassOf(int64_t label, int64_t classes) {
  return std::clamp<int64_t>(label, 0, classes - 1);
}

// scores (rows, classes) = data (rows, features) times the weight (classes, features) transposed.
template <typename T>
void ScoresOf(const T* data, int64_t rows, const ArrayView& weight, T* scores) {
  const int64_t classes = weight.shape[0], features = weight.shape[1];
  Gemm(false, true, rows, classes, features, T(1), data, features, weight.as<T>(), features, T(0),
       scores, classes);
}

template <typename T>
void Forward(const KernelContext& c) {
  const auto& param = c.param<FcSoftmaxOutputParam>();
  const int64_t classes = c.inputs[kWeight].shape[0];
  const T* bias = c.inputs.size() == 4 ? c.inputs[kBias].as<T>() : nullptr;
  const bool add = c.reqs[0] == WriteReq::kAdd;
  T* out = c.outputs[0].as<T>();
  ScratchCursor cursor(c.workspace);
  const FcSoftmaxScratch<T> scratch(kFcSoftmaxLabelBlockBytes, param, c.inputs[kData],
                                    c.inputs[kWeight], cursor);
  const FcSoftmaxRows<T> rows(param, c.inputs[kData], c.inputs.back(), scratch);
  if (!add) std::fill_n(out, c.outputs[0].size(), std::numeric_limits<T>::quiet_NaN());
  rows.ForEachBlock([&](const auto& block) {
    ScoresOf(block.data, block.count, c.inputs[kWeight], scratch.scores);
    ParallelFor(block.count, FcSoftmaxRowGrain(classes), [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        T* row = scratch.scores + i * classes;
        BiasedSoftmaxRow(row, bias, classes, row);
        T& p = out[rows.RowAt(block.begin + i)];
        p = (add ? p : T(0)) + row[ClassOf(rows.LabelAt(block.begin + i), classes)];
      }
    });
  });
}

template <typename T>
void Backward(const KernelContext& c) {
  using Arrays = FcSoftmaxGradientArrays;
  const T* bias = c.inputs.size() > Arrays::kBias ? c.inputs[Arrays::kBias].as<T>() : nullptr;
  ScratchCursor cursor(c.workspace);
  const FcSoftmaxScratch<T> scratch(kFcSoftmaxLabelBlockBytes, c.param<FcSoftmaxOutputParam>(),
                                    c.inputs[Arrays::kData], c.inputs[Arrays::kWeight], cursor);
  const FcSoftmaxGradient<T> gradient(c, scratch);
  const int64_t classes = gradient.classes();
  const ArrayView& output = c.inputs[Arrays::kProbability];
  T* probabilities = output.as<T>();
  std::fill_n(probabilities, output.size(), std::numeric_limits<T>::quiet_NaN());
  gradient.Run([&](const auto& block, T* grad) {
    ScoresOf(block.data, block.count, c.inputs[Arrays::kWeight], grad);
    const T scale = gradient.scale();
    ParallelFor(block.count, FcSoftmaxRowGrain(classes), [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        T* row = grad + i * classes;
        BiasedSoftmaxRow(row, bias, classes, row);
        const int64_t label = gradient.rows().LabelAt(block.begin + i);
        probabilities[gradient.rows().RowAt(block.begin + i)] = row[ClassOf(label, classes)];
        if (label >= 0 && label < classes) row[label] -= T(1);
        if (scale == T(1)) continue;
        for (int64_t j = 0; j < classes; ++j) row[j] *= scale;
      }
    });
  });
}

int64_t ForwardWorkspace(const PrepareContext& c) {
  return FcSoftmaxScratchBytes(kFcSoftmaxLabelBlockBytes, c.param<FcSoftmaxOutputParam>(),
                               c.inputs[kData], c.inputs[kWeight]);
}

int64_t BackwardWorkspace(const PrepareContext& c) {
  return FcSoftmaxScratchBytes(kFcSoftmaxLabelBlockBytes, c.param<FcSoftmaxOutputParam>(),
                               c.inputs[FcSoftmaxGradientArrays::kData],
                               c.inputs[FcSoftmaxGradientArrays::kWeight]);
}

absl::Status LabelProbabilityCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return DispatchFloat32Or64("_fc_softmax_label_probability", c.inputs[kData].dtype,
                             [&](auto type) { Forward<typename decltype(type)::type>(c); });
}

absl::Status LabelProbabilityBackwardCpu(const KernelContext& c) {
  return DispatchFloat32Or64("_backward_fc_softmax_label_probability",
                             c.inputs[FcSoftmaxGradientArrays::kData].dtype,
                             [&](auto type) { Backward<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(_fc_softmax_label_probability, DeviceType::kCpu, LabelProbabilityCpu,
                       ForwardWorkspace);
COOPER_REGISTER_KERNEL(_backward_fc_softmax_label_probability, DeviceType::kCpu,
                       LabelProbabilityBackwardCpu, BackwardWorkspace);

}  // namespace
}  // namespace cooper
