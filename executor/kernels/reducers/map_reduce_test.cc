// Compares reductions over every set of axes with a loop in double; tests compute types and
// threads.

#include "executor/kernels/reducers/map_reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "executor/kernels/elemwise/binary_functions.h"
#include "executor/kernels/loops/unary_functions.h"
#include "executor/kernels/reducers/reduce_loops.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// Returns the index in an array with extents `kept`, each 1 or that of `full`, of element `i` of
// `full`.
int64_t PositionIn(const Shape& kept, const Shape& full, int64_t i) {
  int64_t position = 0;
  int64_t step = 1;
  for (int axis = full.rank() - 1; axis >= 0; --axis) {
    if (kept[axis] != 1) position += i % full[axis] * step;
    i /= full[axis];
    step *= kept[axis];
  }
  return position;
}

float ValueAt(int64_t i) { return static_cast<float>(i * 7 % 11) * 0.25f - 1; }

std::vector<float> Values(int64_t n) {
  std::vector<float> values(n);
  for (int64_t i = 0; i < n; ++i) values[i] = ValueAt(i);
  return values;
}

std::vector<float> Reduce(const Reduction& reduction, const Shape& full, const Shape& kept,
                          WriteReq req, float before) {
  const std::vector<float> data = Values(full.num_elements());
  std::vector<float> result(kept.num_elements(), before);
  const ArrayView output{result.data(), kept, DType::kFloat32};
  std::vector<double> workspace(ReductionWorkspace(output, req, reduction.end) / sizeof(double));
  COOPER_EXPECT_OK(RunReduction(reduction, full.dims(), {{data.data(), DType::kFloat32}},
                                {full.dims()}, output, kept.dims(), req, workspace.data()));
  return result;
}

