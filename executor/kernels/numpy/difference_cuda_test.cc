// Compares differences of neighbours on a GPU with the CPU.

#include "executor/kernels/launch/compare_kernels.h"
#include "gtest/gtest.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

const KernelCase kCases[] = {
    {.name = "OfColumns",
     .op = "_neighbour_difference",
     .inputs = {{5, 300}},
     .outputs = {{5, 299}}},
    {.name = "OfColumnsGradient",
     .op = "_neighbour_difference",
     .kernel = "_backward_neighbour_difference",
     .inputs = {{5, 299}},
     .outputs = {{5, 300}}},
    {.name = "Inside",
     .op = "_neighbour_difference",
     .attrs = {{"axis", "1"}},
     .inputs = {{3, 2, 70}},
     .outputs = {{3, 1, 70}}},
    {.name = "InsideGradient",
     .op = "_neighbour_difference",
     .kernel = "_backward_neighbour_difference",
     .attrs = {{"axis", "1"}},
     .inputs = {{3, 1, 70}},
     .outputs = {{3, 2, 70}}},
};

TEST(DifferenceCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const KernelCase& test : kCases) ExpectEqualKernels(test);
}

}  // namespace
}  // namespace cooper
