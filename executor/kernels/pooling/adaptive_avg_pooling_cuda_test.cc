// Compares _contrib_AdaptiveAvgPooling2D on a GPU with the CPU.

#include <string>
#include <vector>

#include "executor/kernels/launch/compare_kernels.h"
#include "gtest/gtest.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

struct AdaptiveCase {
  const char* name;
  const char* output_size;
  Shape data, output;
};

const AdaptiveCase kCases[] = {
    {"Whole", "()", {2, 3, 5, 7}, {2, 3, 1, 1}},
    {"WholeByManyThreads", "1", {2, 2, 40, 33}, {2, 2, 1, 1}},
    {"WindowsThatOverlap", "(3, 4)", {2, 3, 5, 7}, {2, 3, 3, 4}},
    {"MoreThanPixels", "(9, 13)", {1, 2, 4, 5}, {1, 2, 9, 13}},
    {"AsManyAsPixels", "4", {1, 2, 4, 4}, {1, 2, 4, 4}},
    {"MoreThanABlock", "(17, 2)", {2, 5, 30, 9}, {2, 5, 17, 2}},
    {"Empty", "2", {0, 3, 4, 4}, {0, 3, 2, 2}},
};

// The device sums a window in its own order. The error of a sum of numbers of both signs grows
// slowly with their count, and the mean divides by that count.
TEST(AdaptiveAvgPoolingCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const AdaptiveCase& test : kCases) {
    for (const bool backward : {false, true}) {
      KernelCase kernels;
      kernels.name = std::string(test.name) + (backward ? ", gradient" : "");
      kernels.op = "_contrib_AdaptiveAvgPooling2D";
      if (backward) kernels.kernel = "_backward_contrib_AdaptiveAvgPooling2D";
      kernels.attrs = {{"output_size", test.output_size}};
      kernels.inputs = {backward ? test.output : test.data};
      kernels.outputs = {backward ? test.data : test.output};
      kernels.dtypes = {DType::kFloat32, DType::kFloat64, DType::kFloat16};
      kernels.roundings = 16;
      ExpectEqualKernels(kernels);
    }
  }
}

}  // namespace
}  // namespace cooper
