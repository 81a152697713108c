#include "ndarray/cuda/device_scope.h"

#include "absl/status/status.h"
#include "cuda_runtime.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

COOPER_EMULATE(DEVICES, "3");

using ::testing::Each;
using ::testing::HasSubstr;

int CurrentDevice() {
  int current = -1;
  EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
  return current;
}

// A single test, since a process cannot undo its use of a device.
TEST(CudaDeviceScopeTest, GoesBackToDevicesThatAreInUse) {
  COOPER_REQUIRE_GPUS(2);
  EXPECT_EQ(CurrentDevice(), 0);
  EXPECT_FALSE(HasCudaContext(0));
  EXPECT_FALSE(HasCudaContext(1));
  // Simulates a program that works on another device.
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray array,
                              NDArray::Full({5}, 2, DType::kFloat32, Context::Gpu(1)));
  EXPECT_THAT(*array.ToVector<float>(), Each(2));
  EXPECT_TRUE(HasCudaContext(1));
  EXPECT_FALSE(HasCudaContext(0));
  EXPECT_EQ(CurrentDevice(), 1);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_TRUE(HasCudaContext(0));
  {
    const CudaDeviceScope scope(1);
    COOPER_EXPECT_OK(scope.status());
    EXPECT_EQ(CurrentDevice(), 1);
    const CudaDeviceScope same(1);
    COOPER_EXPECT_OK(same.status());
  }
  EXPECT_EQ(CurrentDevice(), 0);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST(CudaDeviceScopeTest, SaysWhichDeviceThereIsNot) {
  COOPER_REQUIRE_GPU();
  EXPECT_THAT(CudaDeviceScope(1 << 20).status(),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("cudaSetDevice(1048576)")));
  COOPER_EXPECT_OK(CudaDeviceScope(0).status());
}

}  // namespace
}  // namespace cooper
