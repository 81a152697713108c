#ifndef COOPER_SYMBOL_OPS_INDEX_INDEX_COPY_ARRAYS_H_
#define COOPER_SYMBOL_OPS_INDEX_INDEX_COPY_ARRAYS_H_

// Arrays of _contrib_index_copy, which replaces rows of an array. The schema is in index_copy.cc.
// MXNet: src/operator/contrib/index_copy.cc.

namespace cooper {

// Inputs: old_tensor (n, ...), index_vector (rows,), new_tensor (rows, ...) with rows <= n. The
// output is old_tensor with row i of new_tensor at position index_vector[i]; among equal positions
// the last one is kept. The output may overwrite old_tensor. index_vector may have any dtype; on a
// CPU a position out of range fails with kInvalidArgument.
//
// The gradient of a replaced row goes to new_tensor, that of the other rows to old_tensor.
struct IndexCopyArrays {
  enum Input { kOldTensor, kIndexVector, kNewTensor };
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_INDEX_INDEX_COPY_ARRAYS_H_
