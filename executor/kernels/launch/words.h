#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_WORDS_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_WORDS_H_

// Moves elements as words of 1 to 16 bytes, whatever their dtype: a kernel is compiled for few
// types, and one access moves several adjacent elements. For .cu files.

#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "absl/status/status.h"
#include "cuda_runtime.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// The widest access of a GPU.
inline constexpr int64_t kMaxWordBytes = 16;

// Returns the widest word, in bytes, for memory that begins at `pointers` and consists of runs, or
// has strides, of `bytes` bytes. All of `bytes` are multiples of `element_bytes`, the minimum.
inline int64_t WordBytes(int64_t element_bytes, std::initializer_list<const void*> pointers,
                         std::initializer_list<int64_t> bytes) {
  uint64_t bits = 0;
  for (const void* pointer : pointers) bits |= reinterpret_cast<uintptr_t>(pointer);
  for (int64_t distance : bytes) bits |= static_cast<uint64_t>(distance);
  int64_t word = kMaxWordBytes;
  while (word > element_bytes && bits % static_cast<uint64_t>(word) != 0) word /= 2;
  return word;
}

// Calls fn(Word{}) with a type of `bytes` bytes and returns its status.
template <typename Fn>
absl::Status DispatchWord(int64_t bytes, Fn&& fn) {
  switch (bytes) {
    case 1:
      return fn(uint8_t{0});
    case 2:
      return fn(uint16_t{0});
    case 4:
      return fn(uint32_t{0});
    case 8:
      return fn(uint64_t{0});
    default:
      return fn(uint4{});
  }
}

// Returns a word whose elements all are `value`, converted to `dtype`.
template <typename Word>
Word WordOf(double value, DType dtype) {
  Word word;
  char bytes[kMaxWordBytes];
  DispatchDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T element = ConvertElement<T>(value);
    for (size_t at = 0; at < sizeof(bytes); at += sizeof(T)) {
      std::memcpy(bytes + at, &element, sizeof(T));
    }
  });
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// Returns `value` rounded to `dtype`.
template <typename C>
C RoundedTo(DType dtype, double value) {
  return DispatchDType(dtype, [&](auto tag) {
    return ConvertElement<C>(ConvertElement<typename decltype(tag)::type>(value));
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_WORDS_H_
