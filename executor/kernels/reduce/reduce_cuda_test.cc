// Compares reductions and their gradients on a GPU with the CPU.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "executor/kernels/launch/compare_kernels.h"
#include "executor/kernels/launch/run_kernel.h"
#include "executor/program/kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "symbol/graph/symbol.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

class ReduceCudaTest : public ::testing::TestWithParam<KernelCase> {};

TEST_P(ReduceCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  ExpectEqualKernels(GetParam());
}

std::string NameOf(const ::testing::TestParamInfo<KernelCase>& info) { return info.param.name; }

const AttrMap kAxis0 = {{"axis", "0"}}, kAxis1 = {{"axis", "1"}};

// Inputs are small integers, so every result is exact in every dtype.
const KernelCase kExact[] = {
    {"SumRowsOfFours", "sum", "", kAxis1, {{40, 72}}, {{40}}},
    {"SumLongRowsOfFours", "sum", "", kAxis1, {{3, 5000}}, {{3}}},
    {"SumRowsOfFoursApart", "sum", "", {{"axis", "(0, 2)"}}, {{5, 3, 20}}, {{3}}},
    {"SumRowsThatBeginOdd", "sum", "", {{"axis", "(0, 2)"}}, {{5, 3, 18}}, {{3}}},
    {"SumAllOfFours", "sum", "", {}, {{30, 400}}, {{1}}},
    {"SumNoOutput", "sum", "", kAxis1, {{0, 5}}, {{0}}},
    {"Max", "max", "", kAxis1, {{30, 60}}, {{30}}},
    {"MaxFirst", "max", "", kAxis0, {{60, 30}}, {{30}}},
    {"MaxBackward", "max", "_backward_max", kAxis1, {{30}, {30, 9}, {30}}, {{30, 9}}},
    {"Min", "min", "", kAxis1, {{30, 60}}, {{30}}},
    {"MinFirst", "min", "", kAxis0, {{60, 30}}, {{30}}},
    {"MinBackward", "min", "_backward_min", kAxis1, {{30}, {30, 9}, {30}}, {{30, 9}}},
    {"ArgmaxLong", "argmax", "", kAxis1, {{5, 300}}, {{5}}},
    {"ArgmaxShort", "argmax", "", kAxis1, {{300, 5}}, {{300}}},
    {"ArgmaxFirst", "argmax", "", kAxis0, {{100, 7}}, {{7}}},
    {"ArgmaxWhole", "argmax", "", {}, {{10, 31}}, {{1}}},
    {"ArgminLong", "argmin", "", kAxis1, {{5, 300}}, {{5}}},
    {"ArgminShort", "argmin", "", kAxis1, {{300, 5}}, {{300}}},
    {"ArgminFirst", "argmin", "", kAxis0, {{100, 7}}, {{7}}},
    {"ArgminWhole", "argmin", "", {}, {{10, 31}}, {{1}}},
    {"ArgmaxWarps", "argmax", "", kAxis1, {{19, 333}}, {{19}}},
    {"ArgmaxColumns", "argmax", "", kAxis0, {{150, 35}}, {{35}}},
    {"ArgmaxMiddle", "argmax", "", kAxis1, {{2, 129, 33}}, {{2, 33}}},
    {"ArgmaxChannel", "argmax_channel", "", {}, {{50, 6}}, {{50}}},
    {"CumsumShort", "_np_cumsum", "", kAxis1, {{5, 9, 7}}, {{5, 9, 7}}},
    {"CumsumLong", "_np_cumsum", "", {}, {{3, 20, 3}}, {{3, 20, 3}}},
};
INSTANTIATE_TEST_SUITE_P(Exact, ReduceCudaTest, ::testing::ValuesIn(kExact), NameOf);

