#ifndef COOPER_EXECUTOR_KERNELS_QUANTIZED_INT8_CONVOLUTION_H_
#define COOPER_EXECUTOR_KERNELS_QUANTIZED_INT8_CONVOLUTION_H_

// Convolutions of 8-bit integers, for the CPU kernels of layers. Sums are exact: int32, which wrap
// around as MXNet's.

#include <algorithm>
#include <cstdint>

#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/program/scratch_cursor.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// The positions of a convolution in blocks, which are computed one after the other: the copied
// windows of a block stay in a core's cache until the product has read them.
struct PositionBlocks {
  explicit PositionBlocks(const WindowGeometry& geometry);

  // Returns the bytes of the windows of a block.
  int64_t bytes() const { return g.rows() * count * step; }

  // Calls fn(block, column) with the geometry of each block and its first position.
  template <typename Fn>
  void ForEach(const Fn& fn) const {
    for (int64_t first = 0; first < g.out[axis]; first += count) {
      WindowGeometry block = g;
      block.out[axis] = std::min(count, g.out[axis] - first);
      block.pad[axis] -= first * g.stride[axis];
      fn(block, first * step);
    }
  }

  WindowGeometry g;
  int axis = 0;       // the first one that has several positions
  int64_t step = 1;   // positions of one index of the axis
  int64_t count = 1;  // indices of the axis in a block
};

// Convolves images of 8-bit integers with the int8 filters of one group. Used by one thread, which
// may start others.
class Int8Convolution {
 public:
  // `dtype` is that of the images, int8 or uint8. The object takes its memory from `cursor`; with a
  // null base, it only counts the bytes.
  Int8Convolution(const ConvolutionProduct& product, DType dtype, ScratchCursor& cursor);

  // Sets the filters (filters, rows) for the next calls of Run, and what is added to the sums of
  // each; null: 0. `weight` has to outlive them.
  void SetFilters(const int8_t* weight, const int32_t* terms);

  // Computes the map (filters, positions) of one group of an image; with `add` it is added to what
  // is there.
  void Run(const void* image, bool add, int32_t* map) const;

 private:
  void RunSigned(const int8_t* image, bool add, int32_t* map) const;

  const ConvolutionProduct p_;
  const PositionBlocks blocks_;
  const bool is_unsigned_;
  int32_t* const terms_;   // (filters,)
  int8_t* const image_;    // the image as int8, if it is not
  int8_t* const windows_;  // the copied windows of one block
  const int8_t* weight_ = nullptr;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_QUANTIZED_INT8_CONVOLUTION_H_
