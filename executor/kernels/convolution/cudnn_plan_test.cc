// Checks that cuDNN has a plan for every convolution of ResNet-50, and for one of each kind,
// forward and backward, on described H100 and A100 devices.

#include "executor/kernels/convolution/cudnn_plan.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/convolution/cudnn_convolution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

// Returns a device description. Properties that are not parameters are the same for all devices.
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

std::vector<CudnnDevice> Devices() {
  std::vector<CudnnDevice> devices(2);
  devices[0].description =
      Device("NVIDIA H100 80GB HBM3", 900, 132, 1980000, 2619000, 52428800, 232448, 85000000000);
  devices[1].description =
      Device("NVIDIA A100-SXM4-80GB", 800, 108, 1410000, 1593000, 41943040, 166912, 85000000000);
  return devices;
}

constexpr ConvolutionPass kPasses[] = {ConvolutionPass::kForward, ConvolutionPass::kDataGradient,
                                       ConvolutionPass::kWeightGradient};
// Convolution's default workspace limit.
constexpr int64_t kMaxWorkspaceBytes = int64_t{1} << 30;

// Returns a convolution with one group, without padding or dilation; the extents of the map are not
// set.
ConvolutionProduct Open(int64_t batch, int64_t channels, int64_t filters) {
  ConvolutionProduct p;
  p.batch = batch;
  p.groups = 1;
  p.g.channels = channels;
  p.filters = filters;
  return p;
}

ConvolutionProduct Close(ConvolutionProduct p) {
  for (int i = 0; i < 3; ++i) {
    const int64_t window = (p.g.kernel[i] - 1) * p.g.dilate[i] + 1;
    p.g.out[i] = (p.g.in[i] + 2 * p.g.pad[i] - window) / p.g.stride[i] + 1;
  }
  return p;
}

ConvolutionProduct Square(int64_t channels, int64_t extent, int64_t filters, int64_t kernel,
                          int64_t stride) {
  ConvolutionProduct p = Open(32, channels, filters);
  for (int i = 1; i < 3; ++i) {
    p.g.in[i] = extent;
    p.g.kernel[i] = kernel;
    p.g.stride[i] = stride;
    p.g.pad[i] = kernel / 2;
  }
  return Close(p);
}

// Returns the distinct convolutions among the 53 of ResNet-50: in each stage, those of a block with
// a shortcut and of a block without.
std::vector<ConvolutionProduct> ConvolutionsOfResNet50() {
  std::vector<ConvolutionProduct> all = {Square(3, 224, 64, 7, 2)};
  int64_t channels = 64, extent = 56;
  for (int64_t width : {64, 128, 256, 512}) {
    const int64_t stride = width == 64 ? 1 : 2;
    all.push_back(Square(channels, extent, width, 1, 1));
    all.push_back(Square(width, extent, width, 3, stride));
    all.push_back(Square(channels, extent, 4 * width, 1, stride));
    extent /= stride;
    channels = 4 * width;
    all.push_back(Square(width, extent, channels, 1, 1));
    all.push_back(Square(channels, extent, width, 1, 1));
    all.push_back(Square(width, extent, width, 3, 1));
  }
  return all;
}

struct Kind {
  std::string name;
  ConvolutionProduct product;
};

std::vector<Kind> OneOfEachKind() {
  std::vector<Kind> kinds;
  const auto add = [&](const char* name, const ConvolutionProduct& p) {
    kinds.push_back({name, p});
  };
  add("Small", Square(3, 5, 4, 3, 1));
  ConvolutionProduct p = Open(3, 2, 3);
  p.g = {
      .channels = 2, .in = {1, 1, 11}, .kernel = {1, 1, 3}, .stride = {1, 1, 2}, .pad = {0, 0, 1}};
  add("OneAxis", Close(p));
  p = Open(2, 2, 3);
  p.g = {.channels = 2,
         .in = {4, 5, 3},
         .kernel = {2, 3, 2},
         .stride = {1, 2, 1},
         .dilate = {2, 1, 1},
         .pad = {1, 0, 1}};
  add("ThreeAxes", Close(p));
  p.g = {.channels = 2, .in = {1, 9, 7}, .kernel = {1, 3, 2}, .stride = {1, 2, 3}};
  p.g.dilate[1] = 2, p.g.dilate[2] = 3, p.g.pad[1] = 2, p.g.pad[2] = 1;
  add("StridedPaddedDilated", Close(p));
  p = Square(32, 28, 48, 3, 1);
  p.groups = 4;
  add("Groups", p);
  p = Square(1, 28, 1, 3, 1);
  p.groups = 64;
  add("EachChannelAlone", p);
  // A Deconvolution with `adj`: the image is larger than what the windows cover.
  p = Open(2, 3, 4);
  p.g = {.channels = 3, .in = {1, 10, 9}, .kernel = {1, 3, 3}, .stride = {1, 3, 2}};
  add("Rest", Close(p));
  return kinds;
}

