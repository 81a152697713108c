#include "ndarray/cuda/cusolver.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/cublas.h"
#include "ndarray/cuda/dynload.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kNoInt = int64_t{1} << 31;

// Tests only that the library is found; the tests of the kernels in executor/kernels/linalg check
// results.
TEST(CusolverTest, IsFoundWhereItIsInstalled) {
  if (LoadCudaLibrary("libcusolver.so.12") == nullptr) GTEST_SKIP() << "no libcusolver.so.12";
  COOPER_EXPECT_OK(Cusolver::CheckInstalled());
}

TEST(CusolverTest, NeedsADevice) {
  EXPECT_THAT(Cusolver::Of(1 << 20),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("gpu(1048576)")));
}

TEST(CusolverTest, RefusesWhatIsNoInt) {
  COOPER_REQUIRE_GPU();
  COOPER_ASSERT_OK_AND_ASSIGN(Cusolver * solver, Cusolver::Of(0));
  COOPER_ASSERT_OK_AND_ASSIGN(Cublas * cublas, Cublas::Of(0));
  const auto refused = StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("2147483648"));
  EXPECT_THAT(solver->CholeskyBytes(DType::kFloat32, kNoInt), refused);
  EXPECT_THAT(solver->LuBytes(DType::kFloat64, kNoInt), refused);
  EXPECT_THAT(solver->Cholesky(nullptr, DType::kFloat32, kNoInt, nullptr, nullptr, 0, nullptr),
              refused);
  EXPECT_THAT(solver->CholeskyBatched(nullptr, DType::kFloat32, kNoInt, 2, nullptr, nullptr),
              refused);
  EXPECT_THAT(
      solver->FactorLu(nullptr, DType::kFloat32, kNoInt, nullptr, nullptr, nullptr, nullptr),
      refused);
  for (const auto& [rows, n] : {std::pair(kNoInt, int64_t{2}), std::pair(int64_t{2}, kNoInt)}) {
    EXPECT_THAT(solver->SolveLu(nullptr, DType::kFloat32, false, rows, n, nullptr, nullptr, nullptr,
                                nullptr),
                refused);
    EXPECT_THAT(cublas->SolveLuBatched(nullptr, DType::kFloat32, false, 2, rows, n, nullptr,
                                       nullptr, nullptr),
                refused);
  }
  EXPECT_THAT(
      cublas->FactorLuBatched(nullptr, DType::kFloat32, 2, kNoInt, nullptr, nullptr, nullptr),
      refused);
}

}  // namespace
}  // namespace cooper
