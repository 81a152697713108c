// Tests float32 products with COOPER_TF32=1 in the environment.

#include "ndarray/cuda/tf32.h"

#include <cstdlib>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/cublas.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

[[maybe_unused]] const int kAllowed = setenv("COOPER_TF32", "1", /*overwrite=*/1);

TEST(Tf32Test, FactorsAreRounded) {
  COOPER_REQUIRE_GPU();
  EXPECT_TRUE(Tf32IsAllowed());
  COOPER_ASSERT_OK_AND_ASSIGN(Cublas * cublas, Cublas::Of(0));
  constexpr int64_t kSize = 16;
  // `a` differs from 1 by a little less than half the distance from 1 to the next TF32 number, so
  // TF32 rounds it to 1.
  const auto full = [](float value) {
    return NDArray::Full({kSize, kSize}, value, DType::kFloat32, Context::Gpu(0));
  };
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray a, full(1 + 0x0.ffp-11F));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray c, full(0x1p-12F));
  const auto pointer = [](const NDArray& array) { return static_cast<float*>(array.raw_data()); };
  COOPER_ASSERT_OK(cublas->Gemm(nullptr, false, false, kSize, kSize, kSize, pointer(a), kSize,
                                pointer(a), kSize, /*add=*/true, pointer(c), kSize));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<float> values, c.ToVector<float>());
  EXPECT_THAT(values, testing::Each(kSize + 0x1p-12F)) << "what is added to is not";
}

}  // namespace
}  // namespace cooper
