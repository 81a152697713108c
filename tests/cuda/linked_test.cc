#include <cstddef>

#include "cublas_v2.h"
#include "cuda_runtime.h"
#include "cudnn.h"
#include "gtest/gtest.h"
#include "nccl.h"

namespace {

TEST(LinkedTest, LibrariesAreThoseOfTheHeaders) {
  EXPECT_EQ(cudnnGetVersion() / 10000, size_t{CUDNN_MAJOR});
  int nccl_version = 0;
  EXPECT_EQ(ncclGetVersion(&nccl_version), ncclSuccess);
  EXPECT_EQ(nccl_version / 10000, NCCL_MAJOR);
  size_t cublas_major = cublasGetCudartVersion() / 1000;
  EXPECT_EQ(cublas_major, size_t{CUDART_VERSION / 1000});
}

TEST(LinkedTest, CublasGivesAHandle) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    GTEST_SKIP() << "no GPU: " << cudaGetErrorString(cudaGetLastError());
  }
  cublasHandle_t handle;
  ASSERT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasDestroy(handle), CUBLAS_STATUS_SUCCESS);
}

}  // namespace
