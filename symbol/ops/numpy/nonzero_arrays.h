#ifndef COOPER_SYMBOL_OPS_NUMPY_NONZERO_ARRAYS_H_
#define COOPER_SYMBOL_OPS_NUMPY_NONZERO_ARRAYS_H_

// Arrays of _npx_nonzero, which lists the positions of elements that are not 0. Their number
// depends on values (symbol/schema/counted_shapes.h). The schema is in nonzero.cc. MXNet:
// src/operator/numpy/np_nonzero_op-inl.h.

namespace cooper {

// Input: x (...) of any dtype. Outputs: the positions, int64 (count, axes of x), in the order of
// the elements; hidden, their shape. A scalar counts as one axis with one element. NaN is not 0.
// No gradient flows.
//
//   x ((0, 1), (1, 1))   gives ((0, 1), (1, 0), (1, 1))
struct NonzeroArrays {
  enum Input { kX };
  enum Output { kPositions, kShapes };
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NUMPY_NONZERO_ARRAYS_H_
