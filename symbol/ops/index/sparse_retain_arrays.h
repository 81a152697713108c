#ifndef COOPER_SYMBOL_OPS_INDEX_SPARSE_RETAIN_ARRAYS_H_
#define COOPER_SYMBOL_OPS_INDEX_SPARSE_RETAIN_ARRAYS_H_

// Inputs of _sparse_retain (sparse_retain.cc). MXNet: src/operator/tensor/sparse_retain.cc.

namespace cooper {

// data (n, ...), of which the rows named in indices (m,), of any dtype, are kept; the other rows of
// the output are 0. Indices out of range name no row.
struct SparseRetainArrays {
  enum Input { kData, kIndices };
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_INDEX_SPARSE_RETAIN_ARRAYS_H_
