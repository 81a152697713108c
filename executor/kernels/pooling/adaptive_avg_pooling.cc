// Kernels of _contrib_AdaptiveAvgPooling2D.

#include <algorithm>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/pooling/adaptive_window.h"
#include "executor/kernels/reducers/lane_sum.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/adaptive_avg_pooling_param.h"

namespace cooper {
namespace {

template <typename T>
ComputeType<T> Sum(const T* elements, int64_t size) {
  return LaneSum<ComputeType<T>>(size, [elements](int64_t i) { return Load(elements[i]); });
}

absl::Status AdaptiveAvgPoolingCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    using C = ComputeType<T>;
    const ArrayView& data = c.inputs[AdaptiveAvgPoolingArrays::kData];
    const ArrayView& output = c.outputs[0];
    const AdaptiveAxis rows = {data.shape[2], output.shape[2]};
    const AdaptiveAxis columns = {data.shape[3], output.shape[3]};
    const bool add = c.reqs[0] == WriteReq::kAdd;
    // The only window covers the whole plane, whose rows are contiguous.
    const bool is_whole = rows.out == 1 && columns.out == 1;
    const int64_t lines = output.shape.Product(0, 3);
    const int64_t work = rows.in * columns.in / rows.out;
    ParallelFor(lines, RowGrain(work), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const T* plane = data.as<T>() + line / rows.out * rows.in * columns.in;
        T* out = output.as<T>() + line * columns.out;
        if (is_whole) {
          const int64_t size = rows.in * columns.in;
          Store(out, Sum(plane, size) / static_cast<C>(size), add);
          continue;
        }
        const int64_t y = line % rows.out, top = rows.Begin(y), bottom = rows.End(y);
        for (int64_t x = 0; x < columns.out; ++x) {
          const int64_t left = columns.Begin(x), size = columns.Size(x);
          C sum = 0;
          for (int64_t v = top; v < bottom; ++v) sum += Sum(plane + v * columns.in + left, size);
          Store(out + x, sum / static_cast<C>(size) / static_cast<C>(bottom - top), add);
        }
      }
    });
  });
}

// Computes the gradient of a line of pixels from g, the gradient of each window over it. Most
// pixels are in one window only.
template <typename T>
void SpreadOverLine(const AdaptiveAxis& columns, const ComputeType<T>* g, T* line, bool add) {
  const AdaptiveAxis windows = {columns.out, columns.in};  // the windows that contain each pixel
  int64_t x = 0;
  for (int64_t u = 0; u < columns.out; ++u) {
    const int64_t next = u + 1 < columns.out ? columns.Begin(u + 1) : columns.in;
    for (; x < next; ++x) Store(line + x, g[u], add);
    for (const int64_t end = columns.End(u); x < end; ++x) {
      ComputeType<T> sum = 0;
      for (int64_t w = windows.Begin(x); w < windows.End(x); ++w) sum += g[w];
      Store(line + x, sum, add);
    }
  }
}

// Computes the gradient by gathering: one thread writes each pixel of data's gradient once, in a
// fixed order.
absl::Status AdaptiveAvgPoolingBackwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    using C = ComputeType<T>;
    const ArrayView& ograd = c.inputs[AdaptiveAvgPoolingGradientArrays::kOgrad];
    const ArrayView& output = c.outputs[0];
    const AdaptiveAxis rows = {output.shape[2], ograd.shape[2]};
    const AdaptiveAxis columns = {output.shape[3], ograd.shape[3]};
    const AdaptiveAxis windows = {rows.out, rows.in};  // the windows that contain each pixel
    const bool add = c.reqs[0] == WriteReq::kAdd;
    const int64_t lines = output.shape.Product(0, 3);
    ParallelFor(lines, RowGrain(columns.in, 4096), [&](int64_t begin, int64_t end) {
      absl::InlinedVector<C, 128> g(columns.out);
      for (int64_t line = begin; line < end; ++line) {
        const int64_t y = line % rows.in, bottom = windows.End(y);
        const T* head = ograd.as<T>() + line / rows.in * rows.out * columns.out;
        std::fill(g.begin(), g.end(), C{0});
        for (int64_t v = windows.Begin(y); v < bottom; ++v) {
          const C height = static_cast<C>(rows.Size(v));
          for (int64_t u = 0; u < columns.out; ++u) {
            g[u] += Load(head[v * columns.out + u]) / height / static_cast<C>(columns.Size(u));
          }
        }
        SpreadOverLine(columns, g.data(), output.as<T>() + line * columns.in, add);
      }
    });
  });
}

COOPER_REGISTER_KERNEL(_contrib_AdaptiveAvgPooling2D, DeviceType::kCpu, kFloats,
                       AdaptiveAvgPoolingCpu);
COOPER_REGISTER_KERNEL(_backward_contrib_AdaptiveAvgPooling2D, DeviceType::kCpu, kFloats,
                       AdaptiveAvgPoolingBackwardCpu);

}  // namespace
}  // namespace cooper
