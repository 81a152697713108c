// Compares broadcasting operators and their gradients on a GPU with the CPU.

#include <ostream>
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
    {"Add", "broadcast_add", "", {}, {{5, 1, 7}, {1, 50, 7}}, {{5, 50, 7}}},
    {"AddLhs", "broadcast_add", "_backward_broadcast_add_lhs", {}, {{5, 50, 7}}, {{5, 1, 7}}},
    {"AddRhs", "broadcast_add", "_backward_broadcast_add_rhs", {}, {{5, 50, 7}}, {{1, 50, 7}}},
    {"Sub", "broadcast_sub", "", {}, {{5, 1, 7}, {1, 50, 7}}, {{5, 50, 7}}},
    {"SubLhs", "broadcast_sub", "_backward_broadcast_sub_lhs", {}, {{5, 50, 7}}, {{5, 1, 7}}},
    {"SubRhs", "broadcast_sub", "_backward_broadcast_sub_rhs", {}, {{5, 50, 7}}, {{1, 50, 7}}},
    {"Mul", "broadcast_mul", "", {}, {{5, 1, 7}, {1, 50, 7}}, {{5, 50, 7}}},
    {"Maximum", "broadcast_maximum", "", {}, {{5, 1, 7}, {1, 50, 7}}, {{5, 50, 7}}},
    {"MaximumLhs",
     "broadcast_maximum",
     "_backward_broadcast_maximum_lhs",
     {},
     {{5, 50, 7}, {5, 1, 7}, {1, 50, 7}},
     {{5, 1, 7}}},
    {"MaximumRhs",
     "broadcast_maximum",
     "_backward_broadcast_maximum_rhs",
     {},
     {{5, 50, 7}, {5, 1, 7}, {1, 50, 7}},
     {{1, 50, 7}}},
    {"Minimum", "broadcast_minimum", "", {}, {{5, 1, 7}, {1, 50, 7}}, {{5, 50, 7}}},
    {"MinimumLhs",
     "broadcast_minimum",
     "_backward_broadcast_minimum_lhs",
     {},
     {{5, 50, 7}, {5, 1, 7}, {1, 50, 7}},
     {{5, 1, 7}}},
    {"MinimumRhs",
     "broadcast_minimum",
     "_backward_broadcast_minimum_rhs",
     {},
     {{5, 50, 7}, {5, 1, 7}, {1, 50, 7}},
     {{1, 50, 7}}},
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

// Sums that only some dtypes can represent.
const KernelCase kLong[] = {
    {"MulLhs",
     "broadcast_mul",
     "_backward_broadcast_mul_lhs",
     {},
     {{5, 50, 7}, {1, 50, 7}},
     {{5, 1, 7}}},
    {"MulRhs",
     "broadcast_mul",
     "_backward_broadcast_mul_rhs",
     {},
     {{5, 50, 7}, {5, 1, 7}},
     {{1, 50, 7}}},
};

TEST(BroadcastCudaLongTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  for (KernelCase test : kLong) {
    test.dtypes = {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64, DType::kUint8};
    ExpectEqualKernels(test);
  }
}

struct CloseCase {
  KernelCase test;
  double roundings;
  double low = -2, high = 2;

  friend std::ostream& operator<<(std::ostream& os, const CloseCase& c) {
    return os << c.test.name;
  }
};

const CloseCase kClose[] = {
    {{"Div", "broadcast_div", "", {}, {{5, 1, 7}, {1, 50, 7}}, {{5, 50, 7}}}, 8, 0.5, 2},
    {{"DivLhs",
      "broadcast_div",
      "_backward_broadcast_div_lhs",
      {},
      {{5, 50, 7}, {1, 50, 7}},
      {{5, 1, 7}}},
     256,
     0.5,
     2},
    {{"DivRhs",
      "broadcast_div",
      "_backward_broadcast_div_rhs",
      {},
      {{5, 50, 7}, {5, 1, 7}, {1, 50, 7}},
      {{1, 50, 7}}},
     256,
     0.5,
     2},
    {{"Mod", "broadcast_mod", "", {}, {{5, 1, 7}, {1, 50, 7}}, {{5, 50, 7}}}, 8, 0.5, 4},
    {{"ModLhs", "broadcast_mod", "_backward_broadcast_mod_lhs", {}, {{5, 50, 7}}, {{5, 1, 7}}},
     256,
     0.5,
     4},
    {{"ModRhs",
      "broadcast_mod",
      "_backward_broadcast_mod_rhs",
      {},
      {{5, 50, 7}, {5, 1, 7}, {1, 50, 7}},
      {{1, 50, 7}}},
     256,
     0.5,
     4},
    {{"Power", "broadcast_power", "", {}, {{5, 1, 7}, {1, 50, 7}}, {{5, 50, 7}}}, 128, 0.5, 2},
    {{"PowerLhs",
      "broadcast_power",
      "_backward_broadcast_power_lhs",
      {},
      {{5, 50, 7}, {5, 1, 7}, {1, 50, 7}},
      {{5, 1, 7}}},
     4096,
     0.5,
     2},
    {{"PowerRhs",
      "broadcast_power",
      "_backward_broadcast_power_rhs",
      {},
      {{5, 50, 7}, {5, 1, 7}, {1, 50, 7}},
      {{1, 50, 7}}},
     4096,
     0.5,
     2},
    {{"Hypot", "broadcast_hypot", "", {}, {{5, 1, 7}, {1, 50, 7}}, {{5, 50, 7}}}, 16, 0.5, 4},
    {{"HypotLhs",
      "broadcast_hypot",
      "_backward_broadcast_hypot_lhs",
      {},
      {{5, 50, 7}, {5, 1, 7}, {1, 50, 7}},
      {{5, 1, 7}}},
     512,
     0.5,
     4},
    {{"HypotRhs",
      "broadcast_hypot",
      "_backward_broadcast_hypot_rhs",
      {},
      {{5, 50, 7}, {5, 1, 7}, {1, 50, 7}},
      {{1, 50, 7}}},
     512,
     0.5,
     4},
};

class BroadcastCudaCloseTest : public ::testing::TestWithParam<CloseCase> {};

TEST_P(BroadcastCudaCloseTest, IsCloseToTheCpus) {
  COOPER_REQUIRE_GPU();
  KernelCase test = GetParam().test;
  test.roundings = GetParam().roundings;
  test.low = GetParam().low;
  test.high = GetParam().high;
  ExpectEqualKernels(test);
}

INSTANTIATE_TEST_SUITE_P(All, BroadcastCudaCloseTest, ::testing::ValuesIn(kClose),
                         [](const auto& info) { return info.param.test.name; });

}  // namespace
}  // namespace cooper
