// Compares LeakyReLU with deterministic slopes, and its gradient, on a GPU with the CPU, for sizes
// that are not multiples of four and for gammas along different axes.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/kernels/launch/compare_kernels.h"
#include "gtest/gtest.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

void ExpectEqual(const std::string& act_type, const Shape& data, const std::vector<Shape>& gamma) {
  KernelCase test;
  test.name = absl::StrCat(act_type, " ", data.ToString());
  test.op = "LeakyReLU";
  test.attrs = {{"act_type", act_type}, {"slope", "0.3"}};
  test.dtypes = {DType::kFloat32, DType::kFloat64, DType::kFloat16};
  test.roundings = 512;  // gamma's sums have another order
  test.inputs = {data};
  test.inputs.insert(test.inputs.end(), gamma.begin(), gamma.end());
  test.outputs = {data};
  ExpectEqualKernels(test);

  test.name += ", gradient";
  test.kernel = "_backward_LeakyReLU";
  test.inputs.insert(test.inputs.begin(), data);
  test.outputs = {data};
  test.outputs.insert(test.outputs.end(), gamma.begin(), gamma.end());
  ExpectEqualKernels(test);
}

TEST(LeakyReluCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const char* type : {"leaky", "elu", "gelu", "selu"}) ExpectEqual(type, {7, 303}, {});
}

TEST(LeakyReluCudaTest, PreluEqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  ExpectEqual("prelu", {2, 6, 5, 8}, {{6}});
  ExpectEqual("prelu", {3, 5, 7}, {{5}});
  ExpectEqual("prelu", {4, 33}, {{33}});
  ExpectEqual("prelu", {3, 5, 7}, {{1}});
  ExpectEqual("prelu", {3, 5, 4}, {{3, 5}});
}

}  // namespace
}  // namespace cooper
