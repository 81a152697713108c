// Compares _contrib_BilinearResize2D on a GPU with the CPU.

#include <string>
#include <vector>

#include "executor/kernels/launch/compare_kernels.h"
#include "gtest/gtest.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

// Cases that enlarge and shrink; some have more elements than a block has threads.
struct ResizeCase {
  const char* name;
  const char* height;
  const char* width;
  Shape data, output;
};

const ResizeCase kCases[] = {
    {"Up", "7", "31", {2, 3, 4, 13}, {2, 3, 7, 31}},
    {"Down", "3", "5", {2, 3, 8, 21}, {2, 3, 3, 5}},
    {"Mixed", "9", "2", {1, 2, 4, 7}, {1, 2, 9, 2}},
    {"OnePixelIn", "3", "2", {2, 1, 1, 1}, {2, 1, 3, 2}},
    {"OnePixelOut", "1", "1", {2, 1, 5, 4}, {2, 1, 1, 1}},
    {"Empty", "3", "2", {0, 3, 4, 4}, {0, 3, 3, 2}},
};

// Both devices interpolate in the dtype itself or in float. They add up to 48 products for an
// element of the gradient, the CPU along the rows first: each addition may round differently.
TEST(BilinearResizeCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const ResizeCase& test : kCases) {
    for (const char* align_corners : {"False", "True"}) {
      for (const bool backward : {false, true}) {
        KernelCase kernels;
        kernels.name = std::string(test.name) + (backward ? ", gradient" : "") +
                       ", align_corners " + align_corners;
        kernels.op = "_contrib_BilinearResize2D";
        if (backward) kernels.kernel = "_backward_contrib_BilinearResize2D";
        kernels.attrs = {
            {"height", test.height}, {"width", test.width}, {"align_corners", align_corners}};
        kernels.inputs = {backward ? test.output : test.data};
        kernels.outputs = {backward ? test.data : test.output};
        kernels.dtypes = {DType::kFloat32, DType::kFloat64, DType::kFloat16};
        kernels.roundings = 48;
        ExpectEqualKernels(kernels);
      }
    }
  }
}

}  // namespace
}  // namespace cooper
