// Tests that host memory may be overwritten or freed as soon as a call that copies from it has
// returned. The emulator reads it late unless the call waits.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "cuda_runtime.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/array/recording_queue.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/cuda_queue.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

COOPER_EMULATE(LAZY, "1");
COOPER_EMULATE(PAGEABLE_ACCESS, "1");

using ::testing::Each;
using ::testing::ElementsAre;

const Context kGpu = Context::Gpu(0), kCpu = Context::Cpu();
constexpr int64_t kCount = 1000;

class PageableCopiesTest : public testing::Test {
 protected:
  void SetUp() override {
    COOPER_REQUIRE_GPU();
    COOPER_ASSERT_OK_AND_ASSIGN(queue_, CudaQueue::Create(0));
    COOPER_ASSERT_OK_AND_ASSIGN(there_, NDArray::Zeros({kCount}, DType::kFloat32, kGpu));
  }

  std::unique_ptr<CudaQueue> queue_;
  NDArray there_;
  std::vector<float> values_ = std::vector<float>(kCount, 1);
};

TEST_F(PageableCopiesTest, AQueueHasReadItAtItsReturn) {
  COOPER_ASSERT_OK(queue_->Copy(there_.raw_data(), kGpu, values_.data(), kCpu, 4 * kCount));
  values_.assign(kCount, 2);
  EXPECT_THAT(there_.ToVector<float>(), IsOkAndHolds(Each(1)));
}

TEST_F(PageableCopiesTest, AQueueHasReadPinnedMemoryToo) {
  float* pinned = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, 4 * kCount), cudaSuccess);
  std::fill_n(pinned, kCount, 1.0f);
  COOPER_ASSERT_OK(queue_->Copy(there_.raw_data(), kGpu, pinned, kCpu, 4 * kCount));
  std::fill_n(pinned, kCount, 2.0f);
  EXPECT_THAT(there_.ToVector<float>(), IsOkAndHolds(Each(1)));
  cudaFreeHost(pinned);
}

TEST_F(PageableCopiesTest, ADeviceHasReadItAtItsReturn) {
  COOPER_ASSERT_OK(CopyBytes(there_.raw_data(), kGpu, values_.data(), kCpu, 4 * kCount));
  values_.assign(kCount, 2);
  EXPECT_THAT(there_.ToVector<float>(), IsOkAndHolds(Each(1)));
}

TEST_F(PageableCopiesTest, WordsGoWithTheCall) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray words, NDArray::Zeros({3}, DType::kInt64, kGpu));
  auto* const data = static_cast<uint64_t*>(words.raw_data());
  COOPER_ASSERT_OK(queue_->SetWords(data, 5, uint64_t{1} << 40));
  COOPER_ASSERT_OK(queue_->SetWords(data + 1, 6, 7));
  EXPECT_THAT(words.ToVector<int64_t>(), IsOkAndHolds(ElementsAre(5, 6, 7)));
}

}  // namespace
}  // namespace cooper
