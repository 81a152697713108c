// Compares SequenceBatchNorm with BatchNorm of the same data without padding.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "ndarray/random/random_cases.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The results of one training step, each array as a list.
struct Results {
  std::vector<double> output, data_grad, gamma_grad, beta_grad, moving_mean, moving_var;
};

// Trains one step with gamma and beta 0.5, 0.6, ..., and moving statistics 2, with data of `dtype`.
// `lengths` is empty for BatchNorm.
Results Train(const AttrMap& attrs, const Shape& shape, const std::vector<double>& data,
              const std::vector<double>& head, const std::vector<double>& lengths,
              DType dtype = DType::kFloat64) {
  OpArgs args{.name = "bn", .attrs = attrs};
  BindOptions options;
  options.args["data"] = *NDArray::FromVector(shape, data)->AsType(dtype);
  for (const char* name : {"data", "gamma", "beta"}) args.inputs.push_back(Symbol::Variable(name));
  if (!lengths.empty()) {
    args.inputs.push_back(Symbol::Variable("lengths"));
    options.args["lengths"] = *NDArray::FromVector({std::ssize(lengths)}, lengths);
    options.grad_reqs["lengths"] = WriteReq::kNull;
  }
  Results results;
  const auto symbol = Symbol::Create(lengths.empty() ? "BatchNorm" : "SequenceBatchNorm", args);
  COOPER_EXPECT_OK(symbol.status());
  if (!symbol.ok()) return results;
  options.shapes["data"] = PartialShape(shape);
  const auto executor = Executor::SimpleBind(*symbol, options);
  COOPER_EXPECT_OK(executor.status());
  if (!executor.ok()) return results;
  for (const char* name : {"gamma", "beta"}) {
    const NDArray array = (*executor)->arg(name);
    std::vector<double> values;
    for (int64_t i = 0; i < array.shape()[0]; ++i)
      values.push_back(0.5 + 0.1 * static_cast<double>(i));
    COOPER_EXPECT_OK(array.CopyFrom(*NDArray::FromVector(array.shape(), values)));
  }
  for (const char* name : {"bn_moving_mean", "bn_moving_var"}) {
    COOPER_EXPECT_OK((*executor)->aux(name).Fill(2));
  }
  COOPER_EXPECT_OK((*executor)->Forward(true));
  results.output = *(*(*executor)->outputs())[0].ToVector<double>();
  COOPER_EXPECT_OK((*executor)->Backward({*NDArray::FromVector(shape, head)->AsType(dtype)}));
  results.data_grad = *(*executor)->grad("data").ToVector<double>();
  results.gamma_grad = *(*executor)->grad("gamma").ToVector<double>();
  results.beta_grad = *(*executor)->grad("beta").ToVector<double>();
  results.moving_mean = *(*executor)->aux("bn_moving_mean").ToVector<double>();
  results.moving_var = *(*executor)->aux("bn_moving_var").ToVector<double>();
  return results;
}

void ExpectNear(const std::vector<double>& got, const std::vector<double>& expected,
                const char* what, double tolerance = 1e-9) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i], tolerance * (1 + std::abs(expected[i])))
        << what << " at " << i;
  }
}

// The positions in data of each channel's real elements, and of the padding.
struct Elements {
  std::vector<std::vector<int64_t>> real;  // by channel
  std::vector<int64_t> padding;
};

Elements FindElements(const Shape& shape, int axis, int batch_axis, int time_axis,
                      const std::vector<double>& lengths) {
  Elements elements;
  elements.real.resize(shape[axis]);
  const auto index = [&](int64_t i, int of) {
    return i / shape.Product(of + 1, shape.rank()) % shape[of];
  };
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    const bool real = static_cast<double>(index(i, time_axis)) < lengths[index(i, batch_axis)];
    (real ? elements.real[index(i, axis)] : elements.padding).push_back(i);
  }
  return elements;
}

// Returns the elements as (1, channels, elements of each).
std::vector<double> Gather(const std::vector<double>& all, const Elements& elements) {
  std::vector<double> gathered;
  for (const auto& channel : elements.real) {
    for (int64_t i : channel) gathered.push_back(all[i]);
  }
  return gathered;
}

