// Tests the reductions that the module layer runs on arrays on a GPU, without copying them.

#include <cmath>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/parameters/finite.h"
#include "module/parameters/gradient_norm.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

TEST(ReductionsOnGpuTest, FindWhatIsNotFinite) {
  COOPER_REQUIRE_GPU();
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBfloat16}) {
    SCOPED_TRACE(DTypeName(dtype));
    const NDArray array = *NDArray::Full({5003}, 65504, dtype, Context::Gpu(0));
    EXPECT_THAT(IsFinite(array), IsOkAndHolds(true));
    for (const double value : {std::nan(""), -std::numeric_limits<double>::infinity()}) {
      for (const int64_t at : {0, 2500, 5002}) {
        const NDArray copy = *array.Copy();
        COOPER_ASSERT_OK(copy.Slice(at, at + 1)->Fill(value));
        EXPECT_THAT(IsFinite(copy), IsOkAndHolds(false)) << value << " at " << at;
      }
    }
  }
}

// Covers several arrays, some on other devices, and one whose sum exceeds float.
TEST(ReductionsOnGpuTest, NormsAreTheCpus) {
  COOPER_REQUIRE_GPU();
  const auto full = [](int64_t size, double value, Context context) {
    return *NDArray::Full({size}, value, DType::kFloat32, context);
  };
  const Context cpu = Context::Cpu(), gpu = Context::Gpu(0);
  const auto expect_norm = [](const std::vector<NDArray>& arrays, double expected) {
    COOPER_ASSERT_OK_AND_ASSIGN(const double norm, GlobalNorm(arrays));
    EXPECT_NEAR(norm, expected, 1e-6 * expected);
  };
  expect_norm({full(5000, 3, gpu), full(7, 4, gpu)}, std::sqrt(5000 * 9 + 7 * 16));
  expect_norm({full(5000, 3, gpu), full(7, 4, cpu)}, std::sqrt(5000 * 9 + 7 * 16));
  expect_norm({full(4, 1e30F, gpu)}, 2 * static_cast<double>(1e30F));
}

}  // namespace
}  // namespace cooper
