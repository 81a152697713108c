// Compares NumPy's movements of elements on a GPU with the CPU.

#include <string>
#include <vector>

#include "executor/kernels/launch/compare_kernels.h"
#include "gtest/gtest.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

const KernelCase kCases[] = {
    {.name = "Moveaxis",
     .op = "_np_moveaxis",
     .attrs = {{"source", "(0, 2)"}, {"destination", "(1, 0)"}},
     .inputs = {{3, 5, 70}},
     .outputs = {{70, 3, 5}}},
    {.name = "RollVector",
     .op = "_np_roll",
     .attrs = {{"shift", "(17,)"}},
     .inputs = {{3, 70}},
     .outputs = {{3, 70}}},
    {.name = "RollAxes",
     .op = "_np_roll",
     .attrs = {{"shift", "(2, -3)"}, {"axis", "(0, 2)"}},
     .inputs = {{3, 5, 70}},
     .outputs = {{3, 5, 70}}},
    {.name = "Rot90",
     .op = "_npi_rot90",
     .attrs = {{"axes", "(0, 2)"}},
     .inputs = {{30, 5, 70}},
     .outputs = {{70, 5, 30}}},
    {.name = "Rot90Twice",
     .op = "_npi_rot90",
     .attrs = {{"k", "2"}},
     .inputs = {{3, 70}},
     .outputs = {{3, 70}}},
    {.name = "Rot90Back",
     .op = "_npi_rot90",
     .attrs = {{"k", "-1"}},
     .inputs = {{30, 70}},
     .outputs = {{70, 30}}},
    {.name = "Hstack",
     .op = "_npi_hstack",
     .attrs = {{"num_args", "2"}},
     .inputs = {{5, 3, 7}, {5, 2, 7}},
     .outputs = {{5, 5, 7}}},
    {.name = "Vstack",
     .op = "_npi_vstack",
     .attrs = {{"num_args", "2"}},
     .inputs = {{7}, {3, 7}},
     .outputs = {{4, 7}}},
    {.name = "Dstack",
     .op = "_npi_dstack",
     .attrs = {{"num_args", "2"}},
     .inputs = {{5, 7}, {5, 7}},
     .outputs = {{5, 7, 2}}},
    {.name = "ColumnStack",
     .op = "_npi_column_stack",
     .attrs = {{"num_args", "2"}},
     .inputs = {{70}, {70, 3}},
     .outputs = {{70, 4}}},
    {.name = "ColumnStackGradient",
     .op = "_npi_column_stack",
     .kernel = "_backward_np_column_stack",
     .attrs = {{"num_args", "2"}},
     .inputs = {{70, 4}},
     .outputs = {{70}, {70, 3}}},
};

TEST(NumpyMovementCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const KernelCase& test : kCases) ExpectEqualKernels(test);
}

}  // namespace
}  // namespace cooper
