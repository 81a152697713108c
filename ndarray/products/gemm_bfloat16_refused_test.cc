// Tests a processor without bfloat16 products, which oneDNN is configured to assume.

#include <cstdlib>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/products/gemm.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

TEST(GemmBfloat16RefusedTest, ProductsStayInFloat32) {
  ASSERT_EQ(setenv("ONEDNN_MAX_CPU_ISA", "AVX2", /*overwrite=*/1), 0);  // oneDNN reads it once
  EXPECT_THAT(SetGemmPrecision(GemmPrecision::kBfloat16),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("AVX-512 BF16 or AMX")));
  EXPECT_EQ(GetGemmPrecision(), GemmPrecision::kFloat32);
  COOPER_EXPECT_OK(SetGemmPrecision(GemmPrecision::kFloat32));
}

}  // namespace
}  // namespace cooper
