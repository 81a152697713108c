// Measures the time to choose buckets for a million pairs of lengths.

#include <cstdint>
#include <vector>

#include "benchmark/benchmark.h"
#include "io/batch/bucket_key.h"
#include "io/buckets/bucket_tuples.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

// Returns lengths of sentences and of their translations, which are similar; short ones are more
// frequent.
std::vector<BucketKey::Tuple> Pairs(int64_t longest) {
  constexpr int64_t kPairs = 1000000;
  RandomGenerator random(1);
  std::vector<BucketKey::Tuple> pairs;
  for (int64_t i = 0; i < kPairs; ++i) {
    const double u = random.NextUniform();
    const auto source = 1 + static_cast<int64_t>(u * u * static_cast<double>(longest));
    const double ratio = 0.8 + 0.5 * random.NextUniform();
    pairs.push_back({source, 1 + static_cast<int64_t>(ratio * static_cast<double>(source))});
  }
  return pairs;
}

void BM_ChooseBucketTuples(benchmark::State& state) {
  const std::vector<BucketKey::Tuple> pairs = Pairs(state.range(0));
  const BucketTuplesOptions options = {.max_buckets = static_cast<int>(state.range(1))};
  double padding = 0;
  for (auto _ : state) {
    const BucketTuples chosen = *ChooseBucketTuples(pairs, options);
    padding = 1 - chosen.own_cost / chosen.padded_cost;
  }
  state.counters["padding"] = padding;
}
BENCHMARK(BM_ChooseBucketTuples)
    ->Args({60, 10})
    ->Args({60, 64})
    ->Args({500, 10})
    ->Args({500, 64})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cooper
