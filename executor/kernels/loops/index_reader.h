#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_INDEX_READER_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_INDEX_READER_H_

// Reads indices and lengths out of arrays of any dtype, since MXNet's are floats as often as
// integers.

#include <cstdint>

#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"

namespace cooper {

namespace internal_index_reader {

// No member of the class: clang 14 makes none of a member whose address a generic lambda takes.
template <typename T>
int64_t ReadIndex(const void* data, int64_t i) {
  return ConvertElement<int64_t>(static_cast<const T*>(data)[i]);
}

}  // namespace internal_index_reader

class IndexReader {
 public:
  explicit IndexReader(const ArrayView& view)
      : data_(view.data), read_(DispatchDType(view.dtype, [](auto tag) -> ReadFn {
          return &internal_index_reader::ReadIndex<typename decltype(tag)::type>;
        })) {}

  // Element i without its fraction. NaN is the least integer, floats beyond int64 are its ends.
  int64_t operator[](int64_t i) const { return read_(data_, i); }

 private:
  using ReadFn = int64_t (*)(const void*, int64_t);

  const void* data_;
  ReadFn read_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_INDEX_READER_H_
