// Kernels of SoftmaxOutput and its gradient.
//
// The array is viewed as (outer, classes, inner), where inner is 1 unless multi_output is set.
// Labels are (outer, inner).

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/softmax/softmax_row.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/loss/softmax_output_param.h"

namespace cooper {
namespace {

struct Extents {
  int64_t outer, classes, inner;
};

Extents ExtentsOf(const SoftmaxOutputParam& param, const Shape& shape) {
  const int rank = shape.rank();
  if (param.multi_output) return {shape[0], shape[1], shape.Product(2, rank)};
  if (param.preserve_shape) return {shape.Product(0, rank - 1), shape[rank - 1], 1};
  return {shape[0], shape.Product(1, rank), 1};
}

absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  // With kAdd and for float16 the softmax goes to the workspace first. float16 is computed in
  // float.
  const bool direct = c.outputs[0].dtype != DType::kFloat16 && c.reqs[0] != WriteReq::kAdd;
  return Prepared{.workspace_bytes = direct ? 0
                                            : c.outputs[0].size() *
                                                  (c.outputs[0].dtype == DType::kFloat64 ? 8 : 4)};
}

template <typename C>
void Softmax(const Extents& e, const C* in, C* out) {
  if (e.inner == 1) {
    ParallelFor(e.outer, RowGrain(e.classes), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        SoftmaxRow(in + i * e.classes, e.classes, out + i * e.classes);
      }
    });
    return;
  }
  const int64_t plane = e.classes * e.inner;
  ParallelFor(e.outer, RowGrain(plane), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      SoftmaxColumns(in + i * plane, e.classes, e.inner, 0, e.inner, out + i * plane);
    }
  });
}

template <typename T>
void Forward(const KernelContext& c) {
  using enum SoftmaxOutputArrays::Input;
  using C = ComputeType<T>;
  const Extents e = ExtentsOf(c.param<SoftmaxOutputParam>(), c.outputs[0].shape);
  const T* in = c.inputs[kData].as<T>();
  T* out = c.outputs[0].as<T>();
  if constexpr (std::is_same_v<T, C>) {
    if (c.reqs[0] == WriteReq::kWrite) return Softmax<C>(e, in, out);
  }
  C* scratch = static_cast<C*>(c.workspace);
  const int64_t n = c.outputs[0].size();
  for (int64_t i = 0; i < n; ++i) scratch[i] = Load(in[i]);
  Softmax<C>(e, scratch, scratch);
  for (int64_t i = 0; i < n; ++i) Store(out + i, scratch[i], c.reqs[0] == WriteReq::kAdd);
}

// Handles labels of output's shape, which are probabilities. No label is ignored, and the gradient
// is not normalized.
template <typename T>
void BackwardOfProbabilities(const KernelContext& c) {
  using enum SoftmaxOutputGradientArrays::Input;
  const auto& param = c.param<SoftmaxOutputParam>();
  const auto scale = static_cast<ComputeType<T>>(param.grad_scale);
  const bool add = c.reqs[0] == WriteReq::kAdd;
  const T* label = c.inputs[kLabel].as<T>();
  const T* out = c.inputs[kOutput].as<T>();
  // With out_grad the gradient is multiplied by the output: see softmax_output_param.h.
  const T* factor = param.out_grad ? out : nullptr;
  T* grad = c.outputs[0].as<T>();
  ParallelFor(c.outputs[0].size(), 16384, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto g = (Load(out[i]) - Load(label[i])) * scale;
      Store(grad + i, factor == nullptr ? g : g * Load(factor[i]), add);
    }
  });
}

// Returns the factor of the gradient. Compares labels as integers, as MXNet does. There are more
// labels than rows if data has more than two axes and neither multi_output nor preserve_shape is
// set: MXNet uses the first labels, and counts all of them.
template <typename T>
double GradientScale(const SoftmaxOutputParam& param, const Extents& e, const T* label,
                     int64_t num_labels) {
  double divisor = 1;
  if (param.normalization == Normalization::kBatch) {
    // Without multi_output the divisor of kBatch is the number of labels.
    divisor = static_cast<double>(param.multi_output ? e.outer : num_labels);
  } else if (param.normalization == Normalization::kValid) {
    const auto ignored = IntegerOf<int64_t>(param.ignore_label);
    int64_t valid = 0;
    for (int64_t i = 0; i < num_labels; ++i) {
      valid += IntegerOf<int64_t>(Load(label[i])) != ignored;
    }
    divisor = static_cast<double>(std::max<int64_t>(valid, 1));
  }
  // With multi_output the gradient is also divided by the positions, as in MXNet, unless only valid
  // labels are counted.
  if (param.normalization != Normalization::kValid) divisor *= std::max<int64_t>(e.inner, 1);
  return divisor == 0 ? param.grad_scale : param.grad_scale / divisor;
}

