// Measures one update of a recurrent layer's weight, (2600, 650), and of one that fits a core's
// cache. Besides the time it reports the memory traffic: bytes read and written per second.

#include <memory>
#include <string>

#include "benchmark/benchmark.h"
#include "module/optimizer/create_optimizer.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

void BM_Update(benchmark::State& bench, const std::string& name, const Kwargs& kwargs) {
  SetNumThreads(static_cast<int>(bench.range(1)));
  const std::unique_ptr<Optimizer> optimizer = *CreateOptimizer(name, kwargs);
  const NDArray weight = *NDArray::Full({bench.range(0), 650}, 0.1);
  const NDArray grad = *NDArray::Full({bench.range(0), 650}, 0.01);
  ParameterState state = *optimizer->CreateState(weight);
  for (auto _ : bench) {
    const absl::Status status = optimizer->Update("fc_weight", weight, grad, &state);
    if (!status.ok()) bench.SkipWithError(status.ToString().c_str());
  }
  // The weight and the states are read and written, the gradient is read.
  const auto arrays = 3 + 2 * static_cast<int64_t>(state.arrays.size());
  bench.SetBytesProcessed(bench.iterations() * weight.size_bytes() * arrays);
}

#define COOPER_BENCHMARK(name, ...)                      \
  BENCHMARK_CAPTURE(BM_Update, name, #name, __VA_ARGS__) \
      ->ArgNames({"rows", "threads"})                    \
      ->ArgsProduct({{64, 2600}, {1, 2}})                \
      ->UseRealTime()

COOPER_BENCHMARK(sgd, {{"momentum", "0.9"}});
COOPER_BENCHMARK(adam, {{"wd", "0.01"}});
COOPER_BENCHMARK(adagrad, {});
COOPER_BENCHMARK(rmsprop, {});
COOPER_BENCHMARK(ftrl, {});
COOPER_BENCHMARK(lamb, {});

}  // namespace
}  // namespace cooper
