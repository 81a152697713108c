// Kernels of Pad and its gradient. Along the last axis the middle of a padded row is a copy of
// data, and only its ends are looked up one by one. The gradient of constant padding is a slice.

#include <algorithm>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/strided_copy.h"
#include "executor/kernels/loops/strided_loop.h"
#include "executor/kernels/loops/wrapping.h"
#include "executor/kernels/shape/pad_copies.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/cpu_level.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/rules/one_input.h"
#include "symbol/ops/shape/pad_param.h"

namespace cooper {
namespace {

using enum OneInputArrays::Input;
using enum OneInputGradientArrays::Input;

// Walks over the rows of the padded array and finds the row of data that each is copied from.
class RowWalk {
 public:
  RowWalk(const PadParam& param, const Shape& data, const Shape& padded, int64_t row)
      : param_(param),
        data_(data),
        padded_(padded),
        axes_(padded.rank() - 1),
        index_(axes_),
        at_(axes_ + 1) {
    for (int axis = axes_ - 1; axis >= 0; --axis) {
      index_[axis] = row % padded[axis];
      row /= padded[axis];
    }
    FindFrom(0);
  }

  // Returns the first element of the row of data; -1 if the row is constant_value only.
  int64_t source() const { return at_[axes_] < 0 ? -1 : at_[axes_] * data_[axes_]; }

  // Returns the number of rows, from this one on, that are copied from consecutive rows of data; 1
  // for a row in the padding.
  int64_t run() const {
    if (axes_ == 0 || at_[axes_] < 0) return 1;
    const int axis = axes_ - 1;
    const int64_t source = index_[axis] - param_.pad_width[2 * axis];
    return source >= 0 && source < data_[axis] ? data_[axis] - source : 1;
  }

  // Advances by `rows` rows, at most run().
  void Next(int64_t rows) {
    for (int axis = axes_ - 1; axis >= 0; --axis, rows = 1) {
      if ((index_[axis] += rows) < padded_[axis]) return FindFrom(axis);
      index_[axis] = 0;
    }
  }

 private:
  // Computes at_ from `axis` on.
  void FindFrom(int axis) {
    for (; axis < axes_; ++axis) {
      const int64_t source = param_.source(axis, index_[axis], data_[axis]);
      at_[axis + 1] = source < 0 || at_[axis] < 0 ? -1 : at_[axis] * data_[axis] + source;
    }
  }

