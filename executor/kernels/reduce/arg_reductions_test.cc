// Compares argmax, argmin and cumsum with sequential loops.

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "executor/kernels/reduce/axis_view.h"
#include "executor/program/kernel.h"
#include "executor/run/invoke.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "ndarray/threads/each_cpu_level.h"

namespace cooper {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Returns the position of the first best element, or of the first NaN, of n elements that are
// `stride` apart.
int64_t Searched(const double* x, int64_t n, int64_t stride, bool greatest) {
  int64_t best = 0;
  for (int64_t k = 1; k < n && !std::isnan(x[best * stride]); ++k) {
    const double value = x[k * stride], least = x[best * stride];
    if (std::isnan(value) || (greatest ? value > least : value < least)) best = k;
  }
  return best;
}

// Checks values of shape (outer, length, inner), with both operators and at each CPU level.
void Check(const std::vector<double>& values, const std::vector<int64_t>& shape, DType dtype) {
  SCOPED_TRACE(absl::StrCat(DTypeName(dtype), " ", shape[0], "x", shape[1], "x", shape[2]));
  const NDArray data =
      *(*NDArray::FromVector<double>({shape[0], shape[1], shape[2]}, values)).AsType(dtype);
  const std::vector<double> x = *(*data.AsType(DType::kFloat64)).ToVector<double>();
  for (const bool greatest : {true, false}) {
    std::vector<double> expected;
    for (int64_t i = 0; i < shape[0]; ++i) {
      for (int64_t j = 0; j < shape[2]; ++j) {
        const double* const first = x.data() + i * shape[1] * shape[2] + j;
        expected.push_back(static_cast<double>(Searched(first, shape[1], shape[2], greatest)));
      }
    }
    const NDArray found = *NDArray::Zeros({shape[0], shape[2]}, dtype);  // as in MXNet
    ForEachCpuLevel([&] {
      COOPER_ASSERT_OK(Invoke(greatest ? "argmax" : "argmin", {{"axis", "1"}}, {&data}, {&found}));
      EXPECT_EQ(*(*found.AsType(DType::kFloat64)).ToVector<double>(), expected);
    });
  }
}

TEST(ArgReductionsTest, ScalarsHaveAxis0) {
  for (const int64_t axis : {0, -1}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const AxisView view, AxisView::Along(Shape(), axis));
    EXPECT_EQ(view.lines(), 1);
    EXPECT_EQ(view.length, 1);
  }
  EXPECT_FALSE(AxisView::Along(Shape(), 1).ok());
}

TEST(ArgReductionsTest, FindTheFirst) {
  RandomGenerator random(7);
  const std::vector<int64_t> shapes[] = {{3, 1, 1}, {2, 7, 1},   {2, 256, 1}, {1, 1000, 1},
                                         {2, 5, 3}, {1, 9, 300}, {3, 70, 17}};
  for (const auto& shape : shapes) {
    std::vector<double> values(shape[0] * shape[1] * shape[2]);
    for (double& v : values) v = static_cast<double>(random.NextBelow(100));  // with equal values
    for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kInt32,
                              DType::kUint8, DType::kInt64}) {
      if (dtype == DType::kUint8 && shape[1] > 256)
        continue;  // the dtype cannot hold such positions
      Check(values, shape, dtype);
    }
    for (int nans = 0; nans < 3; ++nans) values[random.NextBelow(values.size())] = kNan;
    Check(values, shape, DType::kFloat32);
    if (shape[1] <= 256) Check(values, shape, DType::kBfloat16);
  }
}

