// Compares reductions and their gradients on a GPU with the CPU.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ostream>
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

// Inputs are small integers, so every result is exact in every dtype.
const KernelCase kExact[] = {
    {"SumAll", "sum", "", {}, {{6, 7, 8}}, {{1}}},
    {"SumBackwardAll", "sum", "_backward_sum", {}, {{1}}, {{6, 7, 8}}},
    {"SumLast", "sum", "", {{"axis", "1"}}, {{40, 70}}, {{40}}},
    {"SumBackwardLast", "sum", "_backward_sum", {{"axis", "1"}}, {{40}}, {{40, 70}}},
    {"SumRowsOfFours", "sum", "", {{"axis", "1"}}, {{40, 72}}, {{40}}},
    {"SumLongRowsOfFours", "sum", "", {{"axis", "1"}}, {{3, 5000}}, {{3}}},
    {"SumRowsOfFoursApart", "sum", "", {{"axis", "(0, 2)"}}, {{5, 3, 20}}, {{3}}},
    {"SumRowsThatBeginOdd", "sum", "", {{"axis", "(0, 2)"}}, {{5, 3, 18}}, {{3}}},
    {"SumAllOfFours", "sum", "", {}, {{30, 400}}, {{1}}},
    {"SumFirst", "sum", "", {{"axis", "0"}}, {{90, 40}}, {{40}}},
    {"SumBackwardFirst", "sum", "_backward_sum", {{"axis", "0"}}, {{40}}, {{90, 40}}},
    {"SumFirstFew", "sum", "", {{"axis", "0"}}, {{90, 3}}, {{3}}},
    {"SumBackwardFirstFew", "sum", "_backward_sum", {{"axis", "0"}}, {{3}}, {{90, 3}}},
    {"SumMiddle", "sum", "", {{"axis", "1"}}, {{3, 20, 5}}, {{3, 5}}},
    {"SumBackwardMiddle", "sum", "_backward_sum", {{"axis", "1"}}, {{3, 5}}, {{3, 20, 5}}},
    {"SumEnds", "sum", "", {{"axis", "(0, 2)"}, {"keepdims", "True"}}, {{4, 5, 6}}, {{1, 5, 1}}},
    {"SumBackwardEnds",
     "sum",
     "_backward_sum",
     {{"axis", "(0, 2)"}, {"keepdims", "True"}},
     {{1, 5, 1}},
     {{4, 5, 6}}},
    {"SumExclude", "sum", "", {{"axis", "1"}, {"exclude", "True"}}, {{4, 5, 6}}, {{5}}},
    {"SumBackwardExclude",
     "sum",
     "_backward_sum",
     {{"axis", "1"}, {"exclude", "True"}},
     {{5}},
     {{4, 5, 6}}},
    {"SumSizeOne", "sum", "", {{"axis", "1"}}, {{5, 1, 6}}, {{5, 6}}},
    {"SumBackwardSizeOne", "sum", "_backward_sum", {{"axis", "1"}}, {{5, 6}}, {{5, 1, 6}}},
    {"SumEmpty", "sum", "", {{"axis", "1"}}, {{5, 0}}, {{5}}},
    {"SumBackwardEmpty", "sum", "_backward_sum", {{"axis", "1"}}, {{5}}, {{5, 0}}},
    {"SumNoOutput", "sum", "", {{"axis", "1"}}, {{0, 5}}, {{0}}},
    {"Max", "max", "", {{"axis", "1"}}, {{30, 60}}, {{30}}},
    {"MaxFirst", "max", "", {{"axis", "0"}}, {{60, 30}}, {{30}}},
    {"MaxBackward", "max", "_backward_max", {{"axis", "1"}}, {{30}, {30, 9}, {30}}, {{30, 9}}},
    {"Min", "min", "", {{"axis", "1"}}, {{30, 60}}, {{30}}},
    {"MinFirst", "min", "", {{"axis", "0"}}, {{60, 30}}, {{30}}},
    {"MinBackward", "min", "_backward_min", {{"axis", "1"}}, {{30}, {30, 9}, {30}}, {{30, 9}}},
    {"ArgmaxLong", "argmax", "", {{"axis", "1"}}, {{5, 300}}, {{5}}},
    {"ArgmaxShort", "argmax", "", {{"axis", "1"}}, {{300, 5}}, {{300}}},
    {"ArgmaxFirst", "argmax", "", {{"axis", "0"}}, {{100, 7}}, {{7}}},
    {"ArgmaxWhole", "argmax", "", {}, {{10, 31}}, {{1}}},
    {"ArgminLong", "argmin", "", {{"axis", "1"}}, {{5, 300}}, {{5}}},
    {"ArgminShort", "argmin", "", {{"axis", "1"}}, {{300, 5}}, {{300}}},
    {"ArgminFirst", "argmin", "", {{"axis", "0"}}, {{100, 7}}, {{7}}},
    {"ArgminWhole", "argmin", "", {}, {{10, 31}}, {{1}}},
    {"ArgmaxWarps", "argmax", "", {{"axis", "1"}}, {{19, 333}}, {{19}}},
    {"ArgmaxColumns", "argmax", "", {{"axis", "0"}}, {{150, 35}}, {{35}}},
    {"ArgmaxMiddle", "argmax", "", {{"axis", "1"}}, {{2, 129, 33}}, {{2, 33}}},
    {"ArgmaxChannel", "argmax_channel", "", {}, {{50, 6}}, {{50}}},
    {"CumsumShort", "_np_cumsum", "", {{"axis", "1"}}, {{5, 9, 7}}, {{5, 9, 7}}},
    {"CumsumLong", "_np_cumsum", "", {}, {{3, 20, 3}}, {{3, 20, 3}}},
};
INSTANTIATE_TEST_SUITE_P(Exact, ReduceCudaTest, ::testing::ValuesIn(kExact),
                         [](const auto& info) { return info.param.name; });

