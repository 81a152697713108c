// Compares elementwise kernels with a plain loop in double: dtypes, requests, lengths around the
// block size, scalar operands, broadcasting, and outputs that share memory with inputs.

#include "executor/kernels/loops/elemwise_kernel.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/kernels/elemwise/activation_functions.h"
#include "executor/kernels/elemwise/binary_functions.h"
#include "executor/kernels/elemwise/parametric_functions.h"
#include "executor/kernels/loops/element_block.h"
#include "executor/kernels/loops/unary_functions.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/each_cpu_level.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// An array with its own storage, filled and read as double.
struct TestArray {
  TestArray(const Shape& shape, DType dtype) : storage(shape.num_elements() + 1) {
    view = {storage.data(), shape, dtype};
  }
  void Set(int64_t i, double value) {
    StoreBlock(&value, 1, WriteReq::kWrite, ElementAt(view.data, view.dtype, i), view.dtype);
  }
  double Get(int64_t i) const {
    double value;
    LoadBlock(ElementAt(view.data, view.dtype, i), view.dtype, 1, &value);
    return value;
  }
  std::vector<double> storage;
  ArrayView view;
};

double ValueAt(int64_t i) { return static_cast<double>(i * 7 % 23 - 5); }

TestArray Filled(const Shape& shape, DType dtype) {
  TestArray array(shape, dtype);
  for (int64_t i = 0; i < array.view.size(); ++i) array.Set(i, ValueAt(i));
  return array;
}

constexpr DType kDTypes[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBfloat16,
                             DType::kInt8,    DType::kInt32,   DType::kInt64};

TEST(ElemwiseKernelTest, EveryDTypeRequestAndLength) {
  for (DType dtype : kDTypes) {
    for (WriteReq req : {WriteReq::kNull, WriteReq::kWrite, WriteReq::kAdd}) {
      for (int64_t n : {0, 1, 7, 511, 512, 513, 1500, 40000}) {
        TestArray a = Filled({n}, dtype);
        TestArray b(Shape({n}), dtype);
        TestArray out(Shape({n}), dtype);
        for (int64_t i = 0; i < n; ++i) {
          b.Set(i, 2);
          out.Set(i, 3);
        }
        COOPER_ASSERT_OK(RunElemwise(kElemwiseLoops<Sub>, {OperandOf(a.view), OperandOf(b.view)},
                                     out.view, req));
        for (int64_t i = 0; i < n; ++i) {
          const double difference = ValueAt(i) - 2;
          const double expected = req == WriteReq::kNull    ? 3
                                  : req == WriteReq::kWrite ? difference
                                                            : difference + 3;
          ASSERT_EQ(out.Get(i), expected) << dtype << ", n " << n << ", element " << i;
        }
      }
    }
  }
}

TEST(ElemwiseKernelTest, ScalarIsRoundedToTheArraysDType) {
  TestArray a = Filled({5}, DType::kInt32);
  TestArray out(Shape({5}), DType::kInt32);
  COOPER_ASSERT_OK(RunElemwise(kElemwiseLoops<Mul>, {OperandOf(a.view), OperandOf(2.5)}, out.view,
                               WriteReq::kWrite));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(out.Get(i), ValueAt(i) * 2);
}

TEST(ElemwiseKernelTest, Int64IsExact) {
  TestArray a(Shape({1}), DType::kInt64);
  const int64_t big = (int64_t{1} << 60) + 1;
  *a.view.as<int64_t>() = big;
  COOPER_ASSERT_OK(RunElemwise(kElemwiseLoops<Add>, {OperandOf(a.view), OperandOf(1.0)}, a.view,
                               WriteReq::kWrite));
  EXPECT_EQ(*a.view.as<int64_t>(), big + 1);
}

