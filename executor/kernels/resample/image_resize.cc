// The kernel of _image_resize, for CPUs. Integers are rounded.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/kernels/resample/resized_axis.h"
#include "executor/program/kernel.h"
#include "executor/program/scratch_cursor.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/image_augmentation_param.h"

namespace cooper {
namespace {

// Rows are computed in at most this many blocks, each of which has scratch memory of its own.
constexpr int64_t kMaxBlocks = 64;

// Returns an axis whose edges coincide with those of the input, also if it has one pixel, where
// ResizedAxis follows _contrib_BilinearResize2D.
ResizedAxis AxisOf(int64_t in, int64_t out) {
  ResizedAxis axis(in, out, /*align_corners=*/false);
  axis.step = static_cast<double>(in) / static_cast<double>(out);
  axis.shift = axis.step / 2 - 0.5;
  return axis;
}

// The state of a node: resizes images of the dtype and the shapes that it was prepared for.
class ResizeState : public KernelState {
 public:
  virtual int64_t workspace_bytes() const = 0;
  virtual void Run(const ArrayView& in, const ArrayView& out, bool add, void* workspace) const = 0;
};

// Resizes images of T. Bilinear pixels are computed in C, first down the columns of an image, then
// along the rows, as loops over adjacent elements.
template <typename T>
class ImageResize : public ResizeState {
 public:
  // `num_rows` is the number of rows of all resized images.
  ImageResize(const ResizedAxis& rows, const ResizedAxis& columns, int64_t channels,
              int64_t num_rows, bool nearest)
      : rows_(rows),
        channels_(channels),
        row_in_(columns.in * channels),
        num_rows_(num_rows),
        blocks_(std::min(num_rows, kMaxBlocks)),
        nearest_(nearest),
        left_(columns.out * channels),
        across_(columns.out * channels) {
    for (int64_t i = 0; i < columns.out; ++i) {
      const double at = columns.Position(i);
      const int64_t left = nearest ? Nearest(columns, i) : static_cast<int64_t>(at);
      for (int64_t k = 0; k < channels; ++k) {
        left_[i * channels + k] = left * channels + k;
        across_[i * channels + k] = static_cast<C>(at - static_cast<double>(left));
      }
    }
  }

  int64_t workspace_bytes() const override {
    ScratchCursor scratch(nullptr);
    TakeRows(scratch);
    return blocks_ * scratch.bytes();
  }

  void Run(const ArrayView& in, const ArrayView& out, bool add, void* workspace) const override {
    const int64_t block_bytes = workspace_bytes() / blocks_;
    const int64_t block_elements = num_rows_ / blocks_ * (row_in_ + std::ssize(left_));
    ParallelFor(blocks_, RowGrain(block_elements), [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        ScratchCursor scratch(static_cast<char*>(workspace) + block * block_bytes);
        const Rows rows = TakeRows(scratch);
        const int64_t last = (block + 1) * num_rows_ / blocks_;
        for (int64_t i = block * num_rows_ / blocks_; i < last; ++i) {
          ComputeRow(i, add, rows, in.as<T>(), out.as<T>());
        }
      }
    });
  }

 private:
  // Integers beyond 16 bits need double.
  using C = std::conditional_t<sizeof(T) <= 2 || std::is_same_v<T, float>, float, double>;

  // Scratch memory: a row between two of an image, with a pixel after the last one, which has no
  // weight; and a resized row.
  struct Rows {
    C* blended;
    C* resized;
  };
  Rows TakeRows(ScratchCursor& scratch) const {
    C* const blended = scratch.Take<C>(row_in_ + channels_);
    return {.blended = blended, .resized = scratch.Take<C>(std::ssize(left_))};
  }

  void ComputeRow(int64_t i, bool add, const Rows& rows, const T* in, T* out) const {
    const int64_t row = i % rows_.out;
    const T* const image = in + i / rows_.out * rows_.in * row_in_;
    if (nearest_) {
      Pick(image + Nearest(rows_, row) * row_in_, rows.resized);
    } else {
      Blend(image, row, rows.blended);
      Interpolate(rows.blended, rows.resized);
    }
    Store(rows.resized, add, out + i * std::ssize(left_));
  }

  static int64_t Nearest(const ResizedAxis& axis, int64_t i) {
    return std::min(static_cast<int64_t>(axis.step * static_cast<double>(i)), axis.in - 1);
  }

  void Pick(const T* row, C* out) const {
    const int64_t* const left = left_.data();
    for (int64_t i = 0, count = std::ssize(left_); i < count; ++i) {
      out[i] = ConvertElement<C>(row[left[i]]);
    }
  }

  void Blend(const T* image, int64_t row, C* out) const {
    const double y = rows_.Position(row);
    const auto above = static_cast<int64_t>(y);
    const C down = static_cast<C>(y - static_cast<double>(above));
    const T* const upper = image + above * row_in_;
    const T* const lower = above + 1 < rows_.in ? upper + row_in_ : upper;
    for (int64_t i = 0; i < row_in_; ++i) {
      out[i] = ConvertElement<C>(upper[i]) * (1 - down) + ConvertElement<C>(lower[i]) * down;
    }
    std::copy_n(out + row_in_ - channels_, channels_, out + row_in_);
  }

  void Interpolate(const C* row, C* out) const {
    const int64_t* const left = left_.data();
    const C* const across = across_.data();
    for (int64_t i = 0, count = std::ssize(left_); i < count; ++i) {
      out[i] = row[left[i]] * (1 - across[i]) + row[left[i] + channels_] * across[i];
    }
  }

  void Store(const C* values, bool add, T* out) const {
    for (int64_t i = 0, count = std::ssize(left_); i < count; ++i) {
      C value = values[i];
      if (std::is_integral_v<T>) value = std::trunc(value + std::copysign(C{0.5}, value));
      if (add) value += ConvertElement<C>(out[i]);
      out[i] = ConvertElement<T>(value);
    }
  }

  ResizedAxis rows_;
  int64_t channels_, row_in_, num_rows_, blocks_;
  bool nearest_;
  // For each element of a resized row the element of a row on its left, and the weight of the
  // one on its right.
  std::vector<int64_t> left_;
  std::vector<C> across_;
};

absl::StatusOr<Prepared> PrepareResize(const PrepareContext& c) {
  const Shape& in = c.inputs[0].shape;
  const Shape& out = c.outputs[0].shape;
  Prepared prepared;
  if (c.reqs[0] == WriteReq::kNull || out.num_elements() == 0) return prepared;
  if (in.num_elements() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("data has shape ", in.ToString(), ", expected at least one pixel"));
  }
  const int rank = in.rank();
  const bool nearest = c.param<ImageResizeParam>().interp == ImageResizeParam::kNearest;
  DispatchDType(c.inputs[0].dtype, [&](auto type) {
    auto state = std::make_unique<ImageResize<typename decltype(type)::type>>(
        AxisOf(in[rank - 3], out[rank - 3]), AxisOf(in[rank - 2], out[rank - 2]), in[rank - 1],
        out.Product(0, rank - 2), nearest);
    prepared.workspace_bytes = state->workspace_bytes();
    prepared.state = std::move(state);
  });
  return prepared;
}

absl::Status ResizeCpu(const KernelContext& c) {
  const auto* state = static_cast<const ResizeState*>(c.state);
  if (state == nullptr) return absl::OkStatus();  // nothing is to be written
  state->Run(c.inputs[0], c.outputs[0], c.reqs[0] == WriteReq::kAdd, c.workspace);
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_image_resize, DeviceType::kCpu, kAnyDType, ResizeCpu, PrepareResize);

}  // namespace
}  // namespace cooper
