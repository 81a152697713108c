// Compares Pooling on a GPU with the CPU.

#include <string>
#include <vector>

#include "executor/kernels/launch/compare_kernels.h"
#include "gtest/gtest.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

struct PoolingCase {
  const char* name;
  AttrMap attrs;
  Shape data, output;
};

const PoolingCase kCases[] = {
    {"Windows", {{"kernel", "(3, 3)"}, {"stride", "(2, 2)"}}, {2, 3, 9, 7}, {2, 3, 4, 3}},
    {"Padded",
     {{"kernel", "(3, 2)"}, {"stride", "(1, 2)"}, {"pad", "(1, 1)"}},
     {2, 3, 5, 6},
     {2, 3, 5, 4}},
    {"Volume", {{"kernel", "(2, 3, 2)"}}, {1, 2, 3, 4, 5}, {1, 2, 2, 2, 4}},
    {"ChannelsLast", {{"kernel", "(2, 2)"}, {"layout", "NHWC"}}, {2, 4, 5, 3}, {2, 3, 4, 3}},
    {"Global", {{"global_pool", "True"}}, {2, 3, 5, 7}, {2, 3, 1, 1}},
    {"GlobalOfManyThreads", {{"global_pool", "True"}}, {1, 2, 33, 41}, {1, 2, 1, 1}},
    {"GlobalChannelsLast",
     {{"global_pool", "True"}, {"layout", "NHWC"}},
     {2, 9, 7, 5},
     {2, 1, 1, 5}},
    {"Whole", {{"kernel", "(4, 6)"}}, {3, 2, 4, 6}, {3, 2, 1, 1}},
    {"Empty", {{"global_pool", "True"}}, {0, 3, 4, 4}, {0, 3, 1, 1}},
};

void Expect(const PoolingCase& test, const char* type, bool backward, double roundings) {
  KernelCase kernels;
  kernels.name = std::string(test.name) + ", " + type + (backward ? ", gradient" : "");
  kernels.op = "Pooling";
  if (backward) kernels.kernel = "_backward_Pooling";
  kernels.attrs = test.attrs;
  kernels.attrs["pool_type"] = type;
  if (std::string(type) == "lp") kernels.attrs["p_value"] = "2";
  kernels.inputs = {backward ? test.output : test.data};
  const bool needs_data = std::string(type) == "max" || std::string(type) == "lp";
  if (backward && needs_data) kernels.inputs.push_back(test.data);
  kernels.outputs = {backward ? test.data : test.output};
  kernels.dtypes = {DType::kFloat32, DType::kFloat64, DType::kFloat16};
  kernels.roundings = roundings;
  ExpectEqualKernels(kernels);
}

// The device sums up to 1353 elements in its own order.
TEST(PoolingCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const PoolingCase& test : kCases) {
    for (const char* type : {"max", "avg", "sum", "lp"}) {
      for (const bool backward : {false, true}) Expect(test, type, backward, 256);
    }
  }
}

// The first of equal maxima has the gradient; small integers have many equal maxima.
TEST(PoolingCudaTest, FirstOfEqualMaxima) {
  COOPER_REQUIRE_GPU();
  for (const PoolingCase& test : kCases) {
    for (const bool backward : {false, true}) Expect(test, "max", backward, 0);
  }
}

}  // namespace
}  // namespace cooper
