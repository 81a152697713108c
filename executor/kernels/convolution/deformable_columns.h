#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_DEFORMABLE_COLUMNS_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_DEFORMABLE_COLUMNS_H_

// The columns of deformable convolutions on the CPU, which turn them into matrix products, and
// their gradients. im2col.h is for plain convolutions. Positions are computed once for a block of
// windows and used for all channels of a thread, so that the loops over a block vectorise.

#include <algorithm>
#include <cstdint>

#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/convolution/deformable_point.h"
#include "executor/kernels/launch/row_grain.h"
#include "ndarray/threads/parallel.h"

namespace cooper {

// One image's part of the arrays of a deformable convolution; does not own them. `g` has all
// channels, and its kernel's elements and windows are two-dimensional: axes 1 and 2. T is float or
// double. An image has at most 2^31 - 1 pixels, which the kernels' Prepare checks.
//
// The columns are (channels * kernel_size, windows): the value of each element of the kernel in
// each window, as a matrix product needs them. An element's point is its position in the image plus
// the window's offset for it; its value is interpolated from the four pixels around it. The offsets
// are (deformable_groups, kernel_size, 2, windows) with the rows' before the columns', the masks
// (deformable_groups, kernel_size, windows). Thread-safe.
template <typename T>
class DeformableColumns {
 public:
  // `offset` and `mask` are those of the image. A null mask stands for the plain operator.
  DeformableColumns(const WindowGeometry& g, int64_t deformable_groups, const T* offset,
                    const T* mask)
      : g_(g), group_size_(g.channels / deformable_groups), offset_(offset), mask_(mask) {}

  // Computes columns (rows(), columns()) of image (channels, in...). Uses several threads.
  // Overwrites the columns. A point outside of the image has the value 0, also where a pixel is
  // NaN.
  void FromImage(const T* image, T* columns) const {
    if (g_.image_size() == 0) {
      std::fill_n(columns, g_.rows() * g_.columns(), T{0});
      return;
    }
    ForEachBlock([&](const Block& b, int64_t channel) {
      const T* pixels = image + channel * g_.image_size();
      T* to = columns + At(channel, b);
      for (int64_t i = 0; i < b.size; ++i) {
        const T value = b.Value(pixels, i);  // may be NaN for a point outside
        to[i] = b.inside[i] == 0 ? T{0} : b.inside[i] * value;
      }
    });
  }

  // Adds the gradients of columns to those of the image. Channels share no pixels, so threads share
  // the channels, and results do not depend on their number.
  void AddToImage(const T* columns, T* image) const {
    if (g_.image_size() == 0) return;
    ForEachBlock([&](const Block& b, int64_t channel) {
      T* pixels = image + channel * g_.image_size();
      const T* from = columns + At(channel, b);
      for (int64_t i = 0; i < b.size; ++i) {
        b.Spread(from[i] * b.inside[i], i, pixels);
      }
    });
  }

  // Computes = or += the gradients of offset and mask from those of the columns. Null gradients are
  // not computed. An offset's gradient is the sum over the channels of its group of the column's
  // gradient times the slope of the interpolation, which is 0 outside of the image.
  void ToPositions(const T* image, const T* columns, T* offset_grad, bool add_offset, T* mask_grad,
                   bool add_mask) const {
    const int64_t taps = g_.channels / group_size_ * g_.kernel_size();
    ParallelFor(taps, RowGrain(group_size_ * g_.columns(), 2048), [&](int64_t begin, int64_t end) {
      for (int64_t tap = begin; tap < end; ++tap) {
        for (int64_t first = 0; first < g_.columns(); first += kBlock) {
          Sums sums;
          Block b(first, std::min(kBlock, g_.columns() - first), tap % g_.kernel_size());
          if (g_.image_size() > 0) {
            Locate(tap / g_.kernel_size(), b);
            Accumulate(tap / g_.kernel_size(), b, image, columns, sums);
          }
          for (int64_t i = 0; i < b.size; ++i) {
            const int64_t at = 2 * tap * g_.columns() + first + i;
            if (offset_grad != nullptr) {
              Put(offset_grad + at, sums.y[i], add_offset);
              Put(offset_grad + at + g_.columns(), sums.x[i], add_offset);
            }
            if (mask_grad == nullptr) continue;
            Put(mask_grad + tap * g_.columns() + first + i, sums.mask[i], add_mask);
          }
        }
      }
    });
  }

 private:
  // The windows of a block. A Block has about 4 KB in float and 8 KB in double, so that it stays in
  // the first-level cache while all channels of a group use it.
  static constexpr int64_t kBlock = 64;

  // The points of windows [first, first + size) for one element of the kernel. `inside` is the
  // factor of a point, 0 if it is outside; weights and slopes are those of DeformableAxis.
  struct Block {
    int64_t first, size, element;
    int32_t pixel[4][kBlock];
    T weight[4][kBlock], slope_y[4][kBlock], slope_x[4][kBlock];
    T inside[kBlock];

    Block(int64_t begin, int64_t count, int64_t kernel_element)
        : first(begin), size(count), element(kernel_element) {}

