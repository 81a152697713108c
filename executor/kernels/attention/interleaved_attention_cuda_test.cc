// Compares the products of attention on a GPU with those on the CPU. Sums of products of small
// integers are exact, and so is the scale 1 / sqrt(4).

#include <string>
#include <vector>

#include "executor/kernels/launch/compare_kernels.h"
#include "gtest/gtest.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

// A case with 3 heads of 4 columns, a batch of 2, 5 queries and, in encoder-decoder attention, 7
// keys.
struct AttentionCase {
  const char* name;  // after "interleaved_matmul_"
  std::vector<Shape> inputs;
  Shape output;
};

const AttentionCase kCases[] = {
    {"selfatt_qk", {{5, 2, 36}}, {6, 5, 5}},
    {"selfatt_valatt", {{5, 2, 36}, {6, 5, 5}}, {5, 2, 12}},
    {"encdec_qk", {{5, 2, 12}, {7, 2, 24}}, {6, 5, 7}},
    {"encdec_valatt", {{7, 2, 24}, {6, 5, 7}}, {5, 2, 12}},
};

TEST(InterleavedAttentionCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const AttentionCase& test : kCases) {
    KernelCase kernels;
    kernels.name = test.name;
    kernels.op = std::string("_contrib_interleaved_matmul_") + test.name;
    kernels.attrs = {{"heads", "3"}};
    kernels.inputs = test.inputs;
    kernels.outputs = {test.output};
    kernels.dtypes = {DType::kFloat32, DType::kFloat64};
    ExpectEqualKernels(kernels);

    kernels.name += ", gradient";
    kernels.kernel = std::string("_backward_interleaved_matmul_") + test.name;
    kernels.inputs = {test.output};
    kernels.inputs.insert(kernels.inputs.end(), test.inputs.begin(), test.inputs.end());
    kernels.outputs = test.inputs;
    ExpectEqualKernels(kernels);
  }
}

}  // namespace
}  // namespace cooper
