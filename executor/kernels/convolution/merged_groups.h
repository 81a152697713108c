#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_MERGED_GROUPS_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_MERGED_GROUPS_H_

// Merges groups of a few channels, for which oneDNN has no fast code, into groups of whole blocks.
// The weight of a merged group has zeros between channels and filters of different groups: several
// times as many multiplications, many times as fast. Images and maps keep their layout, so only the
// weight is converted. BlockedProduct::Make uses it, for ResNeXt and similar networks.

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "executor/kernels/convolution/blocked_product.h"
#include "executor/kernels/convolution/convolution_product.h"

namespace cooper {

// Returns how many groups to merge into one whose channels and filters are whole blocks of `block`;
// 1 for no merge: with one group, for depthwise convolutions, which have fast code, if more than 8
// groups would have to merge, or if their number does not divide the number of groups. With 4
// channels and 4 filters per group and blocks of 16 it is 4.
int64_t GroupsToMerge(const ConvolutionProduct& shape, int64_t block);

// Returns `shape` with `count` of its groups merged into each group. `count` divides shape.groups.
ConvolutionProduct MergedGroups(ConvolutionProduct shape, int64_t count);

// Returns the product of `shape` that computes MergedGroups(shape, count) and converts the weight
// in the workspace in each run. The weight is plain: options.packed_weight must be false. For
// kWeight the blocks off the diagonal are computed and dropped. A zero in the weight times an
// infinity or a NaN of another group gives NaN.
//
// Errors: those of BlockedProduct::Make.
absl::StatusOr<std::unique_ptr<const BlockedProduct>> MakeMergedProduct(
    const ConvolutionProduct& shape, int64_t count, const BlockedProduct::Options& options);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_MERGED_GROUPS_H_
