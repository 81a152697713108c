// Compares softmax, softmin, log_softmax and their gradients with their formulas: for all pairs of
// dtypes, axes, lengths, temperatures and write requests, with lines of several tiles.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "executor/program/kernel.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "ndarray/threads/parallel.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

struct SoftmaxCase {
  std::string op;
  Shape shape;  // (outer, n, inner), with axis 1
  double temperature = 1;
  bool has_length = false;
};

std::vector<double> SomeNumbers(int64_t n, RandomGenerator& random) {
  std::vector<double> numbers(n);
  for (double& x : numbers) x = static_cast<double>(random.NextBelow(81)) / 16 - 2.5;
  return numbers;
}

NDArray ArrayOf(const Shape& shape, const std::vector<double>& values, DType dtype) {
  return *(*NDArray::FromVector<double>(shape, values)).AsType(dtype);
}

std::vector<double> Doubles(const NDArray& array) {
  return *(*array.AsType(DType::kFloat64)).ToVector<double>();
}

// Calls fn(offset of the first element, length) for each line.
template <typename Fn>
void ForEachLine(const SoftmaxCase& test, const std::vector<double>& lengths, const Fn& fn) {
  const int64_t n = test.shape[1], inner = test.shape[2];
  for (int64_t line = 0; line < test.shape[0] * inner; ++line) {
    const int64_t length = test.has_length ? std::min(n, static_cast<int64_t>(lengths[line])) : n;
    fn(line / inner * n * inner + line % inner, length);
  }
}

std::vector<double> ExpectedOutput(const SoftmaxCase& test, const std::vector<double>& x,
                                   const std::vector<double>& lengths) {
  std::vector<double> y(x.size(), 0);
  const int64_t inner = test.shape[2];
  const double factor = (test.op == "softmin" ? -1 : 1) / test.temperature;
  ForEachLine(test, lengths, [&](int64_t at, int64_t length) {
    double sum = 0;
    for (int64_t j = 0; j < length; ++j) sum += std::exp(x[at + j * inner] * factor);
    for (int64_t j = 0; j < length; ++j) {
      const double exponent = x[at + j * inner] * factor;
      y[at + j * inner] =
          test.op == "log_softmax" ? exponent - std::log(sum) : std::exp(exponent) / sum;
    }
  });
  return y;
}

std::vector<double> ExpectedGradient(const SoftmaxCase& test, const std::vector<double>& g,
                                     const std::vector<double>& y,
                                     const std::vector<double>& lengths) {
  std::vector<double> grad(y.size(), 0);
  const int64_t inner = test.shape[2];
  const double factor = (test.op == "softmin" ? -1 : 1) / test.temperature;
  const bool is_log = test.op == "log_softmax";
  ForEachLine(test, lengths, [&](int64_t at, int64_t length) {
    double sum = 0;
    for (int64_t j = 0; j < length; ++j)
      sum += g[at + j * inner] * (is_log ? 1 : y[at + j * inner]);
    for (int64_t j = 0; j < length; ++j) {
      const int64_t i = at + j * inner;
      grad[i] = (is_log ? g[i] - std::exp(y[i]) * sum : y[i] * (g[i] - sum)) * factor;
    }
  });
  return grad;
}

// Runs a kernel and expects output + 1 for kAdd, since the array holds ones, else output.
void ExpectRun(const std::string& kernel, const OpCall& call, const std::vector<NDArray>& inputs,
               DType dtype, WriteReq req, const std::vector<double>& expected, double tolerance) {
  const NDArray out = ArrayOf(inputs[0].shape(), std::vector<double>(expected.size(), 1), dtype);
  std::vector<ArrayView> views;
  views.reserve(inputs.size());
  for (const NDArray& input : inputs)
    views.push_back({input.raw_data(), input.shape(), input.dtype()});
  const ArrayView output{out.raw_data(), out.shape(), dtype};
  COOPER_ASSERT_OK((*FindKernel(kernel, DeviceType::kCpu))
                       ->run({.call = call,
                              .inputs = views,
                              .outputs = absl::MakeConstSpan(&output, 1),
                              .reqs = absl::MakeConstSpan(&req, 1)}));
  const std::vector<double> actual = Doubles(out);
  for (size_t i = 0; i < expected.size(); ++i) {
    const double value = expected[i] + (req == WriteReq::kAdd ? 1 : 0);
    ASSERT_NEAR(actual[i], value, tolerance * (1 + std::abs(value))) << "element " << i;
  }
}

