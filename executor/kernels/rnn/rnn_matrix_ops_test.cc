#include "executor/kernels/rnn/rnn_matrix_ops.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "ndarray/threads/each_cpu_level.h"

namespace cooper {
namespace {

// Tests blocks of four by four with remainders on both sides; elements outside stay unchanged.
template <typename T>
void ExpectTransposed(int64_t rows, int64_t columns, int64_t out_stride) {
  SCOPED_TRACE(testing::Message() << rows << " x " << columns << " to rows of " << out_stride);
  std::vector<T> in(rows * columns), out(columns * out_stride, T(-1));
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(i);
  TransposeInto(in.data(), rows, columns, out.data(), out_stride);
  for (int64_t j = 0; j < columns; ++j) {
    for (int64_t i = 0; i < out_stride; ++i) {
      EXPECT_EQ(out[j * out_stride + i], i < rows ? in[i * columns + j] : T(-1)) << i << ", " << j;
    }
  }
}

TEST(TransposeIntoTest, AnyExtents) {
  ForEachCpuLevel([] {
    for (const int64_t rows : {0, 1, 3, 4, 7, 32, 33, 70}) {
      for (const int64_t columns : {0, 1, 3, 4, 7, 32, 33, 70}) {
        for (const int64_t more : {0, 1, 16}) {
          ExpectTransposed<float>(rows, columns, rows + more);
          ExpectTransposed<double>(rows, columns, rows + more);
        }
      }
    }
  });
}

}  // namespace
}  // namespace cooper