// Each sum is followed by its gradient, whose input has the shape of the sum's output.
std::vector<KernelCase> SumsAndGradients() {
  const AttrMap keep_ends = {{"axis", "(0, 2)"}, {"keepdims", "True"}};
  const AttrMap exclude = {{"axis", "1"}, {"exclude", "True"}};
  std::vector<KernelCase> cases;
  for (const KernelCase& sum : std::vector<KernelCase>{
           {"SumAll", "sum", "", {}, {{6, 7, 8}}, {{1}}},
           {"SumLast", "sum", "", kAxis1, {{40, 70}}, {{40}}},
           {"SumFirst", "sum", "", kAxis0, {{90, 40}}, {{40}}},
           {"SumFirstFew", "sum", "", kAxis0, {{90, 3}}, {{3}}},
           {"SumMiddle", "sum", "", kAxis1, {{3, 20, 5}}, {{3, 5}}},
           {"SumEnds", "sum", "", keep_ends, {{4, 5, 6}}, {{1, 5, 1}}},
           {"SumExclude", "sum", "", exclude, {{4, 5, 6}}, {{5}}},
           {"SumSizeOne", "sum", "", kAxis1, {{5, 1, 6}}, {{5, 6}}},
           {"SumEmpty", "sum", "", kAxis1, {{5, 0}}, {{5}}},
       }) {
    cases.push_back(sum);
    cases.push_back(
        {sum.name + "Backward", "sum", "_backward_sum", sum.attrs, sum.outputs, sum.inputs});
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Sums, ReduceCudaTest, ::testing::ValuesIn(SumsAndGradients()), NameOf);

// Sums that only some dtypes can represent.
const KernelCase kLong[] = {
    {"SumLong", "sum", "", {}, {{20011}}, {{1}}},
    {"SumLongColumns", "sum", "", kAxis0, {{3001, 5}}, {{5}}},
};

TEST(ReduceCudaLongTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  for (KernelCase test : kLong) {
    test.dtypes = {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64, DType::kUint8};
    ExpectEqualKernels(test);
  }
}

// Lines with several parts, or searched by a whole block, that do not end at a whole group of
// loads.
const KernelCase kParts[] = {
    {"ArgmaxBlock", "argmax", "", kAxis1, {{3, 2500}}, {{3}}},
    {"ArgmaxParts", "argmax", "", kAxis1, {{2, 12345}}, {{2}}},
    {"ArgminParts", "argmin", "", {}, {{8201}}, {{1}}},
    {"ArgminPartsApart", "argmin", "", kAxis0, {{8301, 2}}, {{2}}},
    {"ArgmaxManyParts", "argmax", "", kAxis0, {{2100, 32}}, {{32}}},
    {"ArgmaxChannelParts", "argmax_channel", "", {}, {{2, 9000}}, {{2}}},
    {"CumsumChunks", "_np_cumsum", "", kAxis1, {{2, 17003}}, {{2, 17003}}},
    {"CumsumChunksOfFours", "_np_cumsum", "", {}, {{2, 8 << 10}}, {{16 << 10}}},
    {"CumsumChunksApart", "_np_cumsum", "", kAxis0, {{16501, 2}}, {{16501, 2}}},
    {"CumsumChunksBackward", "_np_cumsum", "_backward_np_cumsum", {}, {{16501}}, {{16501}}},
    {"CumsumFoursBackward",
     "_np_cumsum",
     "_backward_np_cumsum",
     kAxis1,
     {{2, 17000}},
     {{2, 17000}}},
};

TEST(ReduceCudaPartsTest, EqualTheCpus) {
  COOPER_REQUIRE_GPU();
  for (KernelCase test : kParts) {
    SCOPED_TRACE(test.name);
    test.dtypes = {DType::kFloat32, DType::kFloat64, DType::kInt32};
    ExpectEqualKernels(test);
  }
}

// NaNs are in several parts and lanes; the first one wins over all numbers.
TEST(ReduceCudaPartsTest, ArgmaxFindsTheFirstNan) {
  COOPER_REQUIRE_GPU();
  const Symbol symbol =
      *Symbol::Create("argmax", {.inputs = {Symbol::Variable("data")}, .attrs = {{"axis", "1"}}});
  for (int64_t length : {100, 2500, 12345}) {
    NDArray data = *NDArray::Zeros({3, length}, DType::kFloat32);
    auto* const values = static_cast<float*>(data.raw_data());
    for (int64_t i = 0; i < 3 * length; ++i) values[i] = static_cast<float>(i % 7);
    values[length - 1] = NAN;
    for (int64_t i : {length - 2, length - 9, length - 40, length / 2 + 33}) {
      values[length + i] = NAN;
    }
    values[2 * length + length / 3] = INFINITY;
    const KernelRun run = {.kernel = "argmax",
                           .call = symbol.outputs()[0].node->call(),
                           .inputs = {data},
                           .outputs = {*NDArray::Zeros({3}, DType::kFloat32)},
                           .reqs = {WriteReq::kWrite}};
    COOPER_ASSERT_OK_AND_ASSIGN(const auto arrays, RunKernelOn(Context::Gpu(0), run));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto found, arrays[1].ToVector<float>());
    const int64_t first = std::min(length - 40, length / 2 + 33);
    EXPECT_THAT(found, ::testing::ElementsAre(length - 1, first, length / 3)) << length;
  }
}