void Check(const SoftmaxCase& test, DType in, DType out, WriteReq req) {
  SCOPED_TRACE(absl::StrCat(test.op, " ", test.shape.ToString(), " ", DTypeName(in), " to ",
                            DTypeName(out), ", temperature ", test.temperature, ", lengths ",
                            test.has_length, ", req ", static_cast<int>(req)));
  RandomGenerator random(11);
  const int64_t size = test.shape.num_elements(), lines = size / test.shape[1];
  std::vector<double> lengths(lines);
  for (double& length : lengths) length = static_cast<double>(random.NextBelow(test.shape[1] + 2));
  const NDArray length_array =
      ArrayOf(Shape({test.shape[0], test.shape[2]}), lengths, DType::kInt32);
  AttrMap attrs = {{"axis", "1"}};
  if (test.temperature != 1) attrs["temperature"] = absl::StrCat(test.temperature);
  if (test.has_length) attrs["use_length"] = "True";
  OpCall call{.op = *FindOp(test.op)};
  call.params = *call.op->params()->Parse(attrs);
  // Columns are summed in order.
  const double tolerance = in == DType::kFloat16 || out == DType::kFloat16   ? 2e-3
                           : in == DType::kFloat32 || out == DType::kFloat32 ? 6e-6
                                                                             : 1e-12;
  const NDArray data = ArrayOf(test.shape, SomeNumbers(size, random), in);
  std::vector<NDArray> inputs = {data};
  if (test.has_length) inputs.push_back(length_array);
  const std::vector<double> y = ExpectedOutput(test, Doubles(data), lengths);
  ExpectRun(test.op, call, inputs, out, req, y, tolerance);

  const NDArray ograd = ArrayOf(test.shape, SomeNumbers(size, random), in);
  const NDArray output = ArrayOf(test.shape, y, in);
  inputs = {ograd, output};
  if (test.has_length) inputs.push_back(length_array);
  // Sums of long lines of log_softmax have large terms.
  ExpectRun(absl::StrCat("_backward_", test.op), call, inputs, out, req,
            ExpectedGradient(test, Doubles(ograd), Doubles(output), lengths), 8 * tolerance);
}

TEST(SoftmaxTest, FollowsItsFormula) {
  // The last two have tiles of fewer columns than there are, and of one column.
  const Shape shapes[] = {Shape({5, 7, 1}), Shape({3, 6, 2}), Shape({2, 100, 300}),
                          Shape({1, 17000, 2})};
  constexpr DType kDTypes[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16};
  for (const int threads : {1, 3}) {
    SetNumThreads(threads);
    for (const char* op : {"softmax", "softmin", "log_softmax"}) {
      for (const Shape& shape : shapes) {
        for (const bool has_length : {false, true}) {
          for (const DType in : kDTypes) {
            for (const DType out : kDTypes) {
              Check({op, shape, 1, has_length}, in, out, WriteReq::kWrite);
            }
          }
          Check({op, shape, 2.5, has_length}, DType::kFloat32, DType::kFloat32, WriteReq::kWrite);
          Check({op, shape, 1, has_length}, DType::kFloat32, DType::kFloat32, WriteReq::kAdd);
          Check({op, shape, -0.5, has_length}, DType::kFloat16, DType::kFloat16, WriteReq::kAdd);
        }
      }
    }
  }
  SetNumThreads(0);
}

}  // namespace
}  // namespace cooper
