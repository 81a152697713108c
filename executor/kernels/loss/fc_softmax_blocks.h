#ifndef COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_BLOCKS_H_
#define COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_BLOCKS_H_

// Chooses how many rows the kernels of a classifier and its loss process in one block.
//
// A large vocabulary makes the scores (rows, classes) the largest array of a model. The kernels
// hold only one block of rows of them. The sizes below are measured compromises between memory and
// the work that each block repeats.

#include <algorithm>
#include <cstdint>

#include "ndarray/base/dtype.h"
#include "symbol/ops/loss/fc_softmax_output_param.h"

namespace cooper {

// Bytes of a block's scores. Each product repacks the weight for each block. This costs the forward
// product a sixth of its time with 256 rows of 10,000 classes, and a twentieth with 384 rows. The
// blocks of the backward pass take memory in addition to the output; repacking costs it a tenth
// with 2 MiB, and almost nothing with 4 MiB.
inline constexpr int64_t kFcSoftmaxForwardBlockBytes = 16 << 20;
inline constexpr int64_t kFcSoftmaxBackwardBlockBytes = 4 << 20;
// The block size of a kernel that computes scores and consumes them in one pass.
inline constexpr int64_t kFcSoftmaxLabelBlockBytes = 6 << 20;

// The rows of a product's tiles: a multiple of the tile height of every supported processor. Rows
// beyond a whole tile cost as much as a whole tile.
inline constexpr int64_t kFcSoftmaxTileRows = 48;

// The size of a block: about `bytes` of scores, but at least the whole tiles in min_rows rows.
// min_rows is rounded down to whole tiles of kFcSoftmaxTileRows rows.
struct FcSoftmaxBlockSize {
  int64_t bytes = 0;
  int64_t min_rows = 0;
};

// Returns the number of rows of a block, at most `rows`. A block is a whole number of tiles,
// rounded to the nearest: where 90 rows would fit, a training step is 4 % faster with two tiles
// than with one (11,600 classes, 200 features, two cores with AVX-512). `row_bytes` are the bytes
// of the scores of one row, classes * sizeof(T).
inline int64_t FcSoftmaxBlockRows(FcSoftmaxBlockSize size, int64_t rows, int64_t row_bytes) {
  constexpr int64_t kTile = kFcSoftmaxTileRows;
  const int64_t fitting = size.bytes / std::max<int64_t>(row_bytes, 1);
  const int64_t tiles = std::max((fitting + kTile / 2) / kTile, size.min_rows / kTile);
  return std::min(rows, std::max<int64_t>(tiles, 1) * kTile);
}

// Returns how many of its `rows` rows of a block a thread passes from a product to the loops over
// its result before it continues with the next rows. The part is small enough to stay in the core's
// L2 cache and to let another thread take over some parts. `row_bytes` and `weight_bytes` are the
// bytes of a row's scores and of the weight for the thread's classes. A weight larger than 256 KiB
// does not stay in the cache too, so it is packed once for all `rows`.
inline int64_t FcSoftmaxPartRows(int64_t rows, int64_t row_bytes, int64_t weight_bytes) {
  constexpr int64_t kMaxWeightBytes = 256 << 10, kBytes = 512 << 10, kParts = 4;
  if (weight_bytes > kMaxWeightBytes) return rows;
  const int64_t fitting = std::min(kBytes / std::max<int64_t>(row_bytes, 1), rows / kParts);
  return std::clamp<int64_t>(fitting / 8 * 8, std::min(rows, kFcSoftmaxTileRows), rows);
}

// Returns whether a label is ignore_label, whatever use_ignore is: normalization "valid" counts the
// other labels in both cases. Compares labels as integers, as MXNet does. Both numbers are
// truncated to integers.
template <typename T>
bool IsIgnoreLabel(const FcSoftmaxOutputParam& param, T label) {
  return IntegerOf<int64_t>(label) == IntegerOf<int64_t>(param.ignore_label);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_BLOCKS_H_
