#ifndef COOPER_EXECUTOR_KERNELS_NORM_NORM_SETS_H_
#define COOPER_EXECUTOR_KERNELS_NORM_NORM_SETS_H_

// The sets of elements that LayerNorm, GroupNorm and InstanceNorm normalize on the CPU.

#include <cstdint>

namespace cooper {

// The extents of data viewed as (outer, n, inner): each of the outer * inner sets of n elements,
// `inner` apart, is normalized. The index into gamma is the position in the set (LayerNorm), or the
// set modulo `groups`, and inner is then 1.
struct NormSets {
  int64_t outer, n, inner;
  int64_t groups;  // 0: gamma goes along the set
  double eps;

  int64_t count() const { return outer * inner; }
  // Returns the position of a set's first element in the data.
  int64_t Begin(int64_t set) const { return set / inner * n * inner + set % inner; }
};

// The sums for the gradients of gamma and beta, with an element for each position of a set or for
// each group.
template <typename C>
struct GammaSums {
  C* gamma;
  C* beta;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_NORM_NORM_SETS_H_
