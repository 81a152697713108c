// The C++ of module.md about chains of modules, run: check_snippets.sh holds them together.

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "io/iterators/ndarray_iter.h"
#include "module/function_module.h"
#include "module/metric/regression.h"
#include "module/network/module.h"
#include "module/sequential_module.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

// Returns the gradient of |scores - labels|.
absl::StatusOr<NDArray> Signs(const NDArray& scores, const NDArray& labels) {
  COOPER_ASSIGN_OR_RETURN(std::vector<float> signs, scores.ToVector<float>());
  COOPER_ASSIGN_OR_RETURN(const std::vector<float> wanted, labels.ToVector<float>());
  for (size_t i = 0; i < signs.size(); ++i) signs[i] = signs[i] > wanted[i] ? 1 : -1;
  return NDArray::FromVector(scores.shape(), signs);
}

// Returns a line that minimises the absolute error, on which outliers have little effect.
absl::StatusOr<std::unique_ptr<SequentialModule>> MedianLine() {
  COOPER_ASSIGN_OR_RETURN(const Symbol line,
                          Symbol::Create("FullyConnected", {.name = "line",
                                                            .inputs = {Symbol::Variable("data")},
                                                            .attrs = {{"num_hidden", "1"}}}));
  COOPER_ASSIGN_OR_RETURN(auto scores, Module::Create(line, {.label_names = {}}));
  COOPER_ASSIGN_OR_RETURN(auto loss,
                          FunctionLossModule({.label_name = "label", .grad_func = Signs}));
  auto chain = std::make_unique<SequentialModule>();
  COOPER_RETURN_IF_ERROR(chain->Add(std::move(scores)));
  COOPER_RETURN_IF_ERROR(chain->Add(std::move(loss), {.take_labels = true, .auto_wiring = true}));
  return chain;
}

TEST(ModulePageTest, FitsALineToMedians) {
  std::vector<float> x, y;
  for (int i = 0; i < 40; ++i) {
    x.push_back(static_cast<float>(i % 10) / 10 - 0.5f);
    y.push_back(i % 8 == 0 ? 50 : 2 * x.back() - 1);  // an eighth of outliers
  }
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto data,
      NDArrayIter::Create({{"data", *NDArray::FromVector({40, 1}, x)}},
                          {{"label", *NDArray::FromVector({40, 1}, y)}}, {.batch_size = 40}));
  COOPER_ASSERT_OK_AND_ASSIGN(auto chain, MedianLine());
  const auto mae = Mae({});
  COOPER_ASSERT_OK(chain->Fit(*data, {.eval_metric = mae.get(),
                                      .optimizer = {.optimizer_params = {{"learning_rate", 0.02}}},
                                      .num_epoch = 600}));
  COOPER_ASSERT_OK_AND_ASSIGN(const ModuleParams params, chain->GetParams());
  EXPECT_NEAR((*params.args.at("line_weight").ToVector<float>())[0], 2, 0.1);
  EXPECT_NEAR((*params.args.at("line_bias").ToVector<float>())[0], -1, 0.1);
}

}  // namespace
}  // namespace cooper
