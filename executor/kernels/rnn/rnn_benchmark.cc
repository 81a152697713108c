// Measures a training step of RNN (forward, then gradients) at sizes of language models. The FLOP/s
// counter counts the products only, so it shows the cost of everything else. BM_VanishingGradients
// runs the step with subnormal or zero gradients: with flush = 1, as in executors, it should take
// as long as a step with ordinary gradients.

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/subnormals.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {
namespace {

struct Node {
  const Kernel* kernel;
  const OpCall* call;
  std::vector<ArrayView> inputs, outputs;
  std::vector<WriteReq> reqs;
  std::vector<float> workspace;

  void Prepare() {
    reqs.assign(outputs.size(), WriteReq::kWrite);
    const PrepareContext context{.call = *call, .inputs = inputs, .outputs = outputs, .reqs = reqs};
    workspace.resize(kernel->prepare(context)->workspace_bytes / sizeof(float) + 16);
  }
  void Run() {
    // The workspace must be aligned as planned memory is; a vector's is only to 16 bytes.
    void* aligned = workspace.data();
    size_t room = workspace.size() * sizeof(float);
    const KernelContext context{.call = *call,
                                .inputs = inputs,
                                .outputs = outputs,
                                .reqs = reqs,
                                .workspace = std::align(64, 0, aligned, room),
                                .is_train = true};
    benchmark::DoNotOptimize(kernel->run(context));
  }
};

// state.range: mode, layers, directions, steps, batch, input and state size.
void TrainSteps(benchmark::State& state, float head_gradient) {
  const char* modes[] = {"rnn_relu", "rnn_tanh", "lstm", "gru"};
  const int64_t layers = state.range(1), directions = state.range(2), steps = state.range(3);
  const int64_t batch = state.range(4), hidden = state.range(5);
  OpCall call{.op = FindOp("RNN").value()};
  call.attrs = {{"mode", modes[state.range(0)]},
                {"num_layers", absl::StrCat(layers)},
                {"bidirectional", directions == 2 ? "True" : "False"},
                {"state_size", absl::StrCat(hidden)}};
  call.params = call.op->params()->Parse(call.attrs).value();
  OpCall backward_call = call;
  backward_call.op = FindOp("_backward_RNN").value();
  const auto& param = call.param<RNNParam>();

  std::vector<std::vector<float>> storage;
  const auto make = [&](const Shape& shape) {
    storage.emplace_back(shape.num_elements(), 0.01f);
    return ArrayView{storage.back().data(), shape, DType::kFloat32};
  };
  std::vector<ArrayView> inputs = {make({steps, batch, hidden}),
                                   make({RNNParameterSize(param, hidden)}),
                                   make({layers * directions, batch, hidden})};
  if (RNNHasCell(param)) inputs.push_back(inputs[2]);
  Node forward{.kernel = FindKernel("RNN", DeviceType::kCpu).value(), .call = &call};
  forward.inputs = inputs;
  forward.outputs = {make({steps, batch, directions * hidden}),
                     make({RNNReserve(param, steps, batch).size()})};
  Node backward{.kernel = FindKernel("_backward_RNN", DeviceType::kCpu).value(),
                .call = &backward_call};
  backward.inputs = {make({steps, batch, directions * hidden})};
  std::fill(storage.back().begin(), storage.back().end(), head_gradient);
  for (const ArrayView& input : inputs) {
    backward.inputs.push_back(input);
    backward.outputs.push_back(make(input.shape));
  }
  backward.inputs.insert(backward.inputs.end(), forward.outputs.begin(), forward.outputs.end());
  forward.Prepare();
  backward.Prepare();

  for (auto _ : state) {
    forward.Run();
    backward.Run();
  }
  // Each weight takes part in three products: forward, data gradient, weight gradient.
  const double flops = 3.0 * 2 * steps * batch * RNNParameterSize(param, hidden);
  state.counters["FLOP/s"] = benchmark::Counter(
      flops, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
  state.counters["words/s"] = benchmark::Counter(static_cast<double>(steps * batch),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

void BM_TrainStep(benchmark::State& state) { TrainSteps(state, 0.01f); }

// range(6): whether the gradients vanish; range(7): whether subnormals are flushed.
void BM_VanishingGradients(benchmark::State& state) {
  const auto flush = ScopedSubnormals::Flush(state.range(7) != 0);
  TrainSteps(state, state.range(6) != 0 ? 2e-38f : 0.01f);
}

BENCHMARK(BM_TrainStep)
    ->ArgNames({"mode", "layers", "directions", "steps", "batch", "state"})
    ->Args({2, 2, 1, 35, 32, 200})
    ->Args({2, 2, 1, 35, 32, 512})
    ->Args({2, 2, 1, 35, 32, 650})
    ->Args({2, 2, 2, 35, 32, 200})
    ->Args({3, 2, 1, 35, 32, 200})
    ->Args({1, 2, 1, 35, 32, 200})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

BENCHMARK(BM_VanishingGradients)
    ->ArgNames({"mode", "layers", "directions", "steps", "batch", "state", "vanish", "flush"})
    ->Args({2, 2, 1, 200, 16, 128, 0, 1})
    ->Args({2, 2, 1, 200, 16, 128, 1, 1})
    ->Args({2, 2, 1, 200, 16, 128, 1, 0})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace cooper