// Writes the gradient of one row of classes at `offset`. Its elements are `stride` apart. Without
// multi_output the stride is the constant 1, which lets the compiler vectorise.
template <typename T, bool kContiguous>
void BackwardRow(const KernelContext& c, int64_t offset, int64_t n, int64_t row_stride,
                 int64_t label, ComputeType<T> scale) {
  using enum SoftmaxOutputGradientArrays::Input;
  using C = ComputeType<T>;
  const auto& param = c.param<SoftmaxOutputParam>();
  const int64_t stride = kContiguous ? 1 : row_stride;
  const bool add = c.reqs[0] == WriteReq::kAdd;
  const T* out = c.inputs[kOutput].as<T>() + offset;
  T* grad = c.outputs[0].as<T>() + offset;
  if (param.use_ignore && label == IntegerOf<int64_t>(param.ignore_label)) {
    if (add) return;
    if (kContiguous) {
      std::memset(static_cast<void*>(grad), 0, n * sizeof(T));
    } else {
      for (int64_t j = 0; j < n; ++j) grad[j * stride] = static_cast<T>(0);
    }
    return;
  }
  // MXNet smooths labels only without multi_output.
  const C alpha = param.multi_output ? C{0} : static_cast<C>(param.smooth_alpha);
  const C other = n > 1 ? alpha / static_cast<C>(n - 1) : C{0};
  const bool labelled = label >= 0 && label < n;
  // The output is read before the loop, because grad may share its memory.
  C at_label = 0;
  if (labelled) {
    const C y = Load(out[label * stride]);
    at_label = (y - C{1} + alpha) * (param.out_grad ? y : C{1});
  }
  const C before = labelled && add ? Load(grad[label * stride]) : C{0};
  if (!param.out_grad && out == grad && scale == C{1} && other == C{0}) {
    // In place and unscaled, only the label's element changes.
  } else if (!param.out_grad) {
    for (int64_t j = 0; j < n; ++j) {
      Store(grad + j * stride, (Load(out[j * stride]) - other) * scale, add);
    }
  } else {
    for (int64_t j = 0; j < n; ++j) {
      Store(grad + j * stride, (Load(out[j * stride]) - other) * scale * Load(out[j * stride]),
            add);
    }
  }
  if (labelled) {
    grad[label * stride] = static_cast<T>(before + at_label * scale);
  }
}

template <typename T>
void Backward(const KernelContext& c) {
  using enum SoftmaxOutputGradientArrays::Input;
  const auto& param = c.param<SoftmaxOutputParam>();
  if (c.inputs[kLabel].shape == c.inputs[kOutput].shape) return BackwardOfProbabilities<T>(c);
  const Extents e = ExtentsOf(param, c.outputs[0].shape);
  const T* label = c.inputs[kLabel].as<T>();
  const auto scale =
      static_cast<ComputeType<T>>(GradientScale(param, e, label, c.inputs[kLabel].size()));
  if (e.inner == 1) {
    ParallelFor(e.outer, RowGrain(e.classes), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        BackwardRow<T, true>(c, i * e.classes, e.classes, 1, IntegerOf<int64_t>(Load(label[i])),
                             scale);
      }
    });
    return;
  }
  ParallelFor(e.outer * e.inner, RowGrain(e.classes), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t offset = i / e.inner * e.classes * e.inner + i % e.inner;
      BackwardRow<T, false>(c, offset, e.classes, e.inner, IntegerOf<int64_t>(Load(label[i])),
                            scale);
    }
  });
}

absl::Status SoftmaxOutputCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype,
                       [&](auto type) { Forward<typename decltype(type)::type>(c); });
}

absl::Status SoftmaxOutputBackwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype,
                       [&](auto type) { Backward<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(SoftmaxOutput, DeviceType::kCpu, kFloats, SoftmaxOutputCpu, Prepare);
COOPER_REGISTER_KERNEL(_backward_SoftmaxOutput, DeviceType::kCpu, kFloats,
                       SoftmaxOutputBackwardCpu);

}  // namespace
}  // namespace cooper
