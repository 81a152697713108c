// Kernels of _contrib_BilinearResize2D.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/resample/resized_axis.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/bilinear_resize_param.h"

namespace cooper {
namespace {

// The neighbours of an output pixel along the columns and the weight of the right one. Computed
// once for many lines.
template <typename C>
struct Interpolation {
  int64_t left, right;
  C across;
};

template <typename C>
absl::InlinedVector<Interpolation<C>, 64> Interpolations(const ResizedAxis& columns) {
  absl::InlinedVector<Interpolation<C>, 64> result(columns.out);
  for (int64_t o = 0; o < columns.out; ++o) {
    const double x = columns.Position(o);
    const int64_t left = static_cast<int64_t>(x);
    result[o] = {left, std::min(left + 1, columns.in - 1),
                 static_cast<C>(x - static_cast<double>(left))};
  }
  return result;
}

// Keeps the two rows of an image that were interpolated last along the columns: neighbouring lines
// of a larger output need the same ones.
template <typename T>
class InterpolatedRows {
 public:
  using C = ComputeType<T>;

  explicit InterpolatedRows(const ResizedAxis& columns)
      : columns_(columns), weights_(Interpolations<C>(columns)) {
    for (Row& row : rows_) row.values.resize(columns.out);
  }

  // Returns `source`, a row of data, interpolated to the output's width. Valid until the call after
  // the next one.
  const C* Get(const T* source) {
    if (rows_[last_].source != source) last_ = 1 - last_;
    Row& row = rows_[last_];
    C* const values = row.values.data();
    if (row.source == source) return values;
    row.source = source;
    const Interpolation<C>* const weights = weights_.data();
    for (int64_t o = 0; o < columns_.out; ++o) {
      const Interpolation<C>& w = weights[o];
      values[o] = (1 - w.across) * Load(source[w.left]) + w.across * Load(source[w.right]);
    }
    return values;
  }

 private:
  struct Row {
    const T* source = nullptr;
    std::vector<C> values;
  };

  ResizedAxis columns_;
  absl::InlinedVector<Interpolation<C>, 64> weights_;
  Row rows_[2];
  int last_ = 0;  // the row that Get returned last
};

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
      InterpolatedRows<T> interpolated(columns);
      for (int64_t line = begin; line < end; ++line) {
        const double y = rows.Position(line % rows.out);
        const int64_t above = static_cast<int64_t>(y);
        const C down = static_cast<C>(y - static_cast<double>(above));
        const T* upper = data.as<T>() + (line / rows.out * rows.in + above) * columns.in;
        const T* lower = above + 1 < rows.in ? upper + columns.in : upper;
        const C* const top = interpolated.Get(upper);
        const C* const bottom = interpolated.Get(lower);
        T* out = output.as<T>() + line * columns.out;
        for (int64_t o = 0; o < columns.out; ++o) {
          Store(out + o, (1 - down) * top[o] + down * bottom[o], add);
        }
      }
    });
  });
}

// The output pixels [begin, begin + count) in which a column has a weight. The weights are at
// `first` of the vector that GradientColumns fills.
struct GradientColumn {
  int64_t begin, count, first;
};

template <typename C>
std::vector<GradientColumn> GradientColumns(const ResizedAxis& columns, std::vector<C>* weights) {
  std::vector<GradientColumn> result(columns.in);
  for (int64_t x = 0; x < columns.in; ++x) {
    const int64_t begin = columns.Begin(x), end = columns.End(x);
    result[x] = {begin, end - begin, static_cast<int64_t>(weights->size())};
    for (int64_t u = begin; u < end; ++u) {
      weights->push_back(static_cast<C>(columns.Weight(u, x)));
    }
  }
  return result;
}

// Computes the gradient by gathering: one thread writes each pixel of data's gradient once, in a
// fixed order. The rows of ograd are summed first, which is a loop over adjacent elements.
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
    std::vector<C> weights;
    const std::vector<GradientColumn> gathered = GradientColumns(columns, &weights);
    const int64_t work = std::max(columns.in, ograd.shape.Product(2, 4) / rows.in);
    ParallelFor(lines, RowGrain(work, 4096), [&](int64_t begin, int64_t end) {
      std::vector<C> row_sums(columns.out);
      C* const sums = row_sums.data();
      for (int64_t line = begin; line < end; ++line) {
        const int64_t y = line % rows.in;
        const int64_t bottom = rows.End(y);
        const T* head = ograd.as<T>() + line / rows.in * rows.out * columns.out;
        std::fill_n(sums, columns.out, C{0});
        for (int64_t v = rows.Begin(y); v < bottom; ++v) {
          const C down = static_cast<C>(rows.Weight(v, y));
          const T* row = head + v * columns.out;
          for (int64_t u = 0; u < columns.out; ++u) sums[u] += down * Load(row[u]);
        }
        T* out = output.as<T>() + line * columns.in;
        for (const GradientColumn& column : gathered) {
          C sum = 0;
          for (int64_t u = 0; u < column.count; ++u) {
            sum += weights[column.first + u] * sums[column.begin + u];
          }
          Store(out++, sum, add);
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
