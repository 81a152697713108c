// Tests that kernels give a GPU's results without a sanitizer report.

#include "tests/cuda_emulator/host/tests/kernels.h"

#include <cstdlib>
#include <numeric>
#include <vector>

#include "cuda_runtime.h"
#include "gtest/gtest.h"

namespace cooper {
namespace {

// An array in device memory.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& values) : size_(values.size()) {
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice), cudaSuccess);
  }
  ~DeviceArray() { EXPECT_EQ(cudaFree(data_), cudaSuccess); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return data_; }
  std::vector<T> ToVector() const {
    std::vector<T> values(size_);
    EXPECT_EQ(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost), cudaSuccess);
    return values;
  }

 private:
  size_t bytes() const { return size_ * sizeof(T); }

  T* data_ = nullptr;
  size_t size_;
};

TEST(HostKernelsTest, BlocksAddInSharedMemory) {
  std::vector<int> values(5000);
  std::iota(values.begin(), values.end(), -1000);
  const int expected = std::accumulate(values.begin(), values.end(), 0);
  const DeviceArray<int> x(values);
  for (const bool dynamic : {false, true}) {
    const DeviceArray<int> sum({7});
    ASSERT_EQ(AddSum(/*blocks=*/5, 5000, dynamic, x.data(), sum.data()), cudaSuccess);
    EXPECT_EQ(sum.ToVector()[0], 7 + expected) << (dynamic ? "dynamic" : "static");
  }
}

TEST(HostKernelsTest, LanesOfAWarpExchange) {
  constexpr int kThreads = 64;
  const DeviceArray<WarpResults> out((std::vector<WarpResults>(kThreads)));
  ASSERT_EQ(CallWarp(kThreads, out.data()), cudaSuccess);
  const std::vector<WarpResults> results = out.ToVector();
  for (int t = 0; t < kThreads; ++t) {
    const WarpResults& r = results[t];
    EXPECT_EQ(r.indexed, t / 8 * 8 + 3) << t;
    EXPECT_EQ(r.up, t % 16 < 2 ? t : t - 2) << t;
    EXPECT_EQ(r.down, t % 32 == 31 ? t : t + 1) << t;
    EXPECT_EQ(r.exchange, t ^ 1) << t;
    EXPECT_EQ(r.odd, 0xAAAAAAAAu) << t;
    EXPECT_EQ(r.any, t < 32 ? 0 : 1) << t;
    EXPECT_EQ(r.all, 1) << t;
  }
}

TEST(HostKernelsTest, LastWarpMayBeShort) {
  constexpr int kThreads = 33;
  const DeviceArray<WarpResults> out((std::vector<WarpResults>(kThreads)));
  ASSERT_EQ(CallWarp(kThreads, out.data()), cudaSuccess);
  EXPECT_EQ(out.ToVector()[30].exchange, 31);
}

TEST(HostKernelsTest, AtomicsLoseNothing) {
  const DeviceArray<unsigned> out({0, 1000, 0, 0, 0});
  ASSERT_EQ(CallAtomics(/*blocks=*/3, /*threads=*/100, out.data()), cudaSuccess);
  const std::vector<unsigned> results = out.ToVector();
  EXPECT_EQ(results[0], 300u);
  EXPECT_EQ(results[1], 0u);
  EXPECT_EQ(results[2], 299u);
  unsigned expected = 0;
  for (unsigned number = 0; number < 300; ++number) expected ^= number;
  EXPECT_EQ(results[3] ^ results[4], expected);
}

TEST(HostKernelsTest, IndicesHaveThreeDimensions) {
  const dim3 grid(3, 2, 2), block(4, 3, 2);
  const DeviceArray<Indices> out(std::vector<Indices>(12 * 24));
  ASSERT_EQ(WriteIndices(grid, block, out.data()), cudaSuccess);
  const std::vector<Indices> results = out.ToVector();
  for (unsigned i = 0; i < results.size(); ++i) {
    const Indices& r = results[i];
    const unsigned thread = i % 24, number = i / 24;
    EXPECT_EQ(r.thread[0], thread % 4) << i;
    EXPECT_EQ(r.thread[1], thread / 4 % 3) << i;
    EXPECT_EQ(r.thread[2], thread / 12) << i;
    EXPECT_EQ(r.block[0], number % 3) << i;
    EXPECT_EQ(r.block[1], number / 3 % 2) << i;
    EXPECT_EQ(r.block[2], number / 6) << i;
    EXPECT_EQ(r.block_shape[1], 3u) << i;
    EXPECT_EQ(r.grid_shape[2], 2u) << i;
  }
}

}  // namespace
}  // namespace cooper
