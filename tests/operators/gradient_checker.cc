#include "tests/operators/gradient_checker.h"

#include <cmath>
#include <cstdint>
#include <memory>

#include "absl/types/span.h"
#include "executor/executor.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

// The rounding error of a difference grows as 1e-16 / kStep, the truncation error as kStep^2: both
// are about 1e-10 here, and the tolerance leaves room for sums and factors.
constexpr double kStep = 1e-5;
constexpr double kTolerance = 1e-7;
// The contents of gradients before Backward.
constexpr double kInitial = 0.25;

void FillRandom(const NDArray& array, uint64_t seed) {
  RandomGenerator random(seed);
  auto values = array.Data<double>();
  ASSERT_TRUE(values.ok()) << values.status();
  for (double& v : *values) v = random.NextNormal();
}

bool IsChecked(const GradientCase::Input& input) {
  return input.values.empty() || input.has_gradient;
}

class Checker {
 public:
  // `left_out` names an input without a gradient; empty for none.
  Checker(const GradientCase& test, const std::string& left_out)
      : test_(test), left_out_(left_out) {}

  void Check(WriteReq req) {
    Bind(req);
    if (executor_ == nullptr) return;
    COOPER_EXPECT_OK(executor_->Forward(true));
    for (const Shape& shape : executor_->output_shapes()) {
      heads_.push_back(*NDArray::Empty(shape, DType::kFloat64));
      FillRandom(heads_.back(), 77 + heads_.size());
    }
    for (const auto& [name, grad] : executor_->grad_dict()) COOPER_EXPECT_OK(grad.Fill(kInitial));
    COOPER_EXPECT_OK(executor_->Backward(heads_));
    for (const auto& input : test_.inputs) {
      if (HasGradient(input)) CheckInput(input, req == WriteReq::kAdd ? kInitial : 0);
    }
  }

 private:
  bool HasGradient(const GradientCase::Input& input) const {
    return IsChecked(input) && input.name != left_out_;
  }

  void Bind(WriteReq req) {
    OpArgs args{.name = "op", .attrs = test_.attrs};
    BindOptions options{.grad_req = req};
    for (const auto& input : test_.inputs) {
      args.inputs.push_back(Symbol::Variable(input.name));
      options.shapes[input.name] = PartialShape(input.shape);
      options.types[input.name] = DType::kFloat64;
      if (!HasGradient(input)) options.grad_reqs[input.name] = WriteReq::kNull;
    }
    auto symbol = Symbol::Create(test_.op, args);
    ASSERT_TRUE(symbol.ok()) << test_.name << ": " << symbol.status();
    auto executor = Executor::SimpleBind(*symbol, options);
    ASSERT_TRUE(executor.ok()) << test_.name << ": " << executor.status();
    uint64_t seed = 1;
    for (const auto& input : test_.inputs) {
      const NDArray array = (*executor)->arg(input.name);
      FillRandom(array, seed++);
      auto values = array.Data<double>();
      for (size_t i = 0; i < input.values.size(); ++i) (*values)[i] = input.values[i];
    }
    executor_ = *std::move(executor);
  }

  // Returns the sum of all outputs, weighted by the head gradients.
  double Loss() {
    COOPER_EXPECT_OK(executor_->Forward(true));
    auto outputs = executor_->outputs();
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    double sum = 0;
    for (size_t i = 0; i < heads_.size(); ++i) {
      auto out = (*outputs)[i].Data<double>();
      auto head = heads_[i].Data<double>();
      EXPECT_TRUE(out.ok()) << test_.name << ": " << out.status();
      for (size_t j = 0; out.ok() && j < out->size(); ++j) sum += (*out)[j] * (*head)[j];
    }
    return sum;
  }

  void CheckInput(const GradientCase::Input& input, double initial) {
    auto values = executor_->arg(input.name).Data<double>();
    const std::vector<double> grad = *executor_->grad(input.name).ToVector<double>();
    for (size_t i = 0; i < values->size(); ++i) {
      const double at = (*values)[i];
      (*values)[i] = at + kStep;
      const double above = Loss();
      (*values)[i] = at - kStep;
      const double below = Loss();
      (*values)[i] = at;
      const double expected = (above - below) / (2 * kStep);
      EXPECT_NEAR(grad[i] - initial, expected, kTolerance * (1 + std::abs(expected)))
          << test_.name << ": gradient of " << input.name << " at element " << i;
    }
  }

  const GradientCase& test_;
  std::string left_out_;
  std::unique_ptr<Executor> executor_;
  std::vector<NDArray> heads_;
};

}  // namespace

void CheckGradient(const GradientCase& test) {
  Checker(test, "").Check(WriteReq::kWrite);
  Checker(test, "").Check(WriteReq::kAdd);
  int with_gradient = 0;
  for (const auto& input : test.inputs) with_gradient += IsChecked(input) ? 1 : 0;
  if (with_gradient < 2) return;
  for (const auto& input : test.inputs) {
    if (IsChecked(input)) Checker(test, input.name).Check(WriteReq::kWrite);
  }
}

}  // namespace cooper
