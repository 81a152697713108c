#ifndef COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_BLOCKS_H_
#define COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_BLOCKS_H_

// How rows are taken in blocks by the kernels of a classifier and its loss.

#include <algorithm>
#include <cstdint>

#include "ndarray/base/dtype.h"
#include "symbol/ops/loss/fc_softmax_output_param.h"

namespace cooper {

// Bytes of a block's scores. Each product brings the weight into another order for each block. The
// forward product loses a sixth by that on 256 rows of 10,000 classes, a twentieth on 384; those of
// the backward pass, whose blocks take memory beside the output, lose a tenth with 2 MiB, and next
// to nothing with 4.
inline constexpr int64_t kFcSoftmaxForwardBlockBytes = 16 << 20;
inline constexpr int64_t kFcSoftmaxBackwardBlockBytes = 4 << 20;
// Where scores are made and used up in one go.
inline constexpr int64_t kFcSoftmaxLabelBlockBytes = 6 << 20;

// Rows that a product's tiles have, on any processor a whole number of them.
inline constexpr int64_t kFcSoftmaxTileRows = 48;

// How large a block is: of about so many bytes of scores, but not of fewer tiles than go into
// min_rows, whatever their bytes.
struct FcSoftmaxBlockSize {
  int64_t bytes = 0;
  int64_t min_rows = 0;
};

// The rows of a block, at most `rows`. Blocks end where tiles do, that nearest to their bytes:
// where 90 rows would fit, a training step is 4 % faster with two tiles than with one (11,600
// classes, 200 features, two cores with AVX-512).
inline int64_t FcSoftmaxBlockRows(FcSoftmaxBlockSize size, int64_t rows, int64_t row_bytes) {
  constexpr int64_t kTile = kFcSoftmaxTileRows;
  const int64_t fitting = size.bytes / std::max<int64_t>(row_bytes, 1);
  const int64_t tiles = std::max((fitting + kTile / 2) / kTile, size.min_rows / kTile);
  return std::min(rows, std::max<int64_t>(tiles, 1) * kTile);
}

// The rows of a block that a thread takes from a product to the loops over its result before it
// goes on to the next ones, of the `rows` that are its own: few enough to stay in its core's
// second-level cache, and for another thread to take some over. `row_bytes` and `weight_bytes` are
// those of the thread's classes; a weight that does not stay there too is better brought into order
// for all `rows` at once.
inline int64_t FcSoftmaxPartRows(int64_t rows, int64_t row_bytes, int64_t weight_bytes) {
  constexpr int64_t kMaxWeightBytes = 256 << 10, kBytes = 512 << 10, kParts = 4;
  if (weight_bytes > kMaxWeightBytes) return rows;
  const int64_t fitting = std::min(kBytes / std::max<int64_t>(row_bytes, 1), rows / kParts);
  return std::clamp<int64_t>(fitting / 8 * 8, std::min(rows, kFcSoftmaxTileRows), rows);
}

// Whether a label is ignore_label, with use_ignore or without: normalization "valid" counts the
// others either way. As MXNet, labels are compared as whole numbers.
template <typename T>
bool IsIgnoreLabel(const FcSoftmaxOutputParam& param, T label) {
  return IntegerOf<int64_t>(label) == IntegerOf<int64_t>(param.ignore_label);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_BLOCKS_H_
