// Compares NumPy's own functions of two elements on a GPU with the CPU.

#include <iterator>
#include <string>
#include <vector>

#include "executor/kernels/launch/compare_kernels.h"
#include "gtest/gtest.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

constexpr DType kIntegers[] = {DType::kUint8, DType::kInt32, DType::kInt8, DType::kInt64,
                               DType::kBool};
constexpr DType kFloats[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBfloat16};

TEST(NumpyBinaryCudaTest, BitsEqualTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const char* op : {"bitwise_and", "bitwise_or", "bitwise_xor", "lcm"}) {
    KernelCase test;
    test.name = op;
    test.op = std::string("_npi_") + op;
    test.inputs = {{3, 1, 70}, {4, 1}};
    test.outputs = {{3, 4, 70}};
    test.dtypes.assign(std::begin(kIntegers), std::end(kIntegers));
    ExpectEqualKernels(test);
    test.op += "_scalar";
    test.attrs = {{"scalar", "6"}};
    test.inputs = {{3, 70}};
    test.outputs = {{3, 70}};
    ExpectEqualKernels(test);
  }
  KernelCase test;
  test.name = test.op = "_npi_bitwise_not";
  test.inputs = {{3, 70}};
  test.outputs = {{3, 70}};
  test.dtypes.assign(std::begin(kIntegers), std::end(kIntegers));
  ExpectEqualKernels(test);
}

TEST(NumpyBinaryCudaTest, FloatsEqualTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const std::string op : {"arctan2", "copysign", "ldexp"}) {
    KernelCase test;
    test.name = op;
    test.op = "_npi_" + op;
    test.inputs = {{3, 1, 70}, {4, 1}};
    test.outputs = {{3, 4, 70}};
    test.dtypes.assign(std::begin(kFloats), std::end(kFloats));
    test.low = 0.3;  // the gradient of arctan2 at the origin is infinite
    test.roundings = 16;
    ExpectEqualKernels(test);
    for (const char* side : {"_lhs", "_rhs"}) {
      if (op == "copysign" && side[1] == 'r') continue;
      KernelCase gradient = test;
      gradient.name = op + side;
      gradient.kernel = "_backward_npi_" + op + side;
      gradient.inputs = {{3, 4, 70}, {3, 1, 70}, {4, 1}};
      gradient.outputs = {side[1] == 'l' ? Shape({3, 1, 70}) : Shape({4, 1})};
      gradient.roundings = 300;  // sums of up to 210 terms
      ExpectEqualKernels(gradient);
    }
    for (const char* reversed : {"", "r"}) {
      KernelCase scalar = test;
      scalar.name = reversed + op + "_scalar";
      scalar.op = "_npi_" + scalar.name;
      scalar.attrs = {{"scalar", "1.5"}, {"is_int", "False"}};
      scalar.inputs = {{3, 70}};
      scalar.outputs = {{3, 70}};
      ExpectEqualKernels(scalar);
      if (scalar.name == "rcopysign_scalar") continue;
      scalar.kernel = "_backward_npi_" + scalar.name;
      scalar.inputs = {{3, 70}, {3, 70}};
      ExpectEqualKernels(scalar);
    }
  }
}

}  // namespace
}  // namespace cooper
