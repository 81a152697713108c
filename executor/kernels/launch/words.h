#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_WORDS_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_WORDS_H_

// Moves elements as words of 1 to 16 bytes, whatever their dtype: a kernel is compiled for few
// types, and one access moves several adjacent elements. For .cu files: gathers, concatenations,
// padding, one_hot and strided copies. Only kernels that copy bits can use it; kAdd needs the dtype
// (elements.h).
//
//   const int64_t bytes = WordBytes(SizeOf(dtype), {src, dst}, {row_bytes});
//   return DispatchWord(bytes, [&](auto zero) {
//     using Word = decltype(zero);
//     return LaunchElements(c, row_bytes / sizeof(Word), Copy<Word>, ...);
//   });

#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "absl/status/status.h"
#include "cuda_runtime.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// The widest access of a GPU thread, in bytes: that of a uint4 or float4.
inline constexpr int64_t kMaxWordBytes = 16;

// Returns the widest word, in bytes, for memory that begins at `pointers` and consists of runs, or
// has strides, of `bytes` bytes. All of `bytes` are multiples of `element_bytes`, the minimum. The
// result is a power of two from element_bytes, itself a power of two, to 16, that divides each
// address and each of `bytes`. For float16 rows of 6 elements at aligned addresses it is 4: 12
// bytes are a multiple of 4, but not of 8.
inline int64_t WordBytes(int64_t element_bytes, std::initializer_list<const void*> pointers,
                         std::initializer_list<int64_t> bytes) {
  uint64_t bits = 0;
  for (const void* pointer : pointers) bits |= reinterpret_cast<uintptr_t>(pointer);
  for (int64_t distance : bytes) bits |= static_cast<uint64_t>(distance);
  int64_t word = kMaxWordBytes;
  while (word > element_bytes && bits % static_cast<uint64_t>(word) != 0) word /= 2;
  return word;
}

// Calls fn(Word{}) with a type of `bytes` bytes, which is a result of WordBytes, and returns its
// status: an unsigned integer, or uint4 for 16 bytes. `fn` is compiled five times.
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

// Returns a word whose elements all are `value`, converted to `dtype`, for filling memory by words.
// The dtype's size must divide that of Word. Host code.
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

// Returns `value` rounded to `dtype`, as a C, so that a scalar parameter of an operator has the
// precision of its arrays: 2.5 gives 2 for int32, 0.1 gives 0.09997... for float16. RoundToDType
// (element_block.h) is the counterpart for the CPU. Host code.
template <typename C>
C RoundedTo(DType dtype, double value) {
  return DispatchDType(dtype, [&](auto tag) {
    return ConvertElement<C>(ConvertElement<typename decltype(tag)::type>(value));
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_WORDS_H_