// Tests the functions that map integers to integers on integers that double cannot represent.
TEST(ElemwiseKernelTest, FunctionsOfInt64AreExact) {
  const int64_t big = (int64_t{1} << 60) + 1, least = std::numeric_limits<int64_t>::min();
  struct Case {
    const char* name;
    const ElemwiseLoops& loops;
    std::vector<int64_t> operands;
    int64_t expected;
  };
  const Case cases[] = {
      {"relu", kElemwiseLoops<Relu>, {big}, big},
      {"relu of what is negative", kElemwiseLoops<Relu>, {-big}, 0},
      {"gradient of relu", kElemwiseLoops<ReluGrad>, {big, 1}, big},
      {"gradient of abs", kElemwiseLoops<AbsGrad>, {big, -1}, -big},
      {"gradient of square", kElemwiseLoops<SquareGrad>, {3, big}, 6 * big},
      {"abs", kElemwiseLoops<Abs>, {-big}, big},
      {"round", kElemwiseLoops<Round>, {big}, big},
      {"maximum", kElemwiseLoops<Maximum>, {big, big - 1}, big},
      {"gradient of maximum", kElemwiseLoops<MaximumGradLhs>, {big, big, big - 1}, big},
      {"gradient of minimum", kElemwiseLoops<MinimumGradRhs>, {big, big, big - 1}, big},
      {"clip", kElemwiseLoops<Clip>, {big, 0, big + 1}, big},
      {"mod", kElemwiseLoops<Mod>, {big, 10}, big % 10},
      {"mod of what is negative", kElemwiseLoops<Mod>, {-big, 10}, 10 - big % 10},
      {"mod by what is negative", kElemwiseLoops<Mod>, {big, -10}, big % 10 - 10},
      {"mod by -1", kElemwiseLoops<Mod>, {least, -1}, 0},
      {"mod by 0", kElemwiseLoops<Mod>, {big, 0}, 0},
      {"power", kElemwiseLoops<Power>, {3, 37}, 450283905890997363},
      {"power of what is negative", kElemwiseLoops<Power>, {-3, 37}, -450283905890997363},
      {"largest power", kElemwiseLoops<Power>, {5, 27}, 7450580596923828125},
      {"small power", kElemwiseLoops<Power>, {-2, 5}, -32},
      {"power 0", kElemwiseLoops<Power>, {big, 0}, 1},
      {"negative power", kElemwiseLoops<Power>, {2, -1}, 0},
      {"power beyond int64", kElemwiseLoops<Power>, {10, 30}, std::numeric_limits<int64_t>::max()},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    std::vector<TestArray> arrays;
    arrays.reserve(test.operands.size());
    std::vector<ElemwiseOperand> operands;
    for (const int64_t operand : test.operands) {
      *arrays.emplace_back(Shape({1}), DType::kInt64).view.as<int64_t>() = operand;
      operands.push_back(OperandOf(arrays.back().view));
    }
    TestArray out(Shape({1}), DType::kInt64);
    COOPER_ASSERT_OK(RunElemwise(test.loops, operands, out.view, WriteReq::kWrite));
    EXPECT_EQ(*out.view.as<int64_t>(), test.expected);
  }
}

TEST(ElemwiseKernelTest, IntegerDivisionByZeroIsZero) {
  TestArray a = Filled({4}, DType::kInt32);
  COOPER_ASSERT_OK(RunElemwise(kElemwiseLoops<Div>, {OperandOf(a.view), OperandOf(0.0)}, a.view,
                               WriteReq::kWrite));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(a.Get(i), 0);
}

TEST(ElemwiseKernelTest, OutputOverInput) {
  for (DType dtype : kDTypes) {
    TestArray a = Filled({1300}, dtype);
    TestArray b = Filled({1300}, dtype);
    COOPER_ASSERT_OK(RunElemwise(kElemwiseLoops<Add>, {OperandOf(a.view), OperandOf(b.view)},
                                 b.view, WriteReq::kWrite));
    for (int64_t i = 0; i < 1300; ++i) ASSERT_EQ(b.Get(i), 2 * ValueAt(i)) << dtype << " " << i;
  }
}

// Returns the offset, in an array of `shape` aligned at the last axes, of element `i` of `full`.
int64_t PositionIn(const Shape& shape, const Shape& full, int64_t i) {
  int64_t position = 0;
  int64_t step = 1;
  for (int axis = full.rank() - 1; axis >= 0; --axis) {
    const int own = axis - full.rank() + shape.rank();
    const int64_t index = i % full[axis];
    i /= full[axis];
    if (own < 0) continue;
    if (shape[own] != 1) position += index * step;
    step *= shape[own];
  }
  return position;
}

