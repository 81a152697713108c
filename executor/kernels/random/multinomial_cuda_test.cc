// Compares draws of outcomes on a GPU with the CPU: the same random numbers give the same ones.

#include <string>
#include <vector>

#include "executor/kernels/launch/compare_kernels.h"
#include "gtest/gtest.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

TEST(MultinomialCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  KernelCase test;
  test.name = "multinomial";
  test.op = "_sample_multinomial";
  test.attrs = {{"shape", "(70,)"}};
  test.inputs = {{5, 9}};
  test.outputs = {{5, 70}};
  test.dtypes = {DType::kFloat32, DType::kFloat64, DType::kFloat16};
  ExpectEqualKernels(test);
}

}  // namespace
}  // namespace cooper
