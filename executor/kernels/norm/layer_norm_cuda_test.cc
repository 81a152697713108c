// Compares LayerNorm, GroupNorm, InstanceNorm and their gradients on a GPU with the CPU, over sets
// that fit in registers and sets that do not, and over rows that several blocks share.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/kernels/launch/compare_kernels.h"
#include "gtest/gtest.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

struct NormCase {
  const char* op;
  AttrMap attrs;
  Shape data, gamma, mean;  // the standard deviation has the mean's shape
};

const NormCase kCases[] = {
    {"LayerNorm", {}, {3, 10}, {10}, {3, 1}},
    {"LayerNorm", {}, {2, 150, 70}, {70}, {2, 150, 1}},
    {"LayerNorm", {}, {2, 13000}, {13000}, {2, 1}},
    {"LayerNorm", {{"axis", "1"}}, {3, 20, 5}, {20}, {3, 1, 5}},
    {"GroupNorm", {{"num_groups", "2"}}, {3, 4, 9, 5}, {2}, {3, 2}},
    {"InstanceNorm", {}, {3, 4, 70}, {4}, {3, 4}},
    {"InstanceNorm", {}, {1, 2, 13000}, {2}, {1, 2}},
};

TEST(LayerNormCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const NormCase& norm : kCases) {
    KernelCase test;
    test.name = absl::StrCat(norm.op, " ", norm.data.ToString());
    test.op = norm.op;
    test.attrs = norm.attrs;
    test.dtypes = {DType::kFloat32, DType::kFloat64};
    test.roundings = 512;  // sums are in another order
    test.low = 0.5;        // for standard deviations, too
    test.inputs = {norm.data, norm.gamma, norm.gamma};
    test.outputs = {norm.data, norm.mean, norm.mean};
    ExpectEqualKernels(test);

    test.name += ", gradient";
    test.kernel = absl::StrCat("_backward_", norm.op);
    test.inputs = {norm.data, norm.data, norm.gamma, norm.mean, norm.mean};
    test.outputs = {norm.data, norm.gamma, norm.gamma};
    ExpectEqualKernels(test);
  }
}

}  // namespace
}  // namespace cooper
