#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_MERGED_GROUPS_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_MERGED_GROUPS_H_

// Groups of a few channels, for which oneDNN has no fast code, put together into groups of whole
// blocks. The weight of such a group has zeros between channels and filters of different groups:
// several times as many multiplications, many times as fast.

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "executor/kernels/convolution/blocked_product.h"
#include "executor/kernels/convolution/convolution_product.h"

namespace cooper {

// How many groups make one whose channels and filters are whole blocks; 1 if none do, or the groups
// are better left alone.
int64_t GroupsToMerge(const ConvolutionProduct& shape, int64_t block);

// `shape` with `count` of its groups in each.
ConvolutionProduct MergedGroups(ConvolutionProduct shape, int64_t count);

// The product of `shape` by one of MergedGroups(shape, count), which it makes.
absl::StatusOr<std::unique_ptr<const BlockedProduct>> MakeMergedProduct(
    const ConvolutionProduct& shape, int64_t count, const BlockedProduct::Options& options);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_MERGED_GROUPS_H_
