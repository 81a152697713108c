// Compares products of 8-bit integers with sums over the definition: several blocks of rows,
// columns and k, both orders of B, terms, sums that are added, and several numbers of threads.

#include "ndarray/products/gemm_int8.h"

#include <cstdint>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

enum class Terms { kNone, kRows, kColumns };

struct Case {
  int64_t m, n, k;
  bool transpose_b, a_unsigned, add;
  Terms terms;
};

// Runs one case on matrices with unused elements behind each row.
void Check(const Case& t) {
  std::mt19937 random(7);
  const int64_t lda = t.k + 3, ldb = (t.transpose_b ? t.k : t.n) + 2, ldc = t.n + 1;
  std::vector<uint8_t> a(t.m * lda);
  std::vector<int8_t> b((t.transpose_b ? t.n : t.k) * ldb);
  for (uint8_t& x : a) x = static_cast<uint8_t>(random() % 4 == 0 ? 255 : random());
  for (int8_t& x : b) x = static_cast<int8_t>(random() % 4 == 0 ? -128 : random());
  std::vector<int32_t> terms(t.terms == Terms::kRows ? t.m : t.n);
  for (int32_t& x : terms) x = static_cast<int32_t>(random());
  std::vector<int32_t> before(t.m * ldc);
  for (int32_t& x : before) x = static_cast<int32_t>(random());
  std::vector<int32_t> expected = before;
  for (int64_t i = 0; i < t.m; ++i) {
    for (int64_t j = 0; j < t.n; ++j) {
      uint32_t sum = t.add ? static_cast<uint32_t>(before[i * ldc + j]) : 0;
      if (t.terms == Terms::kRows) sum += static_cast<uint32_t>(terms[i]);
      if (t.terms == Terms::kColumns) sum += static_cast<uint32_t>(terms[j]);
      for (int64_t k = 0; k < t.k; ++k) {
        const uint8_t x = a[i * lda + k];
        const int left = t.a_unsigned ? int{x} : int{static_cast<int8_t>(x)};
        sum += static_cast<uint32_t>(left * b[t.transpose_b ? j * ldb + k : k * ldb + j]);
      }
      expected[i * ldc + j] = static_cast<int32_t>(sum);
    }
  }
  const int threads_before = NumThreads();
  for (const int threads : {1, 2, 5}) {
    SetNumThreads(threads);
    std::vector<int32_t> c = before;
    Int8Gemm({.m = t.m,
              .n = t.n,
              .k = t.k,
              .a = a.data(),
              .a_unsigned = t.a_unsigned,
              .lda = lda,
              .b = b.data(),
              .transpose_b = t.transpose_b,
              .ldb = ldb,
              .row_terms = t.terms == Terms::kRows ? terms.data() : nullptr,
              .column_terms = t.terms == Terms::kColumns ? terms.data() : nullptr,
              .add = t.add,
              .c = c.data(),
              .ldc = ldc});
    EXPECT_EQ(c, expected) << threads << " threads";
  }
  SetNumThreads(threads_before);
}

TEST(GemmInt8Test, SumsAreExact) {
  int number = 0;
  for (const int64_t m : {1, 4, 5, 257}) {
    for (const int64_t n : {1, 17, 257}) {
      for (const int64_t k : {0, 1, 512, 513, 1100}) {
        for (const bool transpose_b : {false, true}) {
          const Case c = {.m = m,
                          .n = n,
                          .k = k,
                          .transpose_b = transpose_b,
                          .a_unsigned = number % 2 == 0,
                          .add = number % 3 == 0,
                          .terms = static_cast<Terms>(number / 2 % 3)};
          ++number;
          SCOPED_TRACE(absl::StrCat("m ", m, ", n ", n, ", k ", k, transpose_b ? ", B^T" : ""));
          Check(c);
        }
      }
    }
  }
}

TEST(GemmInt8Test, EmptyProductsWriteNothing) {
  Check({.m = 0, .n = 3, .k = 2, .transpose_b = false, .a_unsigned = false, .add = false});
  Check({.m = 3, .n = 0, .k = 2, .transpose_b = true, .a_unsigned = true, .add = true});
}

}  // namespace
}  // namespace cooper
