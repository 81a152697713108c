#ifndef COOPER_SYMBOL_OPS_INDEX_INDEX_COPY_ARRAYS_H_
#define COOPER_SYMBOL_OPS_INDEX_INDEX_COPY_ARRAYS_H_

namespace cooper {

// Inputs: old_tensor (n, ...), index_vector (rows,), new_tensor (rows, ...) with rows <= n.
struct IndexCopyArrays {
  enum Input { kOldTensor, kIndexVector, kNewTensor };
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_INDEX_INDEX_COPY_ARRAYS_H_