// 156 parts of 5 sums use more than half of the workspace, whose size allows for 256 parts.
TEST(ReduceCudaLongTest, PartsFitTheirWorkspace) {
  COOPER_REQUIRE_GPU();
  KernelCase test = {"SumParts", "sum", "", kAxis0, {{40000, 5}}, {{5}}};
  test.dtypes = {DType::kFloat64};
  ExpectEqualKernels(test);
}

// Returns the case with numbers from `low` to `high` and a tolerance.
KernelCase Close(double roundings, double low, double high, KernelCase test) {
  test.roundings = roundings;
  test.low = low;
  test.high = high;
  return test;
}

const KernelCase kClose[] = {
    Close(16, -2, 2, {"MeanLast", "mean", "", kAxis1, {{40, 70}}, {{40}}}),
    Close(2, -2, 2, {"MeanEmpty", "mean", "", kAxis1, {{5, 0}}, {{5}}}),
    Close(4, -2, 2, {"MeanBackward", "mean", "_backward_mean", kAxis1, {{40}}, {{40, 70}}}),
    Close(64, -2, 2, {"Prod", "prod", "", kAxis1, {{30, 6}}, {{30}}}),
    Close(16, 0.5, 2,
          {"ProdBackward", "prod", "_backward_prod", kAxis1, {{30}, {30, 6}, {30}}, {{30, 6}}}),
    Close(16, -2, 2, {"Nansum", "nansum", "", kAxis1, {{30, 6}}, {{30}}}),
    Close(2, -2, 2,
          {"NansumBackward", "nansum", "_backward_nansum", kAxis1, {{30}, {30, 6}}, {{30, 6}}}),
    Close(64, -2, 2, {"Nanprod", "nanprod", "", kAxis1, {{30, 6}}, {{30}}}),
    Close(16, 0.5, 2,
          {"NanprodBackward",
           "nanprod",
           "_backward_nanprod",
           kAxis1,
           {{30}, {30, 6}, {30}},
           {{30, 6}}}),
    Close(16, -2, 2, {"Norm1", "norm", "", {{"axis", "1"}, {"ord", "1"}}, {{30, 60}}, {{30}}}),
    Close(16, -2, 2, {"Norm2", "norm", "", kAxis1, {{30, 60}}, {{30}}}),
    Close(4, -2, 2,
          {"Norm1Backward",
           "norm",
           "_backward_norm",
           {{"axis", "1"}, {"ord", "1"}},
           {{30}, {30, 9}, {30}},
           {{30, 9}}}),
    Close(16, 0.5, 2,
          {"Norm2Backward", "norm", "_backward_norm", kAxis1, {{30}, {30, 9}, {30}}, {{30, 9}}}),
    Close(32, -2, 2, {"Moments", "moments", "", {{"axes", "(1,)"}}, {{20, 30}}, {{20}, {20}}}),
    Close(64, -2, 2,
          {"MomentsBackward",
           "moments",
           "_backward_moments",
           {{"axes", "(1,)"}},
           {{20}, {20}, {20, 30}, {20}},
           {{20, 30}}}),
    Close(64, 0, 1, {"CumsumBlocks", "_np_cumsum", "", kAxis1, {{3, 600}}, {{3, 600}}}),
    Close(64, 0, 1,
          {"CumsumBackward", "_np_cumsum", "_backward_np_cumsum", kAxis1, {{3, 300}}, {{3, 300}}}),
};
INSTANTIATE_TEST_SUITE_P(Close, ReduceCudaTest, ::testing::ValuesIn(kClose), NameOf);

}  // namespace
}  // namespace cooper
