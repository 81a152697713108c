// Compares the deformable convolutions on a GPU with the CPU.

#include <cstdint>
#include <string>

#include "executor/kernels/launch/compare_kernels.h"
#include "gtest/gtest.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

// Cases with a kernel of 2 x 3, with groups of both kinds, with more windows than a block of the
// CPU's kernel has, and without images.
struct DeformableCase {
  const char* name;
  int64_t batch, channels, filters, groups, deformable_groups;
  int64_t height, width;  // of data; windows are one row less, and as many columns
};

const DeformableCase kCases[] = {
    {"Plain", 2, 3, 4, 1, 1, 6, 7},    {"Groups", 2, 4, 6, 2, 1, 5, 9},
    {"Offsets", 1, 6, 2, 1, 3, 5, 4},  {"Both", 2, 4, 4, 2, 2, 11, 13},
    {"NoImages", 0, 4, 4, 2, 2, 4, 3},
};

// The devices add up to a hundred products in different orders.
TEST(DeformableConvolutionCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const DeformableCase& t : kCases) {
    for (const bool modulated : {false, true}) {
      const int64_t rows = t.height - 1, columns = t.width, taps = 6 * t.deformable_groups;
      const Shape data = {t.batch, t.channels, t.height, t.width};
      const Shape offset = {t.batch, 2 * taps, rows, columns},
                  mask = {t.batch, taps, rows, columns};
      const Shape weight = {t.filters, t.channels / t.groups, 2, 3}, bias = {t.filters};
      const Shape map = {t.batch, t.filters, rows, columns};
      const std::string op =
          std::string("_contrib_") + (modulated ? "Modulated" : "") + "DeformableConvolution";
      KernelCase test = {.name = std::string(t.name) + (modulated ? ", modulated" : ""),
                         .op = op,
                         .attrs = {{"kernel", "(2, 3)"},
                                   {"pad", "(0, 1)"},
                                   {"num_filter", std::to_string(t.filters)},
                                   {"num_group", std::to_string(t.groups)},
                                   {"num_deformable_group", std::to_string(t.deformable_groups)}},
                         .inputs = {data, offset},
                         .outputs = {map},
                         .dtypes = {DType::kFloat32, DType::kFloat64},
                         .roundings = 512};
      if (modulated) test.inputs.push_back(mask);
      test.inputs.push_back(weight);
      test.outputs = test.inputs;
      test.outputs.push_back(bias);
      KernelCase gradient = test;
      gradient.name += ", gradient";
      gradient.kernel = "_backward_" + op;
      gradient.inputs.insert(gradient.inputs.begin(), map);
      ExpectEqualKernels(gradient);
      test.inputs.push_back(bias);
      test.outputs = {map};
      ExpectEqualKernels(test);
    }
  }
}

}  // namespace
}  // namespace cooper
