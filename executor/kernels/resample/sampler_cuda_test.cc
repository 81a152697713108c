// Compares BilinearSampler and SpatialTransformer on a GPU with the CPU.

#include "executor/kernels/launch/compare_kernels.h"
#include "gtest/gtest.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

// Positions are inside and outside of the images; there are more planes than a thread has, and
// elements that many positions or none share.
const KernelCase kCases[] = {
    {"Sampler", "BilinearSampler", "", {}, {{2, 3, 5, 6}, {2, 2, 4, 7}}, {{2, 3, 4, 7}}},
    {"SamplerBackward",
     "BilinearSampler",
     "_backward_BilinearSampler",
     {},
     {{2, 11, 4, 7}, {2, 11, 5, 6}, {2, 2, 4, 7}},
     {{2, 11, 5, 6}, {2, 2, 4, 7}}},
    {"SamplerBackwardOfFewElements",
     "BilinearSampler",
     "_backward_BilinearSampler",
     {},
     {{3, 2, 9, 14}, {3, 2, 2, 3}, {3, 2, 9, 14}},
     {{3, 2, 2, 3}, {3, 2, 9, 14}}},
    {"SamplerBackwardOfManyElements",
     "BilinearSampler",
     "_backward_BilinearSampler",
     {},
     {{2, 3, 3, 2}, {2, 3, 17, 19}, {2, 2, 3, 2}},
     {{2, 3, 17, 19}, {2, 2, 3, 2}}},
    {"TransformerBackward",
     "SpatialTransformer",
     "_backward_SpatialTransformer",
     {{"target_shape", "(6, 5)"}, {"transform_type", "affine"}, {"sampler_type", "bilinear"}},
     {{2, 3, 6, 5}, {2, 3, 5, 6}, {2, 6}},
     {{2, 3, 5, 6}, {2, 6}}},
};

TEST(SamplerCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  for (KernelCase test : kCases) {
    test.dtypes = {DType::kFloat32, DType::kFloat64};
    test.roundings = 512;
    test.low = -1.3;
    test.high = 1.3;
    ExpectEqualKernels(test);
  }
}

}  // namespace
}  // namespace cooper
