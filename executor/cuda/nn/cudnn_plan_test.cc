// That cuDNN has a plan for every convolution of ResNet-50, forward and backward, on an H100 and on
// an A100: without either.

#include "executor/cuda/nn/cudnn_plan.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

// What differs between the devices; the rest is the same.
std::string Device(const char* name, int version, int processors, int64_t clock_khz,
                   int64_t memory_clock_khz, int64_t l2_bytes, int64_t shared_bytes,
                   int64_t memory_bytes) {
  return absl::StrCat(
      R"({"cudaDeviceId": 0, "deviceVer": )", version, R"(, "driverVer": 13000, )",
      R"("maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64], )",
      R"("regsPerBlock": 65536, "multiProcessorCount": )", processors, R"(, "smClockRateKHz": )",
      clock_khz, R"(, "memClockRateKHz": )", memory_clock_khz, R"(, "l2CacheSize": )", l2_bytes,
      R"(, "warpSize": 32, "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": )",
      shared_bytes, R"(, "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536, )",
      R"("pciDeviceId": 0, "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024, )",
      R"("maxThreadsPerSM": 2048, "isTccDriver": 0, "supportCoopLaunch": 1, "totalGlobalMem": )",
      memory_bytes, R"(, "deviceName": ")", name, R"("})");
}

std::vector<std::string> Devices() {
  return {
      Device("NVIDIA H100 80GB HBM3", 900, 132, 1980000, 2619000, 52428800, 232448, 85000000000),
      Device("NVIDIA A100-SXM4-80GB", 800, 108, 1410000, 1593000, 41943040, 166912, 85000000000)};
}

CudnnConvolution Make(int64_t channels, int64_t extent, int64_t filters, int64_t kernel,
                      int64_t stride) {
  constexpr int64_t kBatch = 32;
  const int64_t pad = kernel / 2, out = (extent + 2 * pad - kernel) / stride + 1;
  return {.image = {kBatch, channels, extent, extent},
          .weight = {filters, channels, kernel, kernel},
          .map = {kBatch, filters, out, out},
          .pad = {pad, pad},
          .stride = {stride, stride},
          .dilate = {1, 1}};
}

// The different ones among its 53: in each stage a block with a shortcut, and one like all others.
std::vector<CudnnConvolution> ConvolutionsOfResNet50() {
  std::vector<CudnnConvolution> all = {Make(3, 224, 64, 7, 2)};
  int64_t channels = 64, extent = 56;
  for (int64_t width : {64, 128, 256, 512}) {
    const int64_t stride = width == 64 ? 1 : 2;
    all.push_back(Make(channels, extent, width, 1, 1));
    all.push_back(Make(width, extent, width, 3, stride));
    all.push_back(Make(channels, extent, 4 * width, 1, stride));
    extent /= stride;
    channels = 4 * width;
    all.push_back(Make(width, extent, channels, 1, 1));
    all.push_back(Make(channels, extent, width, 1, 1));
    all.push_back(Make(width, extent, width, 3, 1));
  }
  return all;
}

TEST(CudnnPlanTest, EveryConvolutionOfResNet50HasOne) {
  if (const absl::Status status = CheckCudnnInstalled(); !status.ok()) {
    GTEST_SKIP() << status.message();
  }
  const std::vector<CudnnConvolution> all = ConvolutionsOfResNet50();
  ASSERT_EQ(all.size(), 25U);
  for (const std::string& device : Devices()) {
    for (CudnnConvolution convolution : all) {
      for (ConvolutionPass pass : {ConvolutionPass::kForward, ConvolutionPass::kDataGradient,
                                   ConvolutionPass::kWeightGradient}) {
        convolution.pass = pass;
        COOPER_ASSERT_OK_AND_ASSIGN(const CudnnPlan plan, PlanConvolution(convolution, device));
        EXPECT_GE(plan.workspace_bytes, 0);
      }
    }
  }
}

TEST(CudnnPlanTest, ErrorsNameTheConvolution) {
  if (const absl::Status status = CheckCudnnInstalled(); !status.ok()) {
    GTEST_SKIP() << status.message();
  }
  CudnnConvolution wrong = Make(8, 16, 4, 3, 1);
  wrong.map[2] = 17;
  const auto plan = PlanConvolution(wrong, Devices()[0]);
  EXPECT_THAT(plan, StatusIs(absl::StatusCode::kInternal,
                             HasSubstr("forward of image (32, 8, 16, 16), weight (4, 8, 3, 3), "
                                       "map (32, 4, 17, 16)")));
}

}  // namespace
}  // namespace cooper