TEST(MapReduceTest, EverySetOfAxes) {
  for (const Shape& full : {Shape{3, 4, 5, 2}, Shape{1, 600, 1, 40}, Shape{70, 1, 35, 9},
                            Shape{2, 3, 1, 700}, Shape{3, 0, 2, 2}, Shape{1, 20'000, 1, 7}}) {
    for (int mask = 0; mask < 16; ++mask) {
      Shape kept = full;
      for (int axis = 0; axis < 4; ++axis) {
        if ((mask >> axis) & 1) kept[axis] = 1;
      }
      std::vector<double> sums(kept.num_elements(), 0);
      std::vector<float> greatest(sums.size(), -std::numeric_limits<float>::infinity());
      for (int64_t i = 0; i < full.num_elements(); ++i) {
        const int64_t to = PositionIn(kept, full, i);
        sums[to] += ValueAt(i);
        greatest[to] = std::max(greatest[to], ValueAt(i));
      }
      const auto written = Reduce({}, full, kept, WriteReq::kWrite, 77);
      const auto added = Reduce({}, full, kept, WriteReq::kAdd, 2);
      const auto maxima = Reduce({.reducer = Reducer::kMax}, full, kept, WriteReq::kWrite, 0);
      for (size_t i = 0; i < sums.size(); ++i) {
        // All values are multiples of 1/4, so their sums are exact.
        ASSERT_EQ(written[i], sums[i]) << full << " to " << kept << ", element " << i;
        ASSERT_EQ(added[i], 2 + sums[i]) << full << " to " << kept << ", element " << i;
        ASSERT_EQ(maxima[i], greatest[i]) << full << " to " << kept << ", element " << i;
      }
    }
  }
}

TEST(MapReduceTest, FusedLoopsGiveTheValuesOfTheMap) {
  for (const Shape& full : {Shape{3, 4, 5, 2}, Shape{70, 1, 35, 9}, Shape{2, 3, 1, 700},
                            Shape{1, 600, 1, 40}, Shape{1, 20'000, 1, 7}}) {
    for (int mask = 1; mask < 16; ++mask) {
      Shape kept = full;
      for (int axis = 0; axis < 4; ++axis) {
        if ((mask >> axis) & 1) kept[axis] = 1;
      }
      // Squares are multiples of 1/16, so their sums are exact.
      const Reduction blocks{.map = &kElemwiseLoops<Square>};
      const Reduction fused{.map = blocks.map, .loops = &kReducerLoops<Reducer::kSum, Square>};
      EXPECT_EQ(Reduce(fused, full, kept, WriteReq::kAdd, 2),
                Reduce(blocks, full, kept, WriteReq::kAdd, 2))
          << full << " to " << kept;
    }
  }
}

TEST(MapReduceTest, BoolsAreOfTheOperandsInTheirDType) {
  const std::vector<float> data = {0.5f, 0, 0, 0.25f, 0.5f, 2};
  for (const Shape& kept : {Shape{2, 1}, Shape{2, 3}}) {
    std::vector<char> result(kept.num_elements());
    std::vector<double> workspace(result.size());
    const ArrayView output{result.data(), kept, DType::kBool};
    const int64_t full[] = {2, 3};
    COOPER_ASSERT_OK(RunReduction({.reducer = Reducer::kProduct}, full,
                                  {{data.data(), DType::kFloat32}}, {full}, output, kept.dims(),
                                  WriteReq::kWrite, workspace.data()));
    for (size_t i = 0; i < result.size(); ++i) {
      EXPECT_EQ(result[i] != 0, kept[1] == 1 ? i == 1 : data[i] != 0) << i;
    }
  }
}

TEST(MapReduceTest, DividesThenTakesTheRoot) {
  const auto result = Reduce({.reducer = Reducer::kMax, .end = {.divisor = 6, .square_root = true}},
                             {1, 11}, {1, 1}, WriteReq::kWrite, 0);
  EXPECT_FLOAT_EQ(result[0], 0.5f);  // the greatest value is 1.5
}

TEST(MapReduceTest, ReducesAFunctionOfBroadcastOperands) {
  const Shape full{6, 500};
  const std::vector<float> a = Values(3000), b = Values(500);
  std::vector<float> result(500);
  const ArrayView output{result.data(), {500}, DType::kFloat32};
  const int64_t row[] = {500};
  COOPER_ASSERT_OK(RunReduction({.map = &kElemwiseLoops<Mul>}, full.dims(),
                                {{a.data(), DType::kFloat32}, {b.data(), DType::kFloat32}},
                                {full.dims(), row}, output, row, WriteReq::kWrite, nullptr));
  for (int64_t j = 0; j < 500; ++j) {
    float expected = 0;
    for (int64_t i = 0; i < 6; ++i) expected += a[i * 500 + j] * b[j];
    ASSERT_EQ(result[j], expected) << j;
  }
}

TEST(MapReduceTest, SumsOfFloat16AreKeptInFloat) {
  // In float16 the sum of ones would stay at 2048.
  const std::vector<Float16> ones(3 * 4096, Float16(1.0f));
  std::vector<Float16> result(3);
  const ArrayView output{result.data(), {1, 3}, DType::kFloat16};
  std::vector<double> workspace(3);
  const int64_t full[] = {4096, 3};
  const int64_t kept[] = {1, 3};
  COOPER_ASSERT_OK(RunReduction({}, full, {{ones.data(), DType::kFloat16}}, {full}, output, kept,
                                WriteReq::kWrite, workspace.data()));
  for (Float16 sum : result) EXPECT_EQ(static_cast<float>(sum), 4096.0f);
}

TEST(MapReduceTest, MaxOfNanIsNan) {
  for (int64_t position : {0, 5, 99}) {
    std::vector<float> data = Values(100);
    data[position] = std::numeric_limits<float>::quiet_NaN();
    float result = 0;
    const int64_t full[] = {100}, kept[] = {1};
    for (Reducer reducer : {Reducer::kMax, Reducer::kMin}) {
      COOPER_ASSERT_OK(RunReduction({.reducer = reducer}, full, {{data.data(), DType::kFloat32}},
                                    {full}, {&result, {1}, DType::kFloat32}, kept, WriteReq::kWrite,
                                    nullptr));
      EXPECT_TRUE(std::isnan(result)) << position;
    }
  }
}

TEST(MapReduceTest, TheNumberOfThreadsChangesNoBit) {
  const int threads = NumThreads();
  const Shape full{37, 301, 29};
  std::vector<float> data(full.num_elements());
  for (size_t i = 0; i < data.size(); ++i) data[i] = std::sin(static_cast<float>(i));
  for (int mask = 0; mask < 8; ++mask) {
    Shape kept = full;
    for (int axis = 0; axis < 3; ++axis) {
      if ((mask >> axis) & 1) kept[axis] = 1;
    }
    std::vector<float> results[2];
    for (int run = 0; run < 2; ++run) {
      SetNumThreads(run == 0 ? 1 : 3);
      results[run].resize(kept.num_elements());
      COOPER_ASSERT_OK(RunReduction({}, full.dims(), {{data.data(), DType::kFloat32}},
                                    {full.dims()}, {results[run].data(), kept, DType::kFloat32},
                                    kept.dims(), WriteReq::kWrite, nullptr));
    }
    EXPECT_EQ(results[0], results[1]) << kept;
  }
  SetNumThreads(threads);
}

}  // namespace
}  // namespace cooper