// Sums that only some dtypes can represent.
const KernelCase kLong[] = {
    {"SumLong", "sum", "", {}, {{20011}}, {{1}}},
    {"SumLongColumns", "sum", "", {{"axis", "0"}}, {{3001, 5}}, {{5}}},
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
    {"ArgmaxBlock", "argmax", "", {{"axis", "1"}}, {{3, 2500}}, {{3}}},
    {"ArgmaxParts", "argmax", "", {{"axis", "1"}}, {{2, 12345}}, {{2}}},
    {"ArgminParts", "argmin", "", {}, {{8201}}, {{1}}},
    {"ArgminPartsApart", "argmin", "", {{"axis", "0"}}, {{8301, 2}}, {{2}}},
    {"ArgmaxManyParts", "argmax", "", {{"axis", "0"}}, {{2100, 32}}, {{32}}},
    {"ArgmaxChannelParts", "argmax_channel", "", {}, {{2, 9000}}, {{2}}},
    {"CumsumChunks", "_np_cumsum", "", {{"axis", "1"}}, {{2, 17003}}, {{2, 17003}}},
    {"CumsumChunksOfFours", "_np_cumsum", "", {}, {{2, 8 << 10}}, {{16 << 10}}},
    {"CumsumChunksApart", "_np_cumsum", "", {{"axis", "0"}}, {{16501, 2}}, {{16501, 2}}},
    {"CumsumChunksBackward", "_np_cumsum", "_backward_np_cumsum", {}, {{16501}}, {{16501}}},
    {"CumsumFoursBackward",
     "_np_cumsum",
     "_backward_np_cumsum",
     {{"axis", "1"}},
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
  KernelCase test = {"SumParts", "sum", "", {{"axis", "0"}}, {{40000, 5}}, {{5}}};
  test.dtypes = {DType::kFloat64};
  ExpectEqualKernels(test);
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
    {{"MeanLast", "mean", "", {{"axis", "1"}}, {{40, 70}}, {{40}}}, 16},
    {{"MeanEmpty", "mean", "", {{"axis", "1"}}, {{5, 0}}, {{5}}}, 2},
    {{"MeanBackward", "mean", "_backward_mean", {{"axis", "1"}}, {{40}}, {{40, 70}}}, 4},
    {{"Prod", "prod", "", {{"axis", "1"}}, {{30, 6}}, {{30}}}, 64},
    {{"ProdBackward", "prod", "_backward_prod", {{"axis", "1"}}, {{30}, {30, 6}, {30}}, {{30, 6}}},
     16,
     0.5,
     2},
    {{"Nansum", "nansum", "", {{"axis", "1"}}, {{30, 6}}, {{30}}}, 16},
    {{"NansumBackward", "nansum", "_backward_nansum", {{"axis", "1"}}, {{30}, {30, 6}}, {{30, 6}}},
     2},
    {{"Nanprod", "nanprod", "", {{"axis", "1"}}, {{30, 6}}, {{30}}}, 64},
    {{"NanprodBackward",
      "nanprod",
      "_backward_nanprod",
      {{"axis", "1"}},
      {{30}, {30, 6}, {30}},
      {{30, 6}}},
     16,
     0.5,
     2},
    {{"Norm1", "norm", "", {{"axis", "1"}, {"ord", "1"}}, {{30, 60}}, {{30}}}, 16},
    {{"Norm2", "norm", "", {{"axis", "1"}}, {{30, 60}}, {{30}}}, 16},
    {{"Norm1Backward",
      "norm",
      "_backward_norm",
      {{"axis", "1"}, {"ord", "1"}},
      {{30}, {30, 9}, {30}},
      {{30, 9}}},
     4},
    {{"Norm2Backward", "norm", "_backward_norm", {{"axis", "1"}}, {{30}, {30, 9}, {30}}, {{30, 9}}},
     16,
     0.5,
     2},
    {{"Moments", "moments", "", {{"axes", "(1,)"}}, {{20, 30}}, {{20}, {20}}}, 32},
    {{"MomentsBackward",
      "moments",
      "_backward_moments",
      {{"axes", "(1,)"}},
      {{20}, {20}, {20, 30}, {20}},
      {{20, 30}}},
     64},
    {{"CumsumBlocks", "_np_cumsum", "", {{"axis", "1"}}, {{3, 600}}, {{3, 600}}}, 64, 0, 1},
    {{"CumsumBackward",
      "_np_cumsum",
      "_backward_np_cumsum",
      {{"axis", "1"}},
      {{3, 300}},
      {{3, 300}}},
     64,
     0,
     1},
};

class ReduceCudaCloseTest : public ::testing::TestWithParam<CloseCase> {};

TEST_P(ReduceCudaCloseTest, IsCloseToTheCpus) {
  COOPER_REQUIRE_GPU();
  KernelCase test = GetParam().test;
  test.roundings = GetParam().roundings;
  test.low = GetParam().low;
  test.high = GetParam().high;
  ExpectEqualKernels(test);
}

INSTANTIATE_TEST_SUITE_P(All, ReduceCudaCloseTest, ::testing::ValuesIn(kClose),
                         [](const auto& info) { return info.param.test.name; });

}  // namespace
}  // namespace cooper
