// Measures bytes per second of sums over one or all axes of an array viewed as (outer, length,
// inner).

#include <vector>

#include "benchmark/benchmark.h"
#include "executor/kernels/reducers/map_reduce.h"

namespace cooper {
namespace {

void BM_Sum(benchmark::State& state) {
  const int64_t full[] = {state.range(0), state.range(1), state.range(2)};
  const bool all = state.range(3) != 0;
  const int64_t kept[] = {all ? 1 : full[0], 1, all ? 1 : full[2]};
  std::vector<float> data(full[0] * full[1] * full[2], 1.0f);
  std::vector<float> sum(kept[0] * kept[2]);
  const ArrayView output{sum.data(), Shape(kept), DType::kFloat32};
  for (auto _ : state) {
    benchmark::DoNotOptimize(RunReduction({}, full, {{data.data(), DType::kFloat32}}, {full},
                                          output, kept, WriteReq::kWrite, nullptr));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(data.size() * sizeof(float)));
}

BENCHMARK(BM_Sum)
    ->ArgNames({"outer", "length", "inner", "all"})
    ->Args({1024, 1000, 1, 0})   // over the last axis
    ->Args({1, 1024, 1000, 0})   // over the first
    ->Args({32, 64, 784, 0})     // over the middle one
    ->Args({100000, 10, 1, 0})   // short rows
    ->Args({4000, 49, 1, 0})     // planes
    ->Args({1, 2048, 512, 0})    // columns
    ->Args({1, 131072, 8, 0})    // few columns
    ->Args({1024, 1000, 1, 1});  // over all

}  // namespace
}  // namespace cooper
