#ifndef COOPER_SYMBOL_OPS_NN_PACKED_WEIGHT_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_PACKED_WEIGHT_PARAM_H_

// How a weight lies in memory when it has been packed for convolutions: what _packed_weight makes.

#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// The weight is seen as an array of `shape`, and cut along its first axis into slices of `slice`
// indices, of which the last may be shorter. Each slice lies apart: its axes are cut into blocks,
// the axes then follow each other in the order `outer`, the slowest first, and the elements of a
// block in the order of `block_axes`, an axis of `block_sizes` indices at a time. What blocks have
// beyond the extents is 0. A slice takes a multiple of 64 bytes of float32.
struct PackedWeightParam {
  std::vector<int64_t> shape;
  int64_t slice = 1;
  std::vector<int64_t> outer;
  std::vector<int64_t> block_axes;
  std::vector<int64_t> block_sizes;

  bool operator==(const PackedWeightParam&) const = default;

  static void Declare(ParamDeclaration<PackedWeightParam>& d) {
    d.Field("shape", &PackedWeightParam::shape).Required().Doc("extents of the weight");
    d.Field("slice", &PackedWeightParam::slice)
        .Min(1)
        .Doc("indices of the first axis that lie together");
    d.Field("outer", &PackedWeightParam::outer).Required().Doc("order of the axes, slowest first");
    d.Field("block_axes", &PackedWeightParam::block_axes).Doc("axes of a block, slowest first");
    d.Field("block_sizes", &PackedWeightParam::block_sizes).Doc("how many indices of each");
  }

  // How many indices of `axis` a block has.
  int64_t BlockOf(int64_t axis) const {
    int64_t block = 1;
    for (size_t i = 0; i < block_axes.size(); ++i) {
      if (block_axes[i] == axis) block *= block_sizes[i];
    }
    return block;
  }
  int64_t num_slices() const { return (shape[0] + slice - 1) / slice; }
  // Elements that a whole slice takes.
  int64_t slice_elements() const {
    return (unaligned_elements() + kAlignment - 1) / kAlignment * kAlignment;
  }
  // Whether the slices lie behind each other as all indices in one slice would.
  bool slices_are_one() const {
    return outer[0] == 0 && slice % BlockOf(0) == 0 && unaligned_elements() % kAlignment == 0;
  }
  // Of the whole, as it is packed.
  int64_t num_elements() const { return num_slices() * slice_elements(); }

 private:
  static constexpr int64_t kAlignment = 16;

  int64_t unaligned_elements() const {
    int64_t elements = 1;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const int64_t extent = axis == 0 && slice < shape[0] ? slice : shape[axis];
      const int64_t block = BlockOf(static_cast<int64_t>(axis));
      elements *= (extent + block - 1) / block * block;
    }
    return elements;
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_PACKED_WEIGHT_PARAM_H_
