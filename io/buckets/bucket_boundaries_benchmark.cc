// Measures the time to choose buckets for a million sentences of 5,000 different lengths.

#include <cstdint>
#include <vector>

#include "benchmark/benchmark.h"
#include "io/buckets/bucket_boundaries.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

// Returns lengths of sentences, of which short ones are more frequent than long ones, as in natural
// text.
std::vector<int64_t> Lengths(int64_t longest) {
  constexpr int64_t kSentences = 1000000;
  RandomGenerator random(1);
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < kSentences; ++i) {
    const double u = random.NextUniform();
    lengths.push_back(1 + static_cast<int64_t>(u * u * static_cast<double>(longest)));
  }
  for (int64_t length = 1; length <= longest; ++length) lengths[length - 1] = length;
  return lengths;
}

void BM_ChooseBuckets(benchmark::State& state) {
  const std::vector<int64_t> lengths = Lengths(5000);
  const BucketBoundariesOptions options = {.max_buckets = static_cast<int>(state.range(0))};
  int64_t padded_tokens = 0;
  for (auto _ : state) padded_tokens = ChooseBuckets(lengths, options)->padded_tokens;
  state.counters["padded_tokens"] = static_cast<double>(padded_tokens);
}
BENCHMARK(BM_ChooseBuckets)->Arg(1)->Arg(10)->Arg(64)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cooper
