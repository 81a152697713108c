#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_MERGED_GROUPS_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_MERGED_GROUPS_H_

// Merges groups of a few channels, for which oneDNN has no fast code, into groups of whole blocks.
// The weight of a merged group has zeros between channels and filters of different groups: several
// times as many multiplications, many times as fast.

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "executor/kernels/convolution/blocked_product.h"
#include "executor/kernels/convolution/convolution_product.h"

namespace cooper {

// Returns how many groups to merge into one whose channels and filters are whole blocks; 1 for no
// merge.
int64_t GroupsToMerge(const ConvolutionProduct& shape, int64_t block);

// Returns `shape` with `count` of its groups merged into each group.
ConvolutionProduct MergedGroups(ConvolutionProduct shape, int64_t count);

// Returns the product of `shape` that computes MergedGroups(shape, count) and converts the weight.
absl::StatusOr<std::unique_ptr<const BlockedProduct>> MakeMergedProduct(
    const ConvolutionProduct& shape, int64_t count, const BlockedProduct::Options& options);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_MERGED_GROUPS_H_
