// Compares arrays that NumPy operators create on a GPU with the CPU.

#include <string>
#include <vector>

#include "executor/kernels/launch/compare_kernels.h"
#include "gtest/gtest.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

struct CreationCase {
  const char* op;
  AttrMap attrs;
  Shape shape;
};

const CreationCase kCases[] = {
    {"_npi_eye", {{"N", "7"}, {"M", "9"}, {"k", "2"}}, {7, 9}},
    {"_npi_identity", {{"shape", "(20, 20)"}}, {20, 20}},
    {"_npi_indices", {{"dimensions", "(3, 4, 5)"}}, {3, 3, 4, 5}},
    {"_npi_logspace", {{"start", "0"}, {"stop", "1"}, {"num", "70"}}, {70}},
    {"_npi_hanning", {{"M", "70"}}, {70}},
    {"_npi_hamming", {{"M", "70"}}, {70}},
    {"_npi_blackman", {{"M", "70"}}, {70}},
};

TEST(NumpyCreationCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const CreationCase& creation : kCases) {
    KernelCase test;
    test.name = test.op = creation.op;
    test.attrs = creation.attrs;
    test.outputs = {creation.shape};
    test.dtypes = {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kInt32};
    test.roundings = 4;
    ExpectEqualKernels(test);
  }
}

}  // namespace
}  // namespace cooper
