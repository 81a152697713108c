// Compares _contrib_index_array on a GPU with the CPU.

#include <string>
#include <vector>

#include "executor/kernels/launch/compare_kernels.h"
#include "gtest/gtest.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

TEST(IndexArrayCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const char* axes : {"None", "(2, 0)"}) {
    KernelCase test;
    test.name = std::string("axes ") + axes;
    test.op = "_contrib_index_array";
    test.attrs = {{"axes", axes}};
    test.inputs = {{5, 7, 11}};
    test.outputs = {{5, 7, 11, axes[0] == 'N' ? 3 : 2}};
    test.dtypes = {DType::kInt64};
    ExpectEqualKernels(test);
  }
}

}  // namespace
}  // namespace cooper
