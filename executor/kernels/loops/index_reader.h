#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_INDEX_READER_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_INDEX_READER_H_

// Reads indices and lengths from arrays of any dtype; in MXNet they are often floats. For the CPU
// kernels of take, gather_nd, sequences and sorting; DeviceIndices (move_rows.h) is for the GPU.

#include <cstdint>

#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"

namespace cooper {

namespace internal_index_reader {

// Returns element i of an array of T, converted by ConvertElement. Not a member of the class: clang
// 14 does not emit a member whose address is only taken in a generic lambda.
template <typename T>
int64_t ReadIndex(const void* data, int64_t i) {
  return ConvertElement<int64_t>(static_cast<const T*>(data)[i]);
}

}  // namespace internal_index_reader

// Reads an array of indices as int64_t. References the array's data, which must stay valid.
// Thread-safe. The dtype is resolved once, in the constructor; each read is an indirect call.
class IndexReader {
 public:
  explicit IndexReader(const ArrayView& view)
      : data_(view.data), read_(DispatchDType(view.dtype, [](auto tag) -> ReadFn {
          return &internal_index_reader::ReadIndex<typename decltype(tag)::type>;
        })) {}

  // Returns element i, truncated. NaN gives the least int64_t, floats beyond its range give its
  // limits. Neither i nor the value is checked: the kernel compares the value with the extent of
  // its axis.
  int64_t operator[](int64_t i) const { return read_(data_, i); }

 private:
  using ReadFn = int64_t (*)(const void*, int64_t);

  const void* data_;
  ReadFn read_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_INDEX_READER_H_
