// Kernels of Pad and its gradient. Along the last axis the middle of a padded row is a copy of
// data, and only its ends are looked up one by one.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/strided_copy.h"
#include "executor/kernels/loops/wrapping.h"
#include "executor/kernels/shape/pad_copies.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/rules/one_input.h"
#include "symbol/ops/shape/pad_param.h"

namespace cooper {
namespace {

using enum OneInputArrays::Input;
using enum OneInputGradientArrays::Input;

// Returns the first element of the row of data from which row `row` of the padded array is copied;
// -1 if the row is constant_value only.
int64_t SourceRow(const PadParam& param, const Shape& data, const Shape& padded, int64_t row) {
  int64_t at = 0, stride = data[data.rank() - 1];
  for (int i = padded.rank() - 2; i >= 0; --i) {
    const int64_t source = param.source(i, row % padded[i], data[i]);
    if (source < 0) return -1;
    at += source * stride;
    stride *= data[i];
    row /= padded[i];
  }
  return at;
}

template <typename T>
T Sum(T a, T b) {
  using C = ComputeType<T>;
  return ConvertElement<T>(WrapAdd(static_cast<C>(a), static_cast<C>(b)));
}

template <typename T>
void AddRow(int64_t n, const T* from, T* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = Sum(to[i], from[i]);
}

template <typename T>
void PadRows(const KernelContext& c) {
  const auto& param = c.param<PadParam>();
  const Shape& data = c.inputs[kData].shape;
  const Shape& padded = c.outputs[0].shape;
  const int last = padded.rank() - 1;
  const int64_t width = padded[last], before = param.pad_width[2 * last];
  const T constant = ConvertElement<T>(param.constant_value);
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ParallelFor(padded.Product(0, last), RowGrain(width), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      T* out = c.outputs[0].as<T>() + row * width;
      const int64_t at = SourceRow(param, data, padded, row);
      if (at < 0 && !add) {
        std::fill_n(out, width, constant);
        continue;
      }
      const T* in = c.inputs[kData].as<T>() + std::max<int64_t>(at, 0);
      const int64_t middle = at < 0 ? 0 : data[last];
      if (add) {
        AddRow(middle, in, out + before);
      } else {
        std::copy_n(in, middle, out + before);
      }
      for (int64_t i = 0; i < width; ++i) {
        if (i == before) i += middle;
        if (i == width) break;
        const int64_t source = at < 0 ? -1 : param.source(last, i, data[last]);
        const T value = source < 0 ? constant : in[source];
        out[i] = add ? Sum(out[i], value) : value;
      }
    }
  });
}

// Calls fn(row of the padded array), in ascending order, for the rows of which the middle is that
// of `row`. The first `axis` axes are those that make up `padded_row`.
template <typename Fn>
void ForEachCopyOfRow(const PadParam& param, const Shape& data, const Shape& padded, int axis,
                      int64_t row, int64_t padded_row, const Fn& fn) {
  if (axis == data.rank() - 1) return fn(padded_row);
  const int64_t rest = data.Product(axis + 1, data.rank() - 1);
  const PadCopies copies(param.mode, param.pad_width[2 * axis], data[axis], padded[axis],
                         row / rest);
  for (int64_t k = 0; k < copies.count; ++k) {
    ForEachCopyOfRow(param, data, padded, axis + 1, row % rest,
                     padded_row * padded[axis] + copies[k], fn);
  }
}

// Gathers: one thread sums each row of data's gradient, in the order of ograd.
template <typename T>
void SumRows(const KernelContext& c) {
  const auto& param = c.param<PadParam>();
  const Shape& data = c.outputs[0].shape;
  const Shape& padded = c.inputs[kOgrad].shape;
  const int last = padded.rank() - 1;
  const int64_t width = padded[last], before = param.pad_width[2 * last];
  const bool ends = param.mode != PadParam::kConstant;
  ParallelFor(data.Product(0, last), RowGrain(width), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      T* out = c.outputs[0].as<T>() + row * data[last];
      const auto add_source = [&](const T* in, int64_t i) {
        T& sum = out[param.source(last, i, data[last])];
        sum = Sum(sum, in[i]);
      };
      ForEachCopyOfRow(param, data, padded, 0, row, 0, [&](int64_t padded_row) {
        const T* in = c.inputs[kOgrad].as<T>() + padded_row * width;
        for (int64_t i = 0; ends && i < before; ++i) add_source(in, i);
        AddRow(data[last], in + before, out);
        for (int64_t i = before + data[last]; ends && i < width; ++i) add_source(in, i);
      });
    }
  });
}

absl::Status PadCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  if (c.outputs[0].shape.rank() == 0) {
    return CopyElements(c.inputs[kOgrad], c.reqs[0], c.outputs[0]);
  }
  DispatchDType(c.outputs[0].dtype, [&](auto tag) { PadRows<typename decltype(tag)::type>(c); });
  return absl::OkStatus();
}

absl::Status PadBackwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  if (c.outputs[0].shape.rank() == 0) {
    return CopyElements(c.inputs[kOgrad], c.reqs[0], c.outputs[0]);
  }
  ZeroIfWrite(c.reqs[0], c.outputs[0]);
  if (c.outputs[0].size() == 0) return absl::OkStatus();
  DispatchDType(c.outputs[0].dtype, [&](auto tag) { SumRows<typename decltype(tag)::type>(c); });
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(Pad, DeviceType::kCpu, kAnyDType, PadCpu);
COOPER_REGISTER_KERNEL(_backward_Pad, DeviceType::kCpu, kAnyDType, PadBackwardCpu);

}  // namespace
}  // namespace cooper
