#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_MATCHING_EXTENTS_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_MATCHING_EXTENTS_H_

// The extents of _contrib_bipartite_matching and the rules for one pair, for its kernels of both
// devices.

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/host_device.h"
#include "ndarray/base/shape.h"
#include "symbol/ops/detection/bipartite_matching_param.h"

namespace cooper {

// The extents of scores (images..., rows, columns); the leading axes are merged into `images`.
// Passed to kernels by value. A score belongs to a pair of a row (an object) and a column (an
// anchor); each row and each column has at most one match.
struct MatchingExtents {
  int64_t images, rows, columns;
  int64_t most;  // matches of an image

  MatchingExtents(const BipartiteMatchingParam& param, const Shape& data)
      : images(data.Product(0, data.rank() - 2)),
        rows(data[data.rank() - 2]),
        columns(data[data.rank() - 1]) {
    constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();
    most = param.topk > 0 && param.topk < kUnlimited ? param.topk + 1 : kUnlimited;
  }

  COOPER_HOST_DEVICE int64_t pairs() const { return rows * columns; }

  // Returns kInvalidArgument if int32 does not count all pairs. Kernels sort all pairs of all
  // images at once, by positions of type int32.
  absl::Status Check() const {
    const int64_t limit = std::numeric_limits<int32_t>::max();
    if (images == 0 || pairs() <= limit / images) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("input 'data' has ", images, " times ", pairs(),
                                                   " scores, expected at most 2^31 - 1"));
  }
};

// Returns whether a pair may match. `is_ascend`: small scores are good, as those of distances are.
// NaN never matches.
template <typename T>
COOPER_HOST_DEVICE bool IsMatch(T score, T threshold, bool is_ascend) {
  return is_ascend ? score < threshold : score > threshold;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_DETECTION_MATCHING_EXTENTS_H_
