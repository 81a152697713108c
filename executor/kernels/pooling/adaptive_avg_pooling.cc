// Kernels of _contrib_AdaptiveAvgPooling2D.

#include <algorithm>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
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

// A window [begin, end) along the columns. Computed once for many lines: its divisions take longer
// than a line of pixels.
template <typename C>
struct ColumnWindow {
  int64_t begin, end;
  C size;
};

template <typename C>
absl::InlinedVector<ColumnWindow<C>, 32> ColumnWindows(const AdaptiveAxis& columns) {
  absl::InlinedVector<ColumnWindow<C>, 32> windows(columns.out);
  for (int64_t x = 0; x < columns.out; ++x) {
    windows[x] = {columns.Begin(x), columns.End(x), static_cast<C>(columns.Size(x))};
  }
  return windows;
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
    const int64_t size = rows.in * columns.in;
    const int64_t lines = output.shape.Product(0, 3);
    if (rows.out == 1 && columns.out == 1) {  // a window covers the plane, whose rows are adjacent
      ParallelFor(lines, RowGrain(size), [&](int64_t begin, int64_t end) {
        for (int64_t line = begin; line < end; ++line) {
          const C sum = Sum(data.as<T>() + line * size, size);
          Store(output.as<T>() + line, sum / static_cast<C>(size), add);
        }
      });
      return;
    }
    ParallelFor(lines, RowGrain(size / rows.out), [&](int64_t begin, int64_t end) {
      const auto windows = ColumnWindows<C>(columns);
      absl::InlinedVector<C, 128> column_sums(columns.in);
      C* const sums = column_sums.data();
      for (int64_t line = begin; line < end; ++line) {
        const T* plane = data.as<T>() + line / rows.out * size;
        T* out = output.as<T>() + line * columns.out;
        // Sums the rows of the windows first, which is a loop over adjacent elements.
        const int64_t y = line % rows.out, top = rows.Begin(y), bottom = rows.End(y);
        std::fill_n(sums, columns.in, C{0});
        for (int64_t v = top; v < bottom; ++v) {
          const T* row = plane + v * columns.in;
          for (int64_t x = 0; x < columns.in; ++x) sums[x] += Load(row[x]);
        }
        for (const ColumnWindow<C>& window : windows) {
          C sum = 0;
          for (int64_t x = window.begin; x < window.end; ++x) sum += sums[x];
          Store(out++, sum / window.size / static_cast<C>(bottom - top), add);
        }
      }
    });
  });
}

// Computes the gradient of a line of pixels from g, the gradient of each window over it. Most
// pixels are in one window only.
template <typename T>
void SpreadOverLine(const AdaptiveAxis& columns,
                    absl::Span<const ColumnWindow<ComputeType<T>>> windows, const ComputeType<T>* g,
                    T* line, bool add) {
  const AdaptiveAxis over = {columns.out, columns.in};  // the windows that contain each pixel
  const int64_t count = columns.out;
  int64_t x = 0;
  for (int64_t u = 0; u < count; ++u) {
    const int64_t next = u + 1 < count ? windows[u + 1].begin : columns.in;
    for (; x < next; ++x) Store(line + x, g[u], add);
    for (; x < windows[u].end; ++x) {
      ComputeType<T> sum = 0;
      for (int64_t w = over.Begin(x), end = over.End(x); w < end; ++w) sum += g[w];
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
    const AdaptiveAxis over = {rows.out, rows.in};  // the windows that contain each pixel
    const bool add = c.reqs[0] == WriteReq::kAdd;
    if (rows.out == 1 && columns.out == 1) {  // a window covers the plane
      const C height = static_cast<C>(rows.in), width = static_cast<C>(columns.in);
      const int64_t size = rows.in * columns.in;
      ParallelFor(ograd.size(), RowGrain(size), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const C g = Load(ograd.as<T>()[i]) / height / width;
          T* const plane = output.as<T>() + i * size;
          for (int64_t j = 0; j < size; ++j) Store(plane + j, g, add);
        }
      });
      return;
    }
    const int64_t lines = output.shape.Product(0, 3);
    ParallelFor(lines, RowGrain(columns.in, 4096), [&](int64_t begin, int64_t end) {
      const auto windows = ColumnWindows<C>(columns);
      absl::InlinedVector<C, 128> window_gradients(columns.out);
      C* const g = window_gradients.data();
      for (int64_t line = begin; line < end; ++line) {
        const int64_t y = line % rows.in, bottom = over.End(y);
        // Most lines are in the same windows as the line above.
        if (!add && line > begin && y > 0 && over.Begin(y) == over.Begin(y - 1) &&
            bottom == over.End(y - 1)) {
          T* const above = output.as<T>() + (line - 1) * columns.in;
          std::copy_n(above, columns.in, above + columns.in);
          continue;
        }
        const T* head = ograd.as<T>() + line / rows.in * rows.out * columns.out;
        std::fill_n(g, columns.out, C{0});
        for (int64_t v = over.Begin(y); v < bottom; ++v) {
          const C height = static_cast<C>(rows.Size(v));
          for (int64_t u = 0; u < columns.out; ++u) {
            g[u] += Load(head[v * columns.out + u]) / height / windows[u].size;
          }
        }
        SpreadOverLine<T>(columns, windows, g, output.as<T>() + line * columns.in, add);
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
