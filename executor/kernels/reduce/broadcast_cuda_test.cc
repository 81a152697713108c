// Compares broadcasting operators and their gradients on a GPU with the CPU.

#include <string>
#include <vector>

#include "executor/kernels/launch/compare_kernels.h"
#include "gtest/gtest.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

class BroadcastCudaTest : public ::testing::TestWithParam<KernelCase> {};

TEST_P(BroadcastCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  ExpectEqualKernels(GetParam());
}

// Inputs are small integers, so every result is exact in every dtype.
const KernelCase kExact[] = {
    {"BroadcastTo", "broadcast_to", "", {{"shape", "(5, 50, 7)"}}, {{5, 1, 7}}, {{5, 50, 7}}},
    {"BroadcastAxis",
     "broadcast_axis",
     "",
     {{"axis", "(0, 2)"}, {"size", "(4, 50)"}},
     {{1, 3, 1}},
     {{4, 3, 50}}},
    {"BroadcastLike", "broadcast_like", "", {}, {{1, 6}, {50, 6}}, {{50, 6}}},
    {"BroadcastBackward",
     "broadcast_to",
     "_broadcast_backward",
     {{"shape", "(5, 50, 7)"}},
     {{5, 50, 7}},
     {{5, 1, 7}}},
    {"AddSame", "broadcast_add", "", {}, {{300}, {300}}, {{300}}},
    {"AddSameOdd", "broadcast_add", "", {}, {{303}, {303}}, {{303}}},
    {"AddFours", "broadcast_add", "", {}, {{5, 1, 8}, {1, 50, 8}}, {{5, 50, 8}}},
    {"AddFoursOfEach", "broadcast_add", "", {}, {{5, 3, 8}, {1, 3, 1}}, {{5, 3, 8}}},
    {"AddFoursOfOddRows", "broadcast_add", "", {}, {{3, 1, 5, 4}, {1, 2, 5, 4}}, {{3, 2, 5, 4}}},
    {"AddSameLhs", "broadcast_add", "_backward_broadcast_add_lhs", {}, {{300}}, {{300}}},
    {"Equal", "broadcast_equal", "", {}, {{40, 1}, {1, 15}}, {{40, 15}}},
    {"NotEqual", "broadcast_not_equal", "", {}, {{40, 1}, {1, 15}}, {{40, 15}}},
    {"Greater", "broadcast_greater", "", {}, {{40, 1}, {1, 15}}, {{40, 15}}},
    {"GreaterEqual", "broadcast_greater_equal", "", {}, {{40, 1}, {1, 15}}, {{40, 15}}},
    {"Lesser", "broadcast_lesser", "", {}, {{40, 1}, {1, 15}}, {{40, 15}}},
    {"LesserEqual", "broadcast_lesser_equal", "", {}, {{40, 1}, {1, 15}}, {{40, 15}}},
    {"LogicalAnd", "broadcast_logical_and", "", {}, {{40, 1}, {1, 15}}, {{40, 15}}},
    {"LogicalOr", "broadcast_logical_or", "", {}, {{40, 1}, {1, 15}}, {{40, 15}}},
    {"LogicalXor", "broadcast_logical_xor", "", {}, {{40, 1}, {1, 15}}, {{40, 15}}},
    {"ManyAxes",
     "broadcast_add",
     "",
     {},
     {{2, 1, 2, 1, 2, 1, 3}, {1, 2, 1, 2, 1, 2, 1}},
     {{2, 2, 2, 2, 2, 2, 3}}},
    {"EmptyAdd", "broadcast_add", "", {}, {{5, 1}, {1, 0}}, {{5, 0}}},
    {"EmptyLhs", "broadcast_add", "_backward_broadcast_add_lhs", {}, {{5, 0}}, {{5, 1}}},
};
INSTANTIATE_TEST_SUITE_P(Exact, BroadcastCudaTest, ::testing::ValuesIn(kExact),
                         [](const auto& info) { return info.param.name; });

const Shape kLhs = {5, 1, 7}, kRhs = {1, 50, 7}, kOut = {5, 50, 7};
const std::vector<Shape> kAll = {kOut, kLhs, kRhs};

// A function with gradients: the kernels broadcast_NAME, _backward_broadcast_NAME_lhs and _rhs.
struct Function {
  std::string name;
  std::vector<Shape> lhs_inputs, rhs_inputs;  // of the gradients: the output's gradient first
  // As KernelCase says.
  double roundings = 0, gradient_roundings = 0;
  double low = 0, high = 0;
  std::vector<DType> gradient_dtypes = KernelCase().dtypes;
};

const Function kFunctions[] = {
    {"add", {kOut}, {kOut}},
    {"sub", {kOut}, {kOut}},
    // Only these dtypes can represent the sums.
    {.name = "mul",
     .lhs_inputs = {kOut, kRhs},
     .rhs_inputs = {kOut, kLhs},
     .gradient_dtypes = {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64,
                         DType::kUint8}},
    {"maximum", kAll, kAll},
    {"minimum", kAll, kAll},
    {"div", {kOut, kRhs}, kAll, 8, 256, 0.5, 2},
    {"mod", {kOut}, kAll, 8, 256, 0.5, 4},
    {"power", kAll, kAll, 128, 4096, 0.5, 2},
    {"hypot", kAll, kAll, 16, 512, 0.5, 4},
};

// Returns the cases of kFunctions, each followed by those of its gradients.
std::vector<KernelCase> FunctionCases() {
  std::vector<KernelCase> cases;
  for (const Function& f : kFunctions) {
    KernelCase forward = {f.name, "broadcast_" + f.name, "", {}, {kLhs, kRhs}, {kOut}};
    forward.roundings = f.roundings;
    forward.low = f.low;
    forward.high = f.high;
    cases.push_back(forward);
    const auto add_gradient = [&](const std::string& side, const std::vector<Shape>& inputs,
                                  const Shape& output) {
      KernelCase gradient = forward;
      gradient.name += side;
      gradient.kernel = "_backward_" + forward.op + side;
      gradient.inputs = inputs;
      gradient.outputs = {output};
      gradient.roundings = f.gradient_roundings;
      gradient.dtypes = f.gradient_dtypes;
      cases.push_back(gradient);
    };
    add_gradient("_lhs", f.lhs_inputs, kLhs);
    add_gradient("_rhs", f.rhs_inputs, kRhs);
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Functions, BroadcastCudaTest, ::testing::ValuesIn(FunctionCases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace cooper
