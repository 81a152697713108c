// Kernels of _contrib_BilinearResize2D.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/resample/resized_axis.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/bilinear_resize_param.h"

namespace cooper {
namespace {

absl::Status BilinearResizeCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    using C = ComputeType<T>;
    const ArrayView& data = c.inputs[BilinearResizeArrays::kData];
    const ArrayView& output = c.outputs[0];
    const bool align_corners = c.param<BilinearResizeParam>().align_corners;
    const ResizedAxis rows(data.shape[2], output.shape[2], align_corners);
    const ResizedAxis columns(data.shape[3], output.shape[3], align_corners);
    const bool add = c.reqs[0] == WriteReq::kAdd;
    const int64_t lines = output.shape.Product(0, 3);
    ParallelFor(lines, RowGrain(columns.out, 4096), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const double y = rows.Position(line % rows.out);
        const int64_t above = static_cast<int64_t>(y);
        const C down = static_cast<C>(y - static_cast<double>(above));
        const T* upper = data.as<T>() + (line / rows.out * rows.in + above) * columns.in;
        const T* lower = above + 1 < rows.in ? upper + columns.in : upper;
        T* out = output.as<T>() + line * columns.out;
        for (int64_t o = 0; o < columns.out; ++o) {
          const double x = columns.Position(o);
          const int64_t left = static_cast<int64_t>(x);
          const int64_t right = std::min(left + 1, columns.in - 1);
          const C across = static_cast<C>(x - static_cast<double>(left));
          const C top = (1 - across) * Load(upper[left]) + across * Load(upper[right]);
          const C bottom = (1 - across) * Load(lower[left]) + across * Load(lower[right]);
          Store(out + o, (1 - down) * top + down * bottom, add);
        }
      }
    });
  });
}

// Computes the gradient by gathering: one thread writes each pixel of data's gradient once, in a
// fixed order.
absl::Status BilinearResizeBackwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    using C = ComputeType<T>;
    const ArrayView& ograd = c.inputs[BilinearResizeGradientArrays::kOgrad];
    const ArrayView& output = c.outputs[0];
    const bool align_corners = c.param<BilinearResizeParam>().align_corners;
    const ResizedAxis rows(output.shape[2], ograd.shape[2], align_corners);
    const ResizedAxis columns(output.shape[3], ograd.shape[3], align_corners);
    const bool add = c.reqs[0] == WriteReq::kAdd;
    const int64_t lines = output.shape.Product(0, 3);
    ParallelFor(lines, RowGrain(columns.in, 4096), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const int64_t y = line % rows.in;
        const int64_t top = rows.Begin(y), bottom = rows.End(y);
        const T* head = ograd.as<T>() + line / rows.in * rows.out * columns.out;
        T* out = output.as<T>() + line * columns.in;
        for (int64_t x = 0; x < columns.in; ++x) {
          const int64_t left = columns.Begin(x), right = columns.End(x);
          C sum = 0;
          for (int64_t v = top; v < bottom; ++v) {
            C across = 0;
            for (int64_t u = left; u < right; ++u) {
              across += static_cast<C>(columns.Weight(u, x)) * Load(head[v * columns.out + u]);
            }
            sum += static_cast<C>(rows.Weight(v, y)) * across;
          }
          Store(out + x, sum, add);
        }
      }
    });
  });
}

COOPER_REGISTER_KERNEL(_contrib_BilinearResize2D, DeviceType::kCpu, kFloats, BilinearResizeCpu);
COOPER_REGISTER_KERNEL(_backward_contrib_BilinearResize2D, DeviceType::kCpu, kFloats,
                       BilinearResizeBackwardCpu);

}  // namespace
}  // namespace cooper
