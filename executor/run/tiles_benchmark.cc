// Measures the element-wise part of an LSTM's step, gradient included, as one chain of tiles and
// operator by operator: at the size of a step, and with arrays that fit in no cache.

#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"

namespace cooper {
namespace {

Symbol Step() {
  const auto gate = [](const char* act, const char* name) {
    return Op("Activation", {.inputs = {Symbol::Variable(name)}, .attrs = {{"act_type", act}}});
  };
  const Symbol kept = Op("elemwise_mul", {.inputs = {gate("sigmoid", "f"), Symbol::Variable("c")}});
  const Symbol added = Op("elemwise_mul", {.inputs = {gate("sigmoid", "i"), gate("tanh", "g")}});
  const Symbol next = Op("elemwise_add", {.inputs = {kept, added}});
  return Op("elemwise_mul", {.inputs = {gate("sigmoid", "o"), Op("tanh", {.inputs = {next}})}});
}

void BM_LstmStep(benchmark::State& state) {
  const Symbol net = Step();
  BindOptions options;
  for (const std::string& name : net.ListArguments()) {
    options.shapes[name] = PartialShape({state.range(0), 200});
  }
  const bool train = state.range(1) != 0;
  if (!train) options.grad_req = WriteReq::kNull;
  if (state.range(2) == 0) options.disabled_passes = {"tiles"};
  auto executor = Executor::SimpleBind(net, options);
  if (!executor.ok()) return state.SkipWithError(executor.status().ToString().c_str());
  const std::vector<NDArray> heads = {*NDArray::Full((*executor)->output_shapes()[0], 1)};
  for (auto _ : state) {
    absl::Status status = (*executor)->Forward(train);
    if (status.ok() && train) status = (*executor)->Backward(heads);
    if (!status.ok()) return state.SkipWithError(status.ToString().c_str());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * 200);
}
BENCHMARK(BM_LstmStep)
    ->ArgNames({"rows", "train", "tiles"})
    ->ArgsProduct({{32, 1024, 32768}, {0, 1}, {0, 1}});

}  // namespace
}  // namespace cooper
