#include "tests/cuda/saxpy.h"

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "cuda_runtime.h"
#include "gtest/gtest.h"
#include "ndarray/cuda/dynload.h"

namespace cooper {
namespace {

TEST(SaxpyTest, RunsOnTheDevice) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    GTEST_SKIP() << "no GPU: " << cudaGetErrorString(cudaGetLastError());
  }
  const std::vector<float> x(1000, 2.0f);
  std::vector<float> y(1000, 1.0f);
  ASSERT_EQ(Saxpy(3.0f, x, absl::MakeSpan(y)), cudaSuccess);
  EXPECT_EQ(y, std::vector<float>(1000, 7.0f));
}

TEST(DynloadTest, FindsNothingUnderAWrongName) {
  EXPECT_EQ(LoadCudaLibrary("libcooper_has_no_such_library.so.1"), nullptr);
  EXPECT_EQ(CudaSymbol("libcooper_has_no_such_library.so.1", "cudnnGetVersion"), nullptr);
}

TEST(DynloadTest, CudnnTellsItsVersion) {
  if (LoadCudaLibrary("libcudnn.so.9") == nullptr) GTEST_SKIP() << "no libcudnn.so.9";
  const auto version =
      reinterpret_cast<size_t (*)()>(CudaSymbol("libcudnn.so.9", "cudnnGetVersion"));
  ASSERT_NE(version, nullptr);
  EXPECT_GE(version(), 90000u);
}

}  // namespace
}  // namespace cooper
