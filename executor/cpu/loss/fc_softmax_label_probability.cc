// Kernels of _fc_softmax_label_probability and its gradient. In a training run the gradient's does
// all the work: it makes the scores of a block of rows, keeps the probability of each label, and
// uses the rest up. Nothing ever has the size of all rows times all classes, and each product is
// done once.

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "executor/cpu/loss/fc_softmax_blocks.h"
#include "executor/cpu/loss/fc_softmax_gradient.h"
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
struct ForwardScratch {
  ForwardScratch(int64_t rows, int64_t classes, int64_t features, ScratchCursor& cursor)
      : block(FcSoftmaxBlockRows(kFcSoftmaxLabelBlockBytes, rows,
                                 classes * static_cast<int64_t>(sizeof(T)))),
        scores(cursor.Take<T>(block * classes)),
        data(cursor.Take<T>(block * features)),
        active(cursor.Take<int64_t>(rows)) {}

  int64_t block;
  T* scores;
  T* data;
  int64_t* active;
};

template <typename T>
void Forward(const KernelContext& c) {
  const auto& param = c.param<FcSoftmaxOutputParam>();
  const int64_t rows = c.inputs[kData].shape[0], features = c.inputs[kData].shape[1];
  const int64_t classes = c.inputs[kWeight].shape[0];
  const T* label = c.inputs.back().as<T>();
  const T* bias = c.inputs.size() == 4 ? c.inputs[kBias].as<T>() : nullptr;
  T* out = c.outputs[0].as<T>();
  ScratchCursor cursor(c.workspace);
  const ForwardScratch<T> scratch(rows, classes, features, cursor);
  int64_t count = 0;
  for (int64_t i = 0; i < rows; ++i) {
    if (!param.use_ignore || !IsIgnoreLabel(param, label[i])) {
      scratch.active[count++] = i;
    } else if (c.reqs[0] == WriteReq::kWrite) {
      out[i] = std::numeric_limits<T>::quiet_NaN();
    }
  }
  for (int64_t begin = 0; begin < count; begin += scratch.block) {
    const int64_t size = std::min(scratch.block, count - begin);
    const T* data = c.inputs[kData].as<T>() + begin * features;
    if (count < rows) {
      for (int64_t i = 0; i < size; ++i) {
        std::copy_n(c.inputs[kData].as<T>() + scratch.active[begin + i] * features, features,
                    scratch.data + i * features);
      }
      data = scratch.data;
    }
    ScoresOf(data, size, c.inputs[kWeight], scratch.scores);
    ParallelFor(size, FcSoftmaxRowGrain(classes), [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        T* row = scratch.scores + i * classes;
        BiasedSoftmaxRow(row, bias, classes, row);
        const int64_t at = scratch.active[begin + i];
        const T p = row[ClassOf(static_cast<int64_t>(label[at]), classes)];
        out[at] = c.reqs[0] == WriteReq::kAdd ? out[at] + p : p;
      }
    });
  }
}

template <typename T>
void Backward(const KernelContext& c) {
  using Arrays = FcSoftmaxGradientArrays;
  const auto& param = c.param<FcSoftmaxOutputParam>();
  const ArrayView& probability = c.inputs[Arrays::kProbability];
  const T* bias = c.inputs.size() > Arrays::kBias ? c.inputs[Arrays::kBias].as<T>() : nullptr;
  const int64_t rows = c.inputs[Arrays::kData].shape[0];
  ScratchCursor cursor(c.workspace);
  const FcSoftmaxScratch<T> scratch(kFcSoftmaxLabelBlockBytes, rows,
                                    c.inputs[Arrays::kWeight].shape[0],
                                    c.inputs[Arrays::kData].shape[1], param.use_ignore, cursor);
  FcSoftmaxGradient<T> gradient(c, scratch);
  const int64_t classes = gradient.classes();
  T* probabilities = probability.as<T>();
  std::fill_n(probabilities, rows, std::numeric_limits<T>::quiet_NaN());
  gradient.Run([&](const auto& block, T* grad) {
    ScoresOf(block.data, block.count, c.inputs[Arrays::kWeight], grad);
    const T scale = gradient.scale();
    ParallelFor(block.count, FcSoftmaxRowGrain(classes), [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        T* row = grad + i * classes;
        BiasedSoftmaxRow(row, bias, classes, row);
        const int64_t label = gradient.LabelAt(block.begin + i);
        probabilities[gradient.RowAt(block.begin + i)] = row[ClassOf(label, classes)];
        if (label >= 0 && label < classes) row[label] -= T(1);
        if (scale == T(1)) continue;
        for (int64_t j = 0; j < classes; ++j) row[j] *= scale;
      }
    });
  });
}

int64_t ForwardWorkspace(const PrepareContext& c) {
  const Shape &data = c.inputs[kData].shape, &weight = c.inputs[kWeight].shape;
  int64_t bytes = 0;
  (void)DispatchFloat32Or64("", c.inputs[kData].dtype, [&](auto type) {
    ScratchCursor cursor(nullptr);
    ForwardScratch<typename decltype(type)::type>(data[0], weight[0], data[1], cursor);
    bytes = cursor.bytes();
  });
  return bytes;
}

int64_t BackwardWorkspace(const PrepareContext& c) {
  using Arrays = FcSoftmaxGradientArrays;
  const Shape& data = c.inputs[Arrays::kData].shape;
  const Shape& weight = c.inputs[Arrays::kWeight].shape;
  const bool skips = c.param<FcSoftmaxOutputParam>().use_ignore;
  int64_t bytes = 0;
  (void)DispatchFloat32Or64("", c.inputs[Arrays::kData].dtype, [&](auto type) {
    ScratchCursor cursor(nullptr);
    FcSoftmaxScratch<typename decltype(type)::type>(kFcSoftmaxLabelBlockBytes, data[0], weight[0],
                                                    data[1], skips, cursor);
    bytes = cursor.bytes();
  });
  return bytes;
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
