#ifndef COOPER_SYMBOL_OPS_INDEX_INDEX_COPY_ARRAYS_H_
#define COOPER_SYMBOL_OPS_INDEX_INDEX_COPY_ARRAYS_H_

namespace cooper {

struct IndexCopyArrays {
  enum Input { kOldTensor, kIndexVector, kNewTensor };
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_INDEX_INDEX_COPY_ARRAYS_H_
