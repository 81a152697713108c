// Measures Perplexity of 32 sentences of 60 words with 10000 classes. The lower bound is 1920 cache
// misses and logarithms.

#include <memory>
#include <vector>

#include "benchmark/benchmark.h"
#include "module/metric/create_metric.h"
#include "ndarray/array/ndarray.h"

namespace cooper {
namespace {

void BM_Perplexity(benchmark::State& bench) {
  const int64_t tokens = bench.range(0);
  const int64_t words = bench.range(1);
  std::vector<float> ids;
  for (int64_t i = 0; i < tokens; ++i) ids.push_back(static_cast<float>(i * 7919 % words));
  const NDArray label = *NDArray::FromVector<float>({tokens}, ids);
  const NDArray pred = *NDArray::Full({tokens, words}, 1e-4);
  const std::unique_ptr<EvalMetric> metric = *CreateMetric("perplexity", {{"ignore_label", "0"}});
  for (auto _ : bench) {
    const absl::Status status = metric->Update({label}, {pred});
    if (!status.ok()) bench.SkipWithError(status.ToString().c_str());
  }
  bench.SetItemsProcessed(bench.iterations() * tokens);
}
BENCHMARK(BM_Perplexity)->Args({1920, 10000});

}  // namespace
}  // namespace cooper