    // Returns the value of point i, before it is multiplied by its factor.
    T Value(const T* pixels, int64_t i) const { return Sum(pixels, weight, i); }
    // Adds `head`, in parts, to the pixels of point i. These are four statements, because g++ 12.2
    // at -O2 for AVX2 computes wrong addresses in a loop over doubles.
    void Spread(T head, int64_t i, T* pixels) const {
      pixels[pixel[0][i]] += head * weight[0][i];
      pixels[pixel[1][i]] += head * weight[1][i];
      pixels[pixel[2][i]] += head * weight[2][i];
      pixels[pixel[3][i]] += head * weight[3][i];
    }
    // Returns the sum of the pixels of point i with these factors.
    T Sum(const T* pixels, const T (&factor)[4][kBlock], int64_t i) const {
      return factor[0][i] * pixels[pixel[0][i]] + factor[1][i] * pixels[pixel[1][i]] +
             factor[2][i] * pixels[pixel[2][i]] + factor[3][i] * pixels[pixel[3][i]];
    }
  };

  // The sums over the channels of a group for a block.
  struct Sums {
    T y[kBlock] = {}, x[kBlock] = {}, mask[kBlock] = {};
  };

  // Stores `value`, or adds it to what is there.
  static void Put(T* to, T value, bool add) { *to = add ? *to + value : value; }

  // Returns the position of a block in the columns of a channel.
  int64_t At(int64_t channel, const Block& b) const {
    return (channel * g_.kernel_size() + b.element) * g_.columns() + b.first;
  }

  // Computes the points of a block with the offsets of a deformable group: positions, weights and
  // slopes for every channel of the group. DeformableBorder says how the two operators continue an
  // image.
  void Locate(int64_t group, Block& b) const {
    const int64_t tap = group * g_.kernel_size() + b.element, width = g_.in[2];
    const T* offset = offset_ + 2 * tap * g_.columns() + b.first;
    const T* mask = mask_ == nullptr ? nullptr : mask_ + tap * g_.columns() + b.first;
    const auto border = mask_ == nullptr ? DeformableBorder::kLastPixel : DeformableBorder::kZeros;
    for (int64_t i = 0; i < b.size; ++i) {
      const int64_t row = (b.first + i) / g_.out[2], column = (b.first + i) % g_.out[2];
      const int64_t y = row * g_.stride[1] - g_.pad[1] + b.element / g_.kernel[2] * g_.dilate[1];
      const int64_t x = column * g_.stride[2] - g_.pad[2] + b.element % g_.kernel[2] * g_.dilate[2];
      DeformableAxis<T> rows = {}, columns = {};
      const bool inside = rows.Set(static_cast<T>(y) + offset[i], g_.in[1], border) &&
                          columns.Set(static_cast<T>(x) + offset[g_.columns() + i], width, border);
      b.inside[i] = !inside ? T{0} : mask == nullptr ? T{1} : mask[i];
      for (int k = 0; k < 4; ++k) {
        const int at_y = k / 2, at_x = k % 2;
        const int64_t pixel = rows.pixel[at_y] * width + columns.pixel[at_x];
        b.pixel[k][i] = inside ? static_cast<int32_t>(pixel) : 0;
        b.weight[k][i] = inside ? rows.weight[at_y] * columns.weight[at_x] : T{0};
        b.slope_y[k][i] = inside ? rows.slope[at_y] * columns.weight[at_x] : T{0};
        b.slope_x[k][i] = inside ? rows.weight[at_y] * columns.slope[at_x] : T{0};
      }
    }
  }

  // Calls fn(block, channel) for all blocks of all channels; a thread calls it for all blocks of
  // its channels, in order.
  template <typename Fn>
  void ForEachBlock(const Fn& fn) const {
    const int64_t work = g_.kernel_size() * g_.columns();
    ParallelFor(g_.channels, RowGrain(work, 4096), [&](int64_t begin, int64_t end) {
      for (int64_t group = begin / group_size_; group * group_size_ < end; ++group) {
        const int64_t first_channel = std::max(begin, group * group_size_);
        const int64_t last_channel = std::min(end, (group + 1) * group_size_);
        for (int64_t element = 0; element < g_.kernel_size(); ++element) {
          for (int64_t first = 0; first < g_.columns(); first += kBlock) {
            Block b(first, std::min(kBlock, g_.columns() - first), element);
            Locate(group, b);
            for (int64_t k = first_channel; k < last_channel; ++k) fn(b, k);
          }
        }
      }
    });
  }

  // Adds to `sums` the terms of all channels of a group, in ascending order.
  void Accumulate(int64_t group, const Block& b, const T* image, const T* columns,
                  Sums& sums) const {
    for (int64_t k = group * group_size_; k < (group + 1) * group_size_; ++k) {
      const T* pixels = image + k * g_.image_size();
      const T* from = columns + At(k, b);
      for (int64_t i = 0; i < b.size; ++i) {
        const T head = from[i] * b.inside[i];
        sums.y[i] += head * b.Sum(pixels, b.slope_y, i);
        sums.x[i] += head * b.Sum(pixels, b.slope_x, i);
        // The value does not depend on the mask, which may be 0.
        sums.mask[i] += from[i] * b.Value(pixels, i);
      }
    }
  }

  const WindowGeometry g_;
  const int64_t group_size_;  // channels of a deformable group
  const T* const offset_;
  const T* const mask_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_DEFORMABLE_COLUMNS_H_
