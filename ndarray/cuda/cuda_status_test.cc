#include "ndarray/cuda/cuda_status.h"

#include "absl/status/status.h"
#include "cuda_runtime.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(CudaStatusTest, KeepsCudasWords) {
  COOPER_EXPECT_OK(CudaStatus(cudaSuccess, "cudaMalloc"));
  EXPECT_THAT(CudaStatus(cudaErrorMemoryAllocation, "cudaMalloc"),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("cudaMalloc: cudaErrorMemoryAllocation: out of memory")));
  EXPECT_THAT(CudaStatus(cudaErrorInvalidDevice, "cudaSetDevice(7)"),
              StatusIs(absl::StatusCode::kInternal,
                       AllOf(HasSubstr("cudaSetDevice(7)"), HasSubstr("cudaErrorInvalidDevice"))));
}

TEST(CudaStatusTest, ForgetsTheErrorThatItReports) {
  COOPER_REQUIRE_GPU();  // without a driver, asking for the last error is the next error
  const cudaError_t error = cudaSetDevice(1 << 20);
  ASSERT_NE(error, cudaSuccess);
  EXPECT_NE(cudaPeekAtLastError(), cudaSuccess);
  EXPECT_FALSE(CudaStatus(error, "cudaSetDevice").ok());
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

}  // namespace
}  // namespace cooper
