#include "ndarray/products/gemm_int8.h"

#include <algorithm>
#include <memory>

#include "ndarray/products/gemm.h"
#include "ndarray/threads/cpu_level.h"
#include "ndarray/threads/parallel.h"
#include "ndarray/threads/profiler.h"

namespace cooper {
namespace {

Int8GemmFn (*registered)() = nullptr;

// The products that are summed as floats, which represent all integers up to 2^24.
constexpr int64_t kDepth = 512;
static_assert(kDepth * 255 * 128 <= int64_t{1} << 24);
// The most rows and columns of a block, whose factors and sums then fit into a core's cache, and
// the least to which a side is cut for more threads.
constexpr int64_t kMaxSide = 256;
constexpr int64_t kMinSide = 16;
// With fewer rows the weights would be converted for too few products.
constexpr int64_t kFewRows = 4;
// The multiplications of a row that a thread computes at least.
constexpr int64_t kGrain = 16384;

// Returns what is added to the sum of an element of C.
uint32_t Start(const Int8Product& p, int64_t row, int64_t column) {
  uint32_t start = p.add ? static_cast<uint32_t>(p.c[row * p.ldc + column]) : 0;
  if (p.row_terms != nullptr) start += static_cast<uint32_t>(p.row_terms[row]);
  if (p.column_terms != nullptr) start += static_cast<uint32_t>(p.column_terms[column]);
  return start;
}

// Computes each element as a dot product of rows of A and of the transposed B.
template <typename T>
void MultiplyRows(const Int8Product& p) {
  const T* const a = static_cast<const T*>(p.a);
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(p.k, 1));
  ParallelFor(p.m * p.n, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i % p.m, column = i / p.m;
      const T* const x = a + row * p.lda;
      const int8_t* const w = p.b + column * p.ldb;
      uint32_t sum = 0;
      for (int64_t k = 0; k < p.k; ++k) {
        sum += static_cast<uint32_t>(int32_t{x[k]} * int32_t{w[k]});
      }
      p.c[row * p.ldc + column] = static_cast<int32_t>(sum + Start(p, row, column));
    }
  });
}

// Converts a matrix of `rows` and `columns` to floats, row after row.
template <typename T>
void ToFloats(const T* from, int64_t rows, int64_t columns, int64_t stride, float* to) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < columns; ++i) to[row * columns + i] = from[row * stride + i];
  }
}

// Writes the sums of a row of C or, unless they are of the first block of k, adds them.
inline void PutSums(const Int8Product& p, int64_t row, bool is_first, const float* sums) {
  int32_t* const c = p.c + row * p.ldc;
  const auto sum = [sums](int64_t i) {
    return static_cast<uint32_t>(static_cast<int32_t>(sums[i]));
  };
  if (!is_first) {
    for (int64_t i = 0; i < p.n; ++i) {
      c[i] = static_cast<int32_t>(static_cast<uint32_t>(c[i]) + sum(i));
    }
  } else if (!p.add && p.column_terms == nullptr) {
    const uint32_t start = Start(p, row, 0);
    for (int64_t i = 0; i < p.n; ++i) c[i] = static_cast<int32_t>(start + sum(i));
  } else {
    for (int64_t i = 0; i < p.n; ++i) c[i] = static_cast<int32_t>(Start(p, row, i) + sum(i));
  }
}

// Computes a product of at most kMaxSide rows and columns.
template <typename T>
void MultiplyBlock(const Int8Product& p) {
  const ScopedProfileFlops none(nullptr);  // Int8Gemm counts them
  const int64_t depth = std::min(p.k, kDepth);
  const auto scratch = std::make_unique_for_overwrite<float[]>((p.m + p.n) * depth + p.m * p.n);
  float* const a = scratch.get();
  float* const b = a + p.m * depth;
  float* const sums = b + p.n * depth;
  for (int64_t begin = 0; begin < p.k; begin += depth) {
    const int64_t k = std::min(depth, p.k - begin);
    RunAtCpuLevel([&] {
      ToFloats(static_cast<const T*>(p.a) + begin, p.m, k, p.lda, a);
      if (p.transpose_b) {
        ToFloats(p.b + begin, p.n, k, p.ldb, b);
      } else {
        ToFloats(p.b + begin * p.ldb, k, p.n, p.ldb, b);
      }
    });
    Gemm(/*transpose_a=*/false, p.transpose_b, p.m, p.n, k, 1.0F, a, k, b, p.transpose_b ? k : p.n,
         0.0F, sums, p.n);
    RunAtCpuLevel([&] {
      for (int64_t row = 0; row < p.m; ++row) PutSums(p, row, begin == 0, sums + row * p.n);
    });
  }
}

// Computes a product in blocks, at least one for each thread if it is large enough.
template <typename T>
void MultiplyFloats(const Int8Product& p) {
  int64_t rows = std::min(p.m, kMaxSide), columns = std::min(p.n, kMaxSide);
  const auto down = [&] { return (p.m + rows - 1) / rows; };
  const auto across = [&] { return (p.n + columns - 1) / columns; };
  while (down() * across() < NumThreads() && std::max(rows, columns) > kMinSide) {
    int64_t& longer = rows > columns ? rows : columns;
    longer = (longer / 2 + kMinSide - 1) / kMinSide * kMinSide;
  }
  ParallelForRanges(down() * across(), 1, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i % down() * rows, column = i / down() * columns;
      MultiplyBlock<T>(
          p.Block(row, std::min(rows, p.m - row), column, std::min(columns, p.n - column)));
    }
  });
}

template <typename T>
void Multiply(const Int8Product& p) {
  if (p.k == 0 || (p.transpose_b && p.m <= kFewRows)) {
    MultiplyRows<T>(p);
  } else {
    MultiplyFloats<T>(p);
  }
}

}  // namespace

Int8Product Int8Product::Block(int64_t row, int64_t rows, int64_t column, int64_t columns) const {
  Int8Product block = *this;
  block.m = rows;
  block.n = columns;
  block.a = static_cast<const uint8_t*>(a) + row * lda;
  block.b += transpose_b ? column * ldb : column;
  block.c += row * ldc + column;
  if (row_terms != nullptr) block.row_terms += row;
  if (column_terms != nullptr) block.column_terms += column;
  return block;
}

void Int8Gemm(const Int8Product& p) {
  if (p.m == 0 || p.n == 0) return;
  AddProfileFlops(2 * p.m * p.n * p.k);
  if (const Int8GemmFn gemm = GetInt8Gemm(); gemm != nullptr && p.k > 0) {
    gemm(p);
  } else if (p.a_unsigned) {
    Multiply<uint8_t>(p);
  } else {
    Multiply<int8_t>(p);
  }
}

Int8GemmFn GetInt8Gemm() { return registered == nullptr ? nullptr : registered(); }

void RegisterInt8Gemm(Int8GemmFn (*get)()) { registered = get; }

}  // namespace cooper