  const PadParam& param_;
  const Shape& data_;
  const Shape& padded_;
  const int axes_;  // all but the last
  absl::InlinedVector<int64_t, 8> index_;
  // at_[i] is the position in data's first i axes, -1 outside of them. at_[0] is 0.
  absl::InlinedVector<int64_t, 8> at_;
};

template <typename T>
T Sum(T a, T b) {
  using C = ComputeType<T>;
  return ConvertElement<T>(WrapAdd(static_cast<C>(a), static_cast<C>(b)));
}

// The loop over elements that gains by vector instructions: it alone is compiled for each CPU
// level.
template <typename T>
void AddRow(int64_t n, const T* from, T* to) {
  RunAtCpuLevel([=] {
    for (int64_t i = 0; i < n; ++i) to[i] = Sum(to[i], from[i]);
  });
}

// Copies `rows` rows of n elements to rows with `before` and `after` elements of constant_value
// beside them. `ends` has before + after of these: the end of a row and the beginning of the next
// one are written together.
template <typename T>
void PadWithConstant(int64_t rows, int64_t n, int64_t before, int64_t after, const T* ends,
                     const T* from, T* to) {
  std::copy_n(ends, before, to);
  to += before;
  for (int64_t row = 0; row < rows; ++row, from += n) {
    to = std::copy_n(from, n, to);
    to = std::copy_n(ends, row + 1 < rows ? before + after : after, to);
  }
}

// Copies `rows` rows of n elements to rows with `before` elements before and `after` behind them,
// which are elements of the same row: `sources` has their before + after columns.
template <typename T>
void PadWithOwn(int64_t rows, int64_t n, int64_t before, int64_t after, const int64_t* sources,
                const T* from, T* to) {
  for (int64_t row = 0; row < rows; ++row, from += n) {
    for (int64_t i = 0; i < before; ++i) *to++ = from[sources[i]];
    to = std::copy_n(from, n, to);
    for (int64_t i = 0; i < after; ++i) *to++ = from[sources[before + i]];
  }
}

template <typename T>
void PadRows(const KernelContext& c) {
  const auto& param = c.param<PadParam>();
  const Shape& data = c.inputs[kData].shape;
  const Shape& padded = c.outputs[0].shape;
  const int last = padded.rank() - 1;
  const int64_t middle = data[last], width = padded[last];
  const int64_t before = param.pad_width[2 * last], after = width - before - middle;
  const T constant = ConvertElement<T>(param.constant_value);
  const bool add = c.reqs[0] == WriteReq::kAdd, is_constant = param.mode == PadParam::kConstant;
  // The elements outside of the middle are constants or elements of the columns `sources`.
  const absl::InlinedVector<T, 64> ends(before + after, constant);
  absl::InlinedVector<int64_t, 64> sources;
  const auto add_source = [&](int64_t i) {
    sources.push_back(PadParam::SourceOf(param.mode, i, middle));
  };
  for (int64_t i = -before; i < 0 && !is_constant; ++i) add_source(i);
  for (int64_t i = 0; i < after && !is_constant; ++i) add_source(middle + i);
  ParallelForPlain(padded.Product(0, last), RowGrain(width), [&](int64_t begin, int64_t end) {
    RowWalk walk(param, data, padded, begin);
    for (int64_t row = begin, rows; row < end; row += rows, walk.Next(rows)) {
      rows = add ? 1 : std::min(walk.run(), end - row);
      T* const out = c.outputs[0].as<T>() + row * width;
      const int64_t at = walk.source();
      if (at < 0) {
        if (!add) std::fill_n(out, width, constant);
        for (int64_t i = 0; add && i < width; ++i) out[i] = Sum(out[i], constant);
        continue;
      }
      const T* const in = c.inputs[kData].as<T>() + at;
      if (add) {
        AddRow(middle, in, out + before);
        for (int64_t i = 0; i < before + after; ++i) {
          T& to = out[i < before ? i : i + middle];
          to = Sum(to, is_constant ? constant : in[sources[i]]);
        }
      } else if (is_constant) {
        PadWithConstant(rows, middle, before, after, ends.data(), in, out);
      } else {
        PadWithOwn(rows, middle, before, after, sources.data(), in, out);
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

// Computes the gradient of constant padding, which is the middle of ograd.
absl::Status CopyMiddle(const KernelContext& c) {
  const auto& param = c.param<PadParam>();
  const Shape& data = c.outputs[0].shape;
  const Shape& padded = c.inputs[kOgrad].shape;
  StridedLoop loop;
  int64_t begin = 0;
  for (int axis = 0; axis < data.rank(); ++axis) {
    begin += param.pad_width[2 * axis] * StrideOf(padded, axis);
    loop.Add(data[axis], StrideOf(padded, axis), StrideOf(data, axis));
  }
  return StridedCopy(loop, c.outputs[0].dtype, c.reqs[0], ElementAt(c.inputs[kOgrad], begin),
                     c.outputs[0].data);
}

// Gathers: one thread sums each row of data's gradient, in the order of ograd.
template <typename T>
void SumRows(const KernelContext& c) {
  const auto& param = c.param<PadParam>();
  const Shape& data = c.outputs[0].shape;
  const Shape& padded = c.inputs[kOgrad].shape;
  const int last = padded.rank() - 1;
  const int64_t width = padded[last], before = param.pad_width[2 * last];
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ParallelForPlain(data.Product(0, last), RowGrain(width), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      T* out = c.outputs[0].as<T>() + row * data[last];
      if (!add) std::fill_n(out, data[last], T{});
      const auto add_source = [&](const T* in, int64_t i) {
        T& sum = out[param.source(last, i, data[last])];
        sum = Sum(sum, in[i]);
      };
      ForEachCopyOfRow(param, data, padded, 0, row, 0, [&](int64_t padded_row) {
        const T* in = c.inputs[kOgrad].as<T>() + padded_row * width;
        for (int64_t i = 0; i < before; ++i) add_source(in, i);
        AddRow(data[last], in + before, out);
        for (int64_t i = before + data[last]; i < width; ++i) add_source(in, i);
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
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  if (c.param<PadParam>().mode == PadParam::kConstant) return CopyMiddle(c);
  if (c.outputs[0].shape.rank() == 0) {
    return CopyElements(c.inputs[kOgrad], c.reqs[0], c.outputs[0]);
  }
  DispatchDType(c.outputs[0].dtype, [&](auto tag) { SumRows<typename decltype(tag)::type>(c); });
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(Pad, DeviceType::kCpu, kAnyDType, PadCpu);
COOPER_REGISTER_KERNEL(_backward_Pad, DeviceType::kCpu, kAnyDType, PadBackwardCpu);

}  // namespace
}  // namespace cooper
