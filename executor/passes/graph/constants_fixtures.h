#ifndef COOPER_EXECUTOR_PASSES_GRAPH_CONSTANTS_FIXTURES_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_CONSTANTS_FIXTURES_H_

// For tests of passes that look at constants: networks that predict, with and without them.

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Without gradients, with random arrays for all but the data; variances are above 0.
inline BindOptions Options(const Symbol& net, const Shape& data,
                           const std::set<std::string>& disabled_passes = {}) {
  BindOptions options{.shapes = {{"data", data}}, .grad_req = WriteReq::kNull};
  options.disabled_passes = disabled_passes;
  auto executor = *Executor::SimpleBind(net, options);
  uint64_t seed = 1;
  for (const auto& [name, array] : executor->arg_dict()) {
    if (name == "data") continue;
    FillRandom(array, seed++);
    options.args[name] = array;
  }
  for (const auto& [name, array] : executor->aux_dict()) {
    FillRandom(array, seed++);
    options.auxs[name] = array;
    if (!absl::StrContains(name, "var")) continue;
    COOPER_EXPECT_OK(array.Fill(1.5));
  }
  return options;
}

// All those arrays stay as they are.
inline BindOptions WithConstants(BindOptions options) {
  for (const auto* arrays : {&options.args, &options.auxs}) {
    for (const auto& [name, array] : *arrays) options.constants.insert(name);
  }
  return options;
}

inline std::unique_ptr<Executor> Bind(const Symbol& net, const BindOptions& options) {
  auto executor = Executor::SimpleBind(net, options);
  EXPECT_TRUE(executor.ok()) << executor.status();
  return *std::move(executor);
}

// Of a prediction for random data.
inline std::vector<float> Output(Executor& executor) {
  FillRandom(executor.arg("data"), 99);
  COOPER_EXPECT_OK(executor.Forward(/*is_train=*/false));
  return Floats((*executor.outputs())[0]);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_CONSTANTS_FIXTURES_H_
