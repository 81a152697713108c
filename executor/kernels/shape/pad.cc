// Kernels of Pad and its gradient. Both iterate over the padded array row by row: along the last
// axis the middle of a row is a copy of data, and only its ends are looked up one by one.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/strided_copy.h"
#include "executor/kernels/loops/wrapping.h"
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
void PadRows(const KernelContext& c) {
  const auto& param = c.param<PadParam>();
  const Shape& data = c.inputs[kData].shape;
  const Shape& padded = c.outputs[0].shape;
  const int last = padded.rank() - 1;
  const int64_t width = padded[last], before = param.pad_width[2 * last];
  const T constant = ConvertElement<T>(param.constant_value);
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ParallelForPlain(padded.Product(0, last), RowGrain(width), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      T* out = c.outputs[0].as<T>() + row * width;
      const int64_t at = SourceRow(param, data, padded, row);
      const T* in = c.inputs[kData].as<T>() + std::max<int64_t>(at, 0);
      auto put = [&](int64_t i, T value) { out[i] = add ? Sum(out[i], value) : value; };
      const int64_t middle = at < 0 ? 0 : data[last];
      for (int64_t i = 0; i < middle; ++i) put(before + i, in[i]);
      for (int64_t i = 0; i < width; ++i) {
        if (i == before) i += middle;
        if (i == width) break;
        const int64_t source = at < 0 ? -1 : param.source(last, i, data[last]);
        put(i, source < 0 ? constant : in[source]);
      }
    }
  });
}

template <typename T>
void SumRows(const KernelContext& c) {
  const auto& param = c.param<PadParam>();
  const Shape& data = c.outputs[0].shape;
  const Shape& padded = c.inputs[kOgrad].shape;
  const int last = padded.rank() - 1;
  const int64_t width = padded[last];
  // Several rows may be summed into one, so one thread processes all rows, in order.
  for (int64_t row = 0; row < padded.Product(0, last); ++row) {
    const int64_t at = SourceRow(param, data, padded, row);
    if (at < 0) continue;
    const T* in = c.inputs[kOgrad].as<T>() + row * width;
    T* out = c.outputs[0].as<T>() + at;
    for (int64_t i = 0; i < width; ++i) {
      const int64_t source = param.source(last, i, data[last]);
      if (source >= 0) out[source] = Sum(out[source], in[i]);
    }
  }
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
