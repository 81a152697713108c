// Compares NumPy's functions of one array with parameters on a GPU with the CPU.

#include <string>
#include <vector>

#include "executor/kernels/launch/compare_kernels.h"
#include "gtest/gtest.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

TEST(NumpyParametricUnaryCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const char* decimals : {"0", "1", "-1"}) {
    KernelCase test;
    test.name = std::string("around ") + decimals;
    test.op = "_npi_around";
    test.attrs = {{"decimals", decimals}};
    test.inputs = {{3, 70}};
    test.outputs = {{3, 70}};
    test.dtypes = {DType::kFloat32, DType::kFloat64, DType::kFloat16};
    ExpectEqualKernels(test);
  }
  for (const char* kernel : {"", "_backward_npi_nan_to_num"}) {
    KernelCase test;
    test.name = std::string("nan_to_num ") + kernel;
    test.op = "_npi_nan_to_num";
    test.kernel = kernel;
    test.inputs = {{3, 70}};
    if (*kernel != 0) test.inputs.push_back({3, 70});
    test.outputs = {{3, 70}};
    ExpectEqualKernels(test);
  }
}

}  // namespace
}  // namespace cooper
