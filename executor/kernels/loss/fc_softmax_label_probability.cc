// Kernels of _fc_softmax_label_probability and its gradient. In training the gradient kernel does
// all the work: it computes the scores of a block of rows, stores the probability of each label,
// and consumes the scores in the products of the gradients. Each thread keeps the same classes from
// the scores to the gradients. No array has the size of all rows times all classes, and each
// product is computed once.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loss/fc_softmax_blocks.h"
#include "executor/kernels/loss/fc_softmax_gradient.h"
#include "executor/kernels/loss/fc_softmax_rows.h"
#include "executor/kernels/loss/fc_softmax_slices.h"
#include "executor/kernels/softmax/softmax_row.h"
#include "executor/program/kernel.h"
#include "executor/program/scratch_cursor.h"
#include "ndarray/products/gemm.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/loss/fc_softmax_output_param.h"

namespace cooper {
namespace {

enum Input { kData, kWeight, kBias };  // the label is the last one

// Clamps a label to the classes, as the metrics do.
int64_t ClassOf(int64_t label, int64_t classes) {
  return std::clamp<int64_t>(label, 0, classes - 1);
}

// Computes the scores of a block of rows in `scratch` as exp(score - top), where top is the largest
// score of a row in a slice. Stores top and the sum over the slice's classes there too.
template <typename T>
void MakeScores(const typename FcSoftmaxRows<T>::Block& block, const ArrayView& weight,
                const T* bias, const FcSoftmaxScratch<T>& scratch) {
  const int64_t features = weight.shape[1];
  scratch.ForEachPart(block.count, [&](const FcSoftmaxSlice& slice, int64_t begin, int64_t end) {
    T* scores = scratch.ScoresOf(slice);
    T* top = scratch.top + slice.index * scratch.block;
    T* sum = scratch.sum + slice.index * scratch.block;
    const T* slice_bias = bias == nullptr ? nullptr : bias + slice.begin;
    Gemm(false, true, end - begin, slice.size(), features, T{1}, block.data + begin * features,
         features, weight.as<T>() + slice.begin * features, features, T{0},
         scores + begin * slice.stride, slice.stride);
    ParallelForPlain(end - begin, RowGrain(slice.size()), [&](int64_t from, int64_t to) {
      for (int64_t i = begin + from; i < begin + to; ++i) {
        T* row = scores + i * slice.stride;
        const ExpRowSums<T> sums = BiasedExpRow(row, slice_bias, slice.size(), row);
        top[i] = sums.top;
        sum[i] = sums.sum;
      }
    });
  });
}

// Returns the factor that turns the values MakeScores stored for a slice's row into probabilities
// among all classes.
template <typename T>
T ToProbability(const FcSoftmaxScratch<T>& scratch, int64_t slice, int64_t row) {
  const auto at = [&](int64_t index) { return index * scratch.block + row; };
  T top = scratch.top[at(0)];
  for (int64_t i = 1; i < scratch.slices.count(); ++i) top = std::max(top, scratch.top[at(i)]);
  T sum = 0;
  for (int64_t i = 0; i < scratch.slices.count(); ++i) {
    sum += scratch.sum[at(i)] * std::exp(scratch.top[at(i)] - top);
  }
  return std::exp(scratch.top[at(slice)] - top) / sum;
}

template <typename T>
void Forward(const KernelContext& c) {
  const auto& param = c.param<FcSoftmaxOutputParam>();
  const int64_t classes = c.inputs[kWeight].shape[0];
  const T* bias = c.inputs.size() == 4 ? c.inputs[kBias].as<T>() : nullptr;
  const bool add = c.reqs[0] == WriteReq::kAdd;
  T* out = c.outputs[0].as<T>();
  ScratchCursor cursor(c.workspace);
  const FcSoftmaxScratch<T> scratch({.bytes = kFcSoftmaxLabelBlockBytes}, param, c.inputs[kData],
                                    c.inputs[kWeight], FcSoftmaxSlicesOf(c), cursor);
  const FcSoftmaxRows<T> rows(param, c.inputs[kData], c.inputs.back(), scratch);
  if (!add) std::fill_n(out, c.outputs[0].size(), std::numeric_limits<T>::quiet_NaN());
  rows.ForEachBlock([&](const auto& block) {
    MakeScores(block, c.inputs[kWeight], bias, scratch);
    for (int64_t i = 0; i < block.count; ++i) {
      const int64_t label = ClassOf(rows.LabelAt(block.begin + i), classes);
      const FcSoftmaxSlice slice = scratch.slices.Of(label);
      const T score = scratch.ScoresOf(slice)[i * slice.stride + label - slice.begin];
      T& p = out[rows.RowAt(block.begin + i)];
      p = (add ? p : T{0}) + score * ToProbability(scratch, slice.index, i);
    }
  });
}

template <typename T>
void Backward(const KernelContext& c) {
  using Arrays = FcSoftmaxGradientArrays;
  const T* bias = c.inputs.size() > Arrays::kBias ? c.inputs[Arrays::kBias].as<T>() : nullptr;
  ScratchCursor cursor(c.workspace);
  const FcSoftmaxScratch<T> scratch(FcSoftmaxGradientBlock(kFcSoftmaxLabelBlockBytes, c),
                                    c.param<FcSoftmaxOutputParam>(), c.inputs[Arrays::kData],
                                    c.inputs[Arrays::kWeight], FcSoftmaxSlicesOf(c), cursor);
  const FcSoftmaxGradient<T> gradient(c, scratch);
  const FcSoftmaxRows<T>& rows = gradient.rows();
  const T scale = gradient.scale();
  const ArrayView& output = c.inputs[Arrays::kProbability];
  T* probabilities = output.as<T>();
  std::fill_n(probabilities, output.size(), std::numeric_limits<T>::quiet_NaN());
  gradient.Run(
      [&](const auto& block) { MakeScores(block, c.inputs[Arrays::kWeight], bias, scratch); },
      [&](const auto& block, const FcSoftmaxSlice& slice, int64_t begin, int64_t end, T* grad) {
        ParallelFor(end - begin, RowGrain(slice.size()), [&](int64_t from, int64_t to) {
          for (int64_t i = begin + from; i < begin + to; ++i) {
            T* row = grad + i * slice.stride;
            const T factor = ToProbability(scratch, slice.index, i);
            const int64_t label = rows.LabelAt(block.begin + i);
            if (const int64_t known = ClassOf(label, gradient.classes()); slice.Has(known)) {
              probabilities[rows.RowAt(block.begin + i)] = row[known - slice.begin] * factor;
            }
            const T to_gradient = factor * scale;
            for (int64_t j = 0; j < slice.size(); ++j) row[j] *= to_gradient;
            if (slice.Has(label)) row[label - slice.begin] -= scale;
          }
        });
      });
}

absl::StatusOr<Prepared> PrepareForward(const PrepareContext& c) {
  return PrepareFcSoftmax(
      c.inputs[kWeight],
      FcSoftmaxScratchBytes({.bytes = kFcSoftmaxLabelBlockBytes}, c.param<FcSoftmaxOutputParam>(),
                            c.inputs[kData], c.inputs[kWeight]));
}

absl::StatusOr<Prepared> PrepareBackward(const PrepareContext& c) {
  const ArrayView& weight = c.inputs[FcSoftmaxGradientArrays::kWeight];
  return PrepareFcSoftmax(
      weight, FcSoftmaxScratchBytes(FcSoftmaxGradientBlock(kFcSoftmaxLabelBlockBytes, c),
                                    c.param<FcSoftmaxOutputParam>(),
                                    c.inputs[FcSoftmaxGradientArrays::kData], weight));
}

absl::Status LabelProbabilityCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return DispatchFloat32Or64(c.inputs[kData].dtype,
                             [&](auto type) { Forward<typename decltype(type)::type>(c); });
}

absl::Status LabelProbabilityBackwardCpu(const KernelContext& c) {
  return DispatchFloat32Or64(c.inputs[FcSoftmaxGradientArrays::kData].dtype,
                             [&](auto type) { Backward<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(_fc_softmax_label_probability, DeviceType::kCpu, kFloat32Or64,
                       LabelProbabilityCpu, PrepareForward);
COOPER_REGISTER_KERNEL(_backward_fc_softmax_label_probability, DeviceType::kCpu, kFloat32Or64,
                       LabelProbabilityBackwardCpu, PrepareBackward);

}  // namespace
}  // namespace cooper