TEST(SequenceBatchNormTest, IsBatchNormOfTheRealStepsInAnyLayout) {
  ForRandomCases(200, [](RandomGenerator& random) {
    const int rank = 3 + static_cast<int>(random.NextBelow(2));
    std::vector<int> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    random.Shuffle(axes);
    const int axis = axes[0], batch_axis = axes[1], time_axis = axes[2];
    std::vector<int64_t> extents(rank);
    for (int i = 0; i < rank; ++i) {
      extents[i] = 1 + static_cast<int64_t>(random.NextBelow(i == time_axis ? 20 : 5));
    }
    const Shape shape(extents);
    std::vector<double> lengths;
    for (int64_t i = 0; i < shape[batch_axis]; ++i) {
      lengths.push_back(static_cast<double>(random.NextBelow(shape[time_axis] + 1)));
    }
    lengths[0] = std::max(lengths[0], 1.0);
    const bool global = random.NextBelow(4) == 0, fix_gamma = random.NextBelow(2) == 0;
    const AttrMap common = {{"fix_gamma", fix_gamma ? "True" : "False"},
                            {"use_global_stats", global ? "True" : "False"},
                            {"momentum", "0.7"}};
    AttrMap attrs = common;
    attrs["axis"] = absl::StrCat(axis);
    attrs["batch_axis"] = absl::StrCat(batch_axis - (random.NextBelow(2) == 0 ? rank : 0));
    attrs["time_axis"] = absl::StrCat(time_axis - (random.NextBelow(2) == 0 ? rank : 0));
    SCOPED_TRACE(absl::StrCat(shape.ToString(), ", channels ", axis, ", batch ", batch_axis,
                              ", time ", time_axis));

    std::vector<double> data(shape.num_elements()), head(data.size());
    for (double& x : data) x = random.NextNormal();
    for (double& x : head) x = random.NextNormal();
    const Elements elements = FindElements(shape, axis, batch_axis, time_axis, lengths);
    const Shape real_shape = {1, shape[axis], std::ssize(elements.real[0])};
    const Results expected =
        Train(common, real_shape, Gather(data, elements), Gather(head, elements), {});
    // Padding may hold any value, even NaN.
    for (int64_t i : elements.padding) data[i] = head[i] = kNan;
    const Results got = Train(attrs, shape, data, head, lengths);
    if (testing::Test::HasFailure()) return;
    ExpectNear(Gather(got.output, elements), expected.output, "output");
    ExpectNear(Gather(got.data_grad, elements), expected.data_grad, "gradient of data");
    ExpectNear(got.gamma_grad, expected.gamma_grad, "gradient of gamma");
    ExpectNear(got.beta_grad, expected.beta_grad, "gradient of beta");
    ExpectNear(got.moving_mean, expected.moving_mean, "moving_mean");
    ExpectNear(got.moving_var, expected.moving_var, "moving_var");
    for (int64_t i : elements.padding) {
      ASSERT_EQ(got.output[i], 0) << "of padding at " << i;
      ASSERT_EQ(got.data_grad[i], 0) << "of padding at " << i;
    }
  });
}

TEST(SequenceBatchNormTest, WithoutPaddingItIsBatchNorm) {
  const Shape shape = {3, 2, 11};
  RandomGenerator random(1);
  std::vector<double> data(shape.num_elements()), head(data.size());
  for (double& x : data) x = random.NextNormal();
  for (double& x : head) x = random.NextNormal();
  const Results expected = Train({}, shape, data, head, {});
  const Results got = Train({}, shape, data, head, {11, 12, 1e300});
  ExpectNear(got.output, expected.output, "output");
  ExpectNear(got.data_grad, expected.data_grad, "gradient of data");
  ExpectNear(got.beta_grad, expected.beta_grad, "gradient of beta");
  ExpectNear(got.moving_mean, expected.moving_mean, "moving_mean");
  ExpectNear(got.moving_var, expected.moving_var, "moving_var");
}

// Statistics and parameters are float32 for float16 data.
TEST(SequenceBatchNormTest, DataOfHalfThePrecision) {
  const Shape shape = {3, 2, 11};
  RandomGenerator random(1);
  std::vector<double> data(shape.num_elements()), head(data.size());
  for (double& x : data) x = random.NextNormal();
  for (double& x : head) x = random.NextNormal();
  const std::vector<double> lengths = {4, 11, 7};
  const Results expected = Train({{"fix_gamma", "False"}}, shape, data, head, lengths);
  const Results got = Train({{"fix_gamma", "False"}}, shape, data, head, lengths, DType::kFloat16);
  constexpr double kTolerance = 4e-3;  // eight roundings of numbers from 1 to 2
  ExpectNear(got.output, expected.output, "output", kTolerance);
  ExpectNear(got.data_grad, expected.data_grad, "gradient of data", kTolerance);
  ExpectNear(got.beta_grad, expected.beta_grad, "gradient of beta", kTolerance);
  ExpectNear(got.gamma_grad, expected.gamma_grad, "gradient of gamma", 3 * kTolerance);
  ExpectNear(got.moving_mean, expected.moving_mean, "moving_mean", kTolerance);
  ExpectNear(got.moving_var, expected.moving_var, "moving_var", kTolerance);
}

TEST(SequenceBatchNormTest, ABatchOfPaddingLeavesTheAveragesAlone) {
  const std::vector<double> data(12, kNan), zeros(12);
  const Results got = Train({}, {2, 3, 2}, data, data, {0, -1});
  EXPECT_EQ(got.output, zeros);
  EXPECT_EQ(got.data_grad, zeros);
  EXPECT_EQ(got.beta_grad, std::vector<double>(3));
  EXPECT_EQ(got.moving_mean, std::vector<double>(3, 2));
  EXPECT_EQ(got.moving_var, std::vector<double>(3, 2));
}

TEST(SequenceBatchNormTest, LengthsAreAskedFor) {
  const auto symbol = Symbol::Create("SequenceBatchNorm", {.inputs = {Symbol::Variable("data")}});
  ASSERT_FALSE(symbol.ok());
  EXPECT_NE(symbol.status().message().find("sequence_length"), std::string::npos);
}

}  // namespace
}  // namespace cooper
