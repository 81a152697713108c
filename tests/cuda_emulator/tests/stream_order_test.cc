// Tests the order of unordered work in several streams with an odd seed: the oldest stream runs
// first, whether or not streams block.

#include <cstdlib>
#include <vector>

#include "cuda_runtime.h"
#include "gtest/gtest.h"
#include "tests/cuda_emulator/tests/runtime_kernels.h"

namespace cooper {
namespace {

[[maybe_unused]] const bool kSet = [] {
  setenv("COOPER_CUDA_EMULATOR_LAZY", "1", 1);
  setenv("COOPER_CUDA_EMULATOR_SEED", "1", 1);
  return true;
}();

TEST(StreamOrderTest, AnOddSeedBeginsWithTheOldestStream) {
  float* x = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&x), sizeof(float)), cudaSuccess);
  ASSERT_EQ(cudaMemset(x, 0, sizeof(float)), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::vector<cudaStream_t> streams;
  float digit = 0;
  for (const unsigned flags : {cudaStreamNonBlocking, cudaStreamDefault, cudaStreamNonBlocking}) {
    cudaStream_t& stream = streams.emplace_back();
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, flags), cudaSuccess);
    LaunchScale(1, 10, ++digit, x, stream);  // appends another digit
  }
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  float digits = 0;
  ASSERT_EQ(cudaMemcpy(&digits, x, sizeof(float), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(digits, 123);
  for (cudaStream_t stream : streams) EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaFree(x), cudaSuccess);
}

}  // namespace
}  // namespace cooper