TEST(ArgReductionsTest, Ends) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Check(std::vector<double>(300, -kInfinity), {1, 300, 1}, DType::kFloat32);
  Check(std::vector<double>(300, kNan), {1, 300, 1}, DType::kFloat32);
  Check({0.0, -0.0, 0.0, kInfinity, kInfinity, kNan}, {1, 3, 2}, DType::kFloat32);
  // The first two values are equal after conversion to double.
  const NDArray data =
      *NDArray::FromVector<int64_t>({3}, {int64_t{1} << 53, (int64_t{1} << 53) + 1, 4});
  const NDArray found = *NDArray::Zeros({1}, DType::kInt64);
  COOPER_ASSERT_OK(Invoke("argmax", {{"axis", "0"}}, {&data}, {&found}));
  EXPECT_EQ((*found.ToVector<int64_t>())[0], 1);
}

// A mean that is not 0 converts to true, and sums of bools are counts.
TEST(TruthValuesTest, AreAddedAsInMXNet) {
  const NDArray data =
      *(*NDArray::FromVector<float>({3, 2}, {1, 0, 1, 0, 0, 0})).AsType(DType::kBool);
  const NDArray mean = *NDArray::Zeros({2}, DType::kBool);
  COOPER_ASSERT_OK(Invoke("mean", {{"axis", "0"}}, {&data}, {&mean}));
  EXPECT_EQ(*mean.ToVector<double>(), (std::vector<double>{1, 0}));
  const NDArray counts = *NDArray::Zeros({3, 2}, DType::kInt64);
  COOPER_ASSERT_OK(Invoke("cumsum", {{"axis", "0"}}, {&data}, {&counts}));
  EXPECT_EQ(*counts.ToVector<double>(), (std::vector<double>{1, 0, 2, 0, 2, 0}));
}

// Covers lines of several blocks, rows wider than a block, and smaller ones; forward from the first
// element, and for the gradient from the last.
TEST(CumsumTest, AddsAlongAnyAxis) {
  const std::vector<std::vector<int64_t>> shapes = {{1300},    {3, 700},  {700, 3}, {2, 9, 600},
                                                    {5, 1100}, {4, 1, 3}, {0, 3}};
  for (const std::vector<int64_t>& dims : shapes) {
    const Shape shape(dims);
    for (int axis = 0; axis < shape.rank(); ++axis) {
      for (const char* op : {"_np_cumsum", "_backward_np_cumsum"}) {
        SCOPED_TRACE(absl::StrCat(op, " of ", shape.ToString(), " along ", axis));
        const bool from_last = op[1] == 'b';
        const int64_t length = shape[axis], inner = shape.Product(axis + 1, shape.rank());
        std::vector<double> x(shape.num_elements());
        for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * 7 % 11) - 5;
        std::vector<double> expected = x;
        for (int64_t i = 0; i < shape.num_elements(); ++i) {
          const int64_t at = from_last ? shape.num_elements() - 1 - i : i;
          const int64_t place = at / inner % length;
          if (place == (from_last ? length - 1 : 0)) continue;
          expected[at] += expected[at + (from_last ? inner : -inner)];
        }
        OpCall call{.op = *FindOp(op)};
        call.params = *(*FindOp("_np_cumsum"))->params()->Parse({{"axis", absl::StrCat(axis)}});
        const NDArray data = *(*NDArray::FromVector<double>(shape, x)).AsType(DType::kFloat32);
        const NDArray sums = *NDArray::Full(shape, 1);
        const ArrayView input{data.raw_data(), shape, DType::kFloat32};
        const ArrayView output{sums.raw_data(), shape, DType::kFloat32};
        for (const WriteReq req : {WriteReq::kWrite, WriteReq::kAdd}) {
          COOPER_ASSERT_OK((*FindKernel(op, DeviceType::kCpu))
                               ->run({.call = call,
                                      .inputs = absl::MakeConstSpan(&input, 1),
                                      .outputs = absl::MakeConstSpan(&output, 1),
                                      .reqs = absl::MakeConstSpan(&req, 1)}));
          EXPECT_EQ(*(*sums.AsType(DType::kFloat64)).ToVector<double>(), expected);
          for (double& value : expected) value *= 2;  // the second run adds to the first
        }
      }
    }
  }
}

}  // namespace
}  // namespace cooper