TEST(CudnnPlanTest, EveryConvolutionOfResNet50HasOne) {
  if (const absl::Status status = CheckCudnnInstalled(); !status.ok()) {
    GTEST_SKIP() << status.message();
  }
  const std::vector<ConvolutionProduct> all = ConvolutionsOfResNet50();
  ASSERT_EQ(all.size(), 25U);
  for (const CudnnDevice& device : Devices()) {
    for (const ConvolutionProduct& product : all) {
      for (ConvolutionPass pass : kPasses) {
        for (DType dtype : {DType::kFloat32, DType::kFloat16}) {
          const auto convolution = CudnnConvolution::Of(pass, dtype, product);
          COOPER_EXPECT_OK(PlanConvolution(convolution, device, kMaxWorkspaceBytes).status());
        }
      }
    }
  }
}

TEST(CudnnPlanTest, EveryKindHasOneOfEachDtype) {
  if (const absl::Status status = CheckCudnnInstalled(); !status.ok()) {
    GTEST_SKIP() << status.message();
  }
  for (const CudnnDevice& device : Devices()) {
    for (const Kind& kind : OneOfEachKind()) {
      SCOPED_TRACE(kind.name);
      for (ConvolutionPass pass : kPasses) {
        for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBfloat16}) {
          auto convolution = CudnnConvolution::Of(pass, dtype, kind.product);
          for (int64_t alignment : {SizeOf(dtype), int64_t{16}}) {
            convolution.alignment = alignment;
            COOPER_EXPECT_OK(PlanConvolution(convolution, device, kMaxWorkspaceBytes).status());
          }
        }
      }
    }
  }
}

TEST(CudnnPlanTest, TheWorkspaceHasABound) {
  if (const absl::Status status = CheckCudnnInstalled(); !status.ok()) {
    GTEST_SKIP() << status.message();
  }
  auto convolution =
      CudnnConvolution::Of(ConvolutionPass::kForward, DType::kFloat16, Square(64, 56, 64, 3, 1));
  convolution.alignment = 16;
  const CudnnDevice h100 = Devices()[0];
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<CudnnPlan> plans,
                              PlanConvolution(convolution, h100, kMaxWorkspaceBytes));
  ASSERT_EQ(plans.size(), 1U);
  const int64_t bytes = plans[0].workspace_bytes;
  ASSERT_GT(bytes, 0);
  const auto smaller = PlanConvolution(convolution, h100, bytes - 1);
  if (smaller.ok()) {
    EXPECT_LT(smaller->front().workspace_bytes, bytes);
  } else {
    EXPECT_THAT(smaller, StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("workspace")));
  }
}

TEST(CudnnPlanTest, GivesAsManyAsAreAskedFor) {
  if (const absl::Status status = CheckCudnnInstalled(); !status.ok()) {
    GTEST_SKIP() << status.message();
  }
  const auto convolution =
      CudnnConvolution::Of(ConvolutionPass::kForward, DType::kFloat32, Square(64, 56, 64, 3, 1));
  const auto plans = PlanConvolution(convolution, Devices()[0], kMaxWorkspaceBytes, 3);
  COOPER_ASSERT_OK(plans.status());
  EXPECT_EQ(plans->size(), 3U);
}

TEST(CudnnPlanTest, ErrorsNameTheConvolution) {
  if (const absl::Status status = CheckCudnnInstalled(); !status.ok()) {
    GTEST_SKIP() << status.message();
  }
  auto wrong =
      CudnnConvolution::Of(ConvolutionPass::kForward, DType::kFloat32, Square(8, 16, 4, 3, 1));
  wrong.map[2] = 17;
  const auto plan = PlanConvolution(wrong, Devices()[0], kMaxWorkspaceBytes);
  EXPECT_THAT(plan, StatusIs(absl::StatusCode::kInternal,
                             HasSubstr("forward of float32 image (32, 8, 16, 16), weight "
                                       "(4, 8, 3, 3), map (32, 4, 17, 16)")));
}

}  // namespace
}  // namespace cooper
