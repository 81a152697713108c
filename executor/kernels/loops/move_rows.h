#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_MOVE_ROWS_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_MOVE_ROWS_H_

// Moves rows between arrays of one dtype, with a function from the number of a move to its source
// and destination rows: gathers, and scatters to distinct places. For .cu files: take, gather_nd,
// one_hot, pad, sequence operators and sorting. Moves that strides describe, such as slices and
// transpositions, use strided_copy_cuda.h.
//
//   struct Reversed {  // dst[i] = src[n - 1 - i]
//     int64_t n;
//     __device__ RowMove operator()(int64_t i) const { return {n - 1 - i, i}; }
//   };
//   return MoveRows(c, n, inner, Reversed{n}, dtype, WriteReq::kWrite, src, dst);

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/launch/words.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// Indices or lengths of any dtype, converted as executor/kernels/loops/index_reader.h does. Passed
// to kernels by value. Does not own the device memory.
struct DeviceIndices {
  const void* data = nullptr;
  DType dtype = DType::kFloat32;

  DeviceIndices() = default;
  explicit DeviceIndices(const ArrayView& view) : data(view.data), dtype(view.dtype) {}

  // Returns element i, truncated to an integer. The value is not checked.
  __device__ int64_t operator[](int64_t i) const { return LoadElement<int64_t>(data, dtype, i); }
};

// Row numbers of a move, in rows of `inner` elements. A negative `from` stands for the fill value;
// a negative `to` skips the row.
struct RowMove {
  int64_t from, to;
};

// Writes rows as words of several elements. `inner` is in words, `fill` is a word of fill elements
// (WordOf). For kWrite.
template <typename Word, typename Map>
__global__ void MoveRowWords(int64_t rows, int64_t inner, const Map map, const Word* src, Word fill,
                             Word* dst) {
  for (int64_t i = FirstElement(); i < rows * inner; i += ElementStep()) {
    const int64_t row = i / inner, column = i - row * inner;
    const RowMove move = map(row);
    if (move.to < 0) continue;
    dst[move.to * inner + column] = move.from < 0 ? fill : src[move.from * inner + column];
  }
}

// Adds rows element by element, in the compute type C. `inner` is in elements. For kAdd.
template <typename C, typename Map>
__global__ void AddRowElements(int64_t rows, int64_t inner, const Map map, DType dtype,
                               const void* src, C fill, void* dst) {
  for (int64_t i = FirstElement(); i < rows * inner; i += ElementStep()) {
    const int64_t row = i / inner, column = i - row * inner;
    const RowMove move = map(row);
    if (move.to < 0) continue;
    const C value = move.from < 0 ? fill : LoadElement<C>(src, dtype, move.from * inner + column);
    StoreElement(dst, dtype, move.to * inner + column, value, /*add=*/true);
  }
}

// Queues dst[to] = or += src[from], for rows of `inner` elements, where {from, to} = map(i) for i
// in [0, rows). Map is a function object with a __device__ operator() that returns a RowMove; it is
// passed to the device by value, and called once for each word or element of a row, so it should be
// cheap. `src` and `dst` are device pointers and may be the same array if every row keeps its
// place. Rows of `dst` that no move names stay unchanged.
//
// No two moves may have the same `to`: the additions are not atomic. `fill` is rounded to `dtype`.
// Row numbers are not checked. One launch; nothing with kNull. Errors: those of Launch.
template <typename Map>
absl::Status MoveRows(const KernelContext& c, int64_t rows, int64_t inner, const Map& map,
                      DType dtype, WriteReq req, const void* src, void* dst, double fill = 0) {
  if (req == WriteReq::kNull || rows * inner == 0) return absl::OkStatus();
  if (req == WriteReq::kAdd) {
    return DispatchCompute(dtype, /*exact_integers=*/true, [&](auto zero) {
      using C = decltype(zero);
      return LaunchElements(c, rows * inner, AddRowElements<C, Map>, rows, inner, map, dtype, src,
                            RoundedTo<C>(dtype, fill), dst);
    });
  }
  const int64_t size = SizeOf(dtype);
  return DispatchWord(WordBytes(size, {src, dst}, {inner * size}), [&](auto zero) {
    using Word = decltype(zero);
    const int64_t words = inner * size / static_cast<int64_t>(sizeof(Word));
    return LaunchElements(c, rows * words, MoveRowWords<Word, Map>, rows, words, map,
                          static_cast<const Word*>(src), WordOf<Word>(fill, dtype),
                          static_cast<Word*>(dst));
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_MOVE_ROWS_H_
