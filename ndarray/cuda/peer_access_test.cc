#include "ndarray/cuda/peer_access.h"

#include "cuda_runtime.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/array/queue_of.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/device_scope.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

COOPER_EMULATE(DEVICES, "3");

using ::testing::ElementsAre;

bool CanReach(int device_id, int peer_id) {
  int can = 0;
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, device_id, peer_id), cudaSuccess);
  return can != 0;
}

// Returns CUDA's status of enabling access from `device_id` to the memory of `peer_id`.
cudaError_t Enable(int device_id, int peer_id) {
  const CudaDeviceScope scope(device_id);
  const cudaError_t error = cudaDeviceEnablePeerAccess(peer_id, 0);
  cudaGetLastError();
  return error;
}

NDArray On(int device_id, float value) {
  return *NDArray::Full({2}, value, DType::kFloat32, Context::Gpu(device_id));
}

TEST(PeerAccessTest, TheFirstCopyBetweenTwoDevicesEnablesIt) {
  COOPER_REQUIRE_GPUS(3);
  if (!CanReach(0, 1) || !CanReach(1, 0)) GTEST_SKIP() << "these two cannot reach each other";
  const NDArray from = On(0, 5), to = On(1, 0);
  COOPER_ASSERT_OK_AND_ASSIGN(DeviceQueue * queue, GetQueue(to.context()));
  COOPER_ASSERT_OK_AND_ASSIGN(DeviceQueue * source, GetQueue(from.context()));
  COOPER_ASSERT_OK(queue->WaitFor(*source));
  COOPER_ASSERT_OK(
      queue->Copy(to.raw_data(), to.context(), from.raw_data(), from.context(), from.size_bytes()));
  EXPECT_THAT(to.ToVector<float>(), IsOkAndHolds(ElementsAre(5, 5)));
  EXPECT_EQ(Enable(0, 1), cudaErrorPeerAccessAlreadyEnabled);
  EXPECT_EQ(Enable(1, 0), cudaErrorPeerAccessAlreadyEnabled);
}

// Tests that it is no error if the program has enabled peer access already, in one or both
// directions.
TEST(PeerAccessTest, WhatIsEnabledIsNoError) {
  COOPER_REQUIRE_GPUS(3);
  if (!CanReach(0, 2) || !CanReach(2, 0)) GTEST_SKIP() << "these two cannot reach each other";
  EXPECT_EQ(Enable(0, 2), cudaSuccess);
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray copy, On(2, 7).CopyTo(Context::Gpu(0)));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_THAT(copy.ToVector<float>(), IsOkAndHolds(ElementsAre(7, 7)));
  EXPECT_EQ(Enable(2, 0), cudaErrorPeerAccessAlreadyEnabled);
}

TEST(PeerAccessTest, ARefusalIsNoError) {
  COOPER_REQUIRE_GPU();
  EnablePeerAccess(0, 1 << 20);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  COOPER_EXPECT_OK(On(0, 1).CopyTo(Context::Cpu()).status());
}

}  // namespace
}  // namespace cooper
