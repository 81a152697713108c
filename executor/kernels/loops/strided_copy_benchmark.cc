// Measures strided copies at the shapes of recurrent networks, compared with memcpy of equal size.

#include <cstdint>
#include <cstring>
#include <vector>

#include "benchmark/benchmark.h"
#include "executor/kernels/loops/strided_copy.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// Copies `size` elements out of at most four times as many.
void Run(benchmark::State& state, const StridedLoop& loop, int64_t size, WriteReq req) {
  SetNumThreads(1);
  std::vector<float> src(4 * size, 1.0f), dst(size, 2.0f);
  for (auto _ : state) {
    StridedCopy(loop, DType::kFloat32, req, src.data(), dst.data()).IgnoreError();
    benchmark::DoNotOptimize(dst.data());
    benchmark::ClobberMemory();
  }
  // Each copied element is read and written.
  state.SetBytesProcessed(state.iterations() * size * 2 * sizeof(float));
}

void BM_Memcpy(benchmark::State& state) {
  const int64_t size = state.range(0);
  std::vector<float> src(size, 1.0f), dst(size, 2.0f);
  for (auto _ : state) {
    std::memcpy(dst.data(), src.data(), size * sizeof(float));
    benchmark::DoNotOptimize(dst.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * size * 2 * sizeof(float));
}
BENCHMARK(BM_Memcpy)->Arg(32 * 200)->Arg(32 * 650)->Arg(1120 * 650);

// Copies one gate of (batch_size, 4 * num_hidden).
StridedLoop GateLoop(int64_t hidden) {
  StridedLoop loop;
  loop.Add(32, 4 * hidden, hidden);
  loop.Add(hidden, 1, 1);
  return loop;
}

void BM_Gate(benchmark::State& state) {
  const int64_t hidden = state.range(0);
  Run(state, GateLoop(hidden), 32 * hidden, WriteReq::kWrite);
}
BENCHMARK(BM_Gate)->Arg(200)->Arg(650);

void BM_GateAdd(benchmark::State& state) {
  const int64_t hidden = state.range(0);
  Run(state, GateLoop(hidden), 32 * hidden, WriteReq::kAdd);
}
BENCHMARK(BM_GateAdd)->Arg(200)->Arg(650);

void BM_Transpose(benchmark::State& state) {
  const int64_t rows = state.range(0), columns = state.range(1);
  StridedLoop loop;
  loop.Add(columns, 1, rows);
  loop.Add(rows, columns, 1);
  Run(state, loop, rows * columns, WriteReq::kWrite);
}
BENCHMARK(BM_Transpose)->Args({32, 650})->Args({1120, 650})->Args({1024, 1024});

// Transposes (batch_size, length, features) to time-major order.
void BM_SwapBatchAndTime(benchmark::State& state) {
  const int64_t features = state.range(0);
  StridedLoop loop;
  loop.Add(35, features, 32 * features);
  loop.Add(32, 35 * features, features);
  loop.Add(features, 1, 1);
  Run(state, loop, 35 * 32 * features, WriteReq::kWrite);
}
BENCHMARK(BM_SwapBatchAndTime)->Arg(1)->Arg(650);

}  // namespace
}  // namespace cooper
