// Compares _folded_batch_norm on a GPU with the CPU.

#include <string>
#include <vector>

#include "executor/kernels/launch/compare_kernels.h"
#include "gtest/gtest.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

TEST(FoldedBatchNormCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  const std::vector<Shape> weights = {{6, 4, 3, 3}, {300, 7}, {1, 1}, {0, 3}};
  for (const Shape& weight : weights) {
    const Shape filters = {weight[0]};
    for (const bool no_bias : {true, false}) {
      for (const char* fix_gamma : {"True", "False"}) {
        KernelCase test;
        test.name = weight.ToString() + (no_bias ? "" : " with bias") + ", fix_gamma " + fix_gamma;
        test.op = "_folded_batch_norm";
        test.attrs = {{"no_bias", no_bias ? "True" : "False"}, {"fix_gamma", fix_gamma}};
        test.inputs = {weight, filters, filters, filters, filters};
        if (!no_bias) test.inputs.push_back(filters);
        test.outputs = {weight, filters};
        test.dtypes = {DType::kFloat32};
        // The inputs include variances; the root multiplies errors by up to 2.
        test.roundings = 16;
        test.low = 0.5;
        ExpectEqualKernels(test);
      }
    }
  }
}

}  // namespace
}  // namespace cooper
