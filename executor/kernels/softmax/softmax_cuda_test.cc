// Compares softmax, its variants and their gradients on a GPU with the CPU, over sets that a few
// threads, a block and a large block share, and over sets that are too long for registers.

#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/kernels/launch/compare_kernels.h"
#include "gtest/gtest.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

struct Sets {
  Shape shape;
  const char* axis;
};

const Sets kSets[] = {
    {{40, 10}, "-1"}, {{5, 300}, "-1"},    {{3, 2100}, "-1"},   {{1, 13000}, "-1"},
    {{2, 6, 5}, "1"}, {{2, 1200, 3}, "1"}, {{1, 300, 40}, "1"}, {{7}, "0"},
};

void ExpectEqual(const std::string& op, const Sets& sets, bool backward) {
  KernelCase test;
  test.name = absl::StrCat(op, " ", sets.shape.ToString(), backward ? ", gradient" : "");
  test.op = op;
  if (backward) test.kernel = "_backward_" + op;
  test.attrs = {{"axis", sets.axis}, {"temperature", "1.5"}};
  test.dtypes = {DType::kFloat32, DType::kFloat64, DType::kFloat16};
  test.roundings = backward ? 4096 : 64;  // sums are in another order
  test.inputs = backward ? std::vector<Shape>{sets.shape, sets.shape} : std::vector{sets.shape};
  test.outputs = {sets.shape};
  ExpectEqualKernels(test);
}

TEST(SoftmaxCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const char* op : {"softmax", "softmin", "log_softmax"}) {
    for (const Sets& sets : kSets) {
      ExpectEqual(op, sets, false);
      ExpectEqual(op, sets, true);
    }
  }
}

// Lengths are from 0 to 7; elements beyond the length are 0, also if the length is 0.
TEST(SoftmaxCudaTest, LengthsAreTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const char* op : {"softmax", "softmin", "log_softmax"}) {
    for (const int64_t n : {7, 300}) {
      KernelCase test;
      test.name = absl::StrCat(op, " of some of ", n);
      test.op = op;
      test.attrs = {{"use_length", "True"}};
      test.dtypes = {DType::kFloat32, DType::kFloat64};
      test.roundings = 64;
      test.inputs = {{12, n}, {12}};
      test.outputs = {{12, n}};
      test.indices = 1;
      test.index_end = 8;
      ExpectEqualKernels(test);
    }
  }
}

}  // namespace
}  // namespace cooper
