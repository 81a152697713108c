// Checks when CudnnPass::Create leaves a pass to im2col and products, before it loads cuDNN.

#include "executor/kernels/convolution/cudnn_pass.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/convolution/cudnn_convolution.h"
#include "executor/kernels/convolution/cudnn_switch.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/dtype.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CudnnPassTest : public testing::Test {
 protected:
  ~CudnnPassTest() override { SetCudnnUse(CudnnUse::kWhereFaster); }

  // Returns why there is no pass; an empty string if there is one.
  static std::string Refusal(CudnnUse use, DType dtype, int64_t batch) {
    SetCudnnUse(use);
    ConvolutionProduct product = {};
    product.batch = batch;
    const absl::Status status = CudnnPass::Create(0, ConvolutionPass::kForward, dtype, product,
                                                  {.max_workspace_bytes = 1 << 20})
                                    .status();
    std::string reason(status.message());
    return reason;
  }
};

TEST_F(CudnnPassTest, SmallBatchesAreComposedUnlessItIsAlwaysUsed) {
  const char* small = "the batch is small";
  EXPECT_THAT(Refusal(CudnnUse::kWhereFaster, DType::kFloat32, 7), HasSubstr(small));
  EXPECT_THAT(Refusal(CudnnUse::kWhereFaster, DType::kFloat64, 1), HasSubstr(small));
  EXPECT_THAT(Refusal(CudnnUse::kWhereFaster, DType::kFloat32, 8), Not(HasSubstr(small)));
  EXPECT_THAT(Refusal(CudnnUse::kAlways, DType::kFloat32, 1), Not(HasSubstr(small)));
}

TEST_F(CudnnPassTest, HalfFloatsHaveNoOtherWay) {
  EXPECT_THAT(Refusal(CudnnUse::kWhereFaster, DType::kFloat16, 1), Not(HasSubstr("small")));
  EXPECT_THAT(Refusal(CudnnUse::kNever, DType::kFloat16, 1), HasSubstr("switched off"));
}

}  // namespace
}  // namespace cooper
