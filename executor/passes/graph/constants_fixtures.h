#ifndef COOPER_EXECUTOR_PASSES_GRAPH_CONSTANTS_FIXTURES_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_CONSTANTS_FIXTURES_H_

// Binds networks for prediction with and without constants, for tests of passes that use constants.

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

// Returns options without gradients, with random arrays for all arguments but "data". Variances are
// above 0. Binds `net` once, with the same passes disabled, to learn which arrays it has; a network
// that cannot be bound ends the program. Two calls for the same network give equal values.
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

// Returns `options` with all their arrays declared constant. "data" stays variable: Options gives
// it a shape and no array.
inline BindOptions WithConstants(BindOptions options) {
  for (const auto* arrays : {&options.args, &options.auxs}) {
    for (const auto& [name, array] : *arrays) options.constants.insert(name);
  }
  return options;
}

// Binds `net`. A failure fails the test and ends the program.
inline std::unique_ptr<Executor> Bind(const Symbol& net, const BindOptions& options) {
  auto executor = Executor::SimpleBind(net, options);
  EXPECT_TRUE(executor.ok()) << executor.status();
  return *std::move(executor);
}

// Returns the first output of a prediction for random data, which are equal in every call.
inline std::vector<float> Output(Executor& executor) {
  FillRandom(executor.arg("data"), 99);
  COOPER_EXPECT_OK(executor.Forward(/*is_train=*/false));
  return Floats((*executor.outputs())[0]);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_CONSTANTS_FIXTURES_H_
