#ifndef COOPER_SYMBOL_OPS_FUSED_PACKED_WEIGHT_PARAM_H_
#define COOPER_SYMBOL_OPS_FUSED_PACKED_WEIGHT_PARAM_H_

// The memory layout of a weight that _packed_weight has packed for convolutions on a CPU. Symbol
// files do not contain the operator: the graph pass of the executor that packs constant weights
// inserts it, so that packing runs once, and the kernels of _fused_convolution read the result. The
// layouts are those that oneDNN's convolutions ask for; winograd_weight_param.h has the other kind.
// The schema, which checks untrusted texts, is in packed_weight.cc.

#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// The weight is an array of `shape`, divided along its first axis into slices of `slice` indices,
// the last of which may be shorter. Each slice is contiguous: its axes are divided into blocks; the
// axes follow each other in the order `outer`, the slowest first, and the elements of a block in
// the order of `block_axes`, each with `block_sizes` indices. An axis may occur several times in
// block_axes. Padding of blocks is 0. A slice takes a multiple of 64 bytes of float32.
//
// Threads that each compute one slice of the filters then read memory of their own.
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

  // Returns the number of indices of `axis` in a block: the product of its block_sizes, 1 if it has
  // none.
  int64_t BlockOf(int64_t axis) const {
    int64_t block = 1;
    for (size_t i = 0; i < block_axes.size(); ++i) {
      if (block_axes[i] == axis) block *= block_sizes[i];
    }
    return block;
  }
  // Returns the number of slices; the last one may be partial.
  int64_t num_slices() const { return (shape[0] + slice - 1) / slice; }
  // Returns the number of elements of a full slice, including padding.
  int64_t slice_elements() const {
    return (unaligned_elements() + kAlignment - 1) / kAlignment * kAlignment;
  }
  // Returns whether the packed weight has the same bytes as one that is packed as a single slice.
  bool slices_are_one() const {
    return outer[0] == 0 && slice % BlockOf(0) == 0 && unaligned_elements() % kAlignment == 0;
  }
  // Returns the number of elements of the packed weight, including padding.
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

#endif  // COOPER_SYMBOL_OPS_FUSED_PACKED_WEIGHT_PARAM_H_
