// Kernels of _fc_softmax_output and its gradient. They process rows in blocks, so that the softmax
// finds the product's result in the cache.

#include <algorithm>
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

enum Input { kData, kWeight, kBias };

int64_t ForwardRows(const ArrayView& output) {
  return FcSoftmaxBlockRows({.bytes = kFcSoftmaxForwardBlockBytes}, output.shape[0],
                            output.shape[1] * SizeOf(output.dtype));
}

// Prepares the forward kernel. With kAdd a block is computed in the workspace and then added to the
// output.
absl::StatusOr<Prepared> PrepareForward(const PrepareContext& c) {
  if (c.reqs[0] != WriteReq::kAdd) return Prepared{};
  return Prepared{.workspace_bytes = ForwardRows(c.outputs[0]) * c.outputs[0].shape[1] *
                                     SizeOf(c.outputs[0].dtype)};
}

template <typename T>
void Forward(const KernelContext& c, bool transposed) {
  const int64_t rows = c.outputs[0].shape[0], classes = c.outputs[0].shape[1];
  const int64_t features = c.inputs[kData].shape[1];
  const T* bias = c.inputs.size() == 4 ? c.inputs[kBias].as<T>() : nullptr;
  const bool add = c.reqs[0] == WriteReq::kAdd;
  const int64_t block = ForwardRows(c.outputs[0]);
  for (int64_t begin = 0; begin < rows; begin += block) {
    const int64_t count = std::min(block, rows - begin);
    T* out = c.outputs[0].as<T>() + begin * classes;
    T* scores = add ? static_cast<T*>(c.workspace) : out;
    Gemm(false, !transposed, count, classes, features, T{1},
         c.inputs[kData].as<T>() + begin * features, features, c.inputs[kWeight].as<T>(),
         transposed ? classes : features, T{0}, scores, classes);
    ParallelFor(count, RowGrain(classes), [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        T* row = scores + i * classes;
        BiasedSoftmaxRow(row, bias, classes, row);
        if (!add) continue;
        for (int64_t j = 0; j < classes; ++j) out[i * classes + j] += row[j];
      }
    });
  }
}

template <typename T>
void Backward(const KernelContext& c) {
  using Arrays = FcSoftmaxGradientArrays;
  ScratchCursor cursor(c.workspace);
  const FcSoftmaxScratch<T> scratch(FcSoftmaxGradientBlock(kFcSoftmaxBackwardBlockBytes, c),
                                    c.param<FcSoftmaxOutputParam>(), c.inputs[Arrays::kData],
                                    c.inputs[Arrays::kWeight], FcSoftmaxSlicesOf(c), cursor);
  const FcSoftmaxGradient<T> gradient(c, scratch);
  const T* output = c.inputs[Arrays::kProbability].as<T>();
  const T scale = gradient.scale();
  // (probability - [j = label]) * scale
  gradient.Run(
      [](const auto&) {},
      [&](const auto& block, const FcSoftmaxSlice& slice, int64_t begin, int64_t end, T* grad) {
        ParallelFor(end - begin, RowGrain(slice.size()), [&](int64_t from, int64_t to) {
          for (int64_t i = begin + from; i < begin + to; ++i) {
            const int64_t place = block.begin + i;
            const T* in = output + gradient.rows().RowAt(place) * gradient.classes() + slice.begin;
            T* out = grad + i * slice.stride;
            for (int64_t j = 0; j < slice.size(); ++j) out[j] = in[j] * scale;
            const int64_t label = gradient.rows().LabelAt(place);
            if (slice.Has(label))
              out[label - slice.begin] = (in[label - slice.begin] - T{1}) * scale;
          }
        });
      });
}

absl::StatusOr<Prepared> PrepareBackward(const PrepareContext& c) {
  const ArrayView& weight = c.inputs[FcSoftmaxGradientArrays::kWeight];
  return PrepareFcSoftmax(
      weight, FcSoftmaxScratchBytes(FcSoftmaxGradientBlock(kFcSoftmaxBackwardBlockBytes, c),
                                    c.param<FcSoftmaxOutputParam>(),
                                    c.inputs[FcSoftmaxGradientArrays::kData], weight));
}

template <bool kTransposedWeight>
absl::Status FcSoftmaxOutputCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype, [&](auto type) {
    Forward<typename decltype(type)::type>(c, kTransposedWeight);
  });
}

absl::Status FcSoftmaxOutputBackwardCpu(const KernelContext& c) {
  return DispatchFloat32Or64(c.inputs[FcSoftmaxGradientArrays::kData].dtype,
                             [&](auto type) { Backward<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(_fc_softmax_output, DeviceType::kCpu, kFloat32Or64,
                       FcSoftmaxOutputCpu<false>, PrepareForward);
COOPER_REGISTER_KERNEL(_fc_softmax_output_transposed, DeviceType::kCpu, kFloat32Or64,
                       FcSoftmaxOutputCpu<true>, PrepareForward);
COOPER_REGISTER_KERNEL(_backward_fc_softmax_output, DeviceType::kCpu, kFloat32Or64,
                       FcSoftmaxOutputBackwardCpu, PrepareBackward);

}  // namespace
}  // namespace cooper