TEST(ElemwiseKernelTest, Broadcast) {
  struct Case {
    Shape lhs, rhs, full;
  };
  const Case cases[] = {
      {{2, 3}, {2, 3}, {2, 3}},
      {{4, 600}, {600}, {4, 600}},     // a row for all rows
      {{4, 600}, {4, 1}, {4, 600}},    // a number per row
      {{1}, {3, 2}, {3, 2}},           // a number for all
      {{2, 1, 4}, {3, 1}, {2, 3, 4}},  // both sides
      {{2, 1, 3, 1}, {1, 5, 1, 2}, {2, 5, 3, 2}},
      {{0, 3}, {1, 3}, {0, 3}},               // nothing
      {{50, 40, 30}, {40, 1}, {50, 40, 30}},  // several threads' worth
      {{900, 7}, {7}, {900, 7}},              // short rows
      {{900, 1}, {7}, {900, 7}},
      {{4, 1}, {1}, {4, 600}},  // rows of one number
  };
  for (const Case& test : cases) {
    for (DType dtype : {DType::kFloat32, DType::kFloat16, DType::kInt32}) {
      for (WriteReq req : {WriteReq::kWrite, WriteReq::kAdd}) {
        TestArray lhs = Filled(test.lhs, dtype);
        TestArray rhs = Filled(test.rhs, dtype);
        TestArray out(test.full, dtype);
        for (int64_t i = 0; i < out.view.size(); ++i) out.Set(i, 1);
        COOPER_ASSERT_OK(
            RunBroadcast(kElemwiseLoops<Sub>, {OperandOf(lhs.view), OperandOf(rhs.view)},
                         {test.lhs.dims(), test.rhs.dims()}, test.full.dims(), out.view, req));
        for (int64_t i = 0; i < out.view.size(); ++i) {
          ASSERT_EQ(out.Get(i), (req == WriteReq::kAdd ? 1 : 0) +
                                    ValueAt(PositionIn(test.lhs, test.full, i)) -
                                    ValueAt(PositionIn(test.rhs, test.full, i)))
              << test.lhs << " " << test.rhs << " " << dtype << ", element " << i;
        }
      }
    }
  }
}

TEST(ElemwiseKernelTest, ModHasTheSignOfTheDivisor) {
  EXPECT_EQ(Mod::Apply(5.0f, 3.0f), 2.0f);
  EXPECT_EQ(Mod::Apply(-5.0f, 3.0f), 1.0f);
  EXPECT_EQ(Mod::Apply(5.0f, -3.0f), -1.0f);
  EXPECT_EQ(Mod::Apply(-5.0f, -3.0f), -2.0f);
  EXPECT_EQ(Mod::Apply(6.0f, -3.0f), 0.0f);
  EXPECT_EQ(Mod::Apply(5.0f, 0.0f), 0.0f);
}

// Compares the loop with std::fmod: quotients near integers, beyond the vector form and infinite.
template <typename C>
void ExpectExactMod() {
  const C inf = std::numeric_limits<C>::infinity(), nan = std::numeric_limits<C>::quiet_NaN();
  const C least = std::numeric_limits<C>::denorm_min(), large = std::numeric_limits<C>::max();
  const C gaps = 1 / std::numeric_limits<C>::epsilon();
  std::vector<C> a, b;
  for (C divisor : {C{3}, C(0.1), C(-0.7), -large / 3, least, 5 * least, C{0}, inf, -inf, nan}) {
    for (C quotient : {C{0}, C{1}, C{2}, C{7}, C(0.3), C(12345), gaps - 1, gaps, 3 * gaps, large}) {
      for (C dividend : {divisor * quotient, quotient}) {
        for (C near : {-inf, dividend, inf}) {
          for (C sign : {C{-1}, C{1}}) {
            a.push_back(sign * std::nextafter(dividend, near));
            b.push_back(divisor);
          }
        }
      }
    }
  }
  std::vector<C> results(a.size());
  const C* const operands[] = {a.data(), b.data()};
  ForEachCpuLevel([&] {
    RunElemwiseLoop<Mod>(operands, results.data(), static_cast<int64_t>(a.size()));
    for (size_t i = 0; i < a.size(); ++i) {
      C exact = b[i] == 0 ? 0 : std::fmod(a[i], b[i]);
      if (exact != 0 && std::signbit(exact) != std::signbit(b[i])) exact += b[i];
      ASSERT_TRUE(results[i] == exact || (std::isnan(results[i]) && std::isnan(exact)))
          << a[i] << " mod " << b[i] << " is " << exact << ", not " << results[i];
    }
  });
}

TEST(ElemwiseKernelTest, ModIsExactAtEveryLevel) {
  ExpectExactMod<float>();
  ExpectExactMod<double>();
}

}  // namespace
}  // namespace cooper
