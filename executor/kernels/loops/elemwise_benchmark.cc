// Measures bytes per second of elementwise loops at the sizes of one step of a recurrent network,
// (32, 800).

#include <vector>

#include "benchmark/benchmark.h"
#include "executor/kernels/elemwise/activation_functions.h"
#include "executor/kernels/elemwise/binary_functions.h"
#include "executor/kernels/loops/elemwise_kernel.h"

namespace cooper {
namespace {

constexpr int64_t kRows = 32;
constexpr int64_t kColumns = 800;

struct Arrays {
  explicit Arrays(DType dtype)
      : storage(3, std::vector<double>(kRows * kColumns)),
        a{storage[0].data(), Shape({kRows, kColumns}), dtype},
        b{storage[1].data(), Shape({kRows, kColumns}), dtype},
        out{storage[2].data(), Shape({kRows, kColumns}), dtype} {}

  std::vector<std::vector<double>> storage;
  ArrayView a, b, out;
};

void Report(benchmark::State& state, const ArrayView& array, int arrays) {
  state.SetBytesProcessed(state.iterations() * arrays * array.size_bytes());
}

template <typename F>
void BM_Unary(benchmark::State& state) {
  Arrays x(static_cast<DType>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        RunElemwise(kElemwiseLoops<F>, {OperandOf(x.a)}, x.out, WriteReq::kWrite));
  }
  Report(state, x.a, 2);
}

void BM_Add(benchmark::State& state) {
  Arrays x(static_cast<DType>(state.range(0)));
  const WriteReq req = static_cast<WriteReq>(state.range(1));
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        RunElemwise(kElemwiseLoops<Add>, {OperandOf(x.a), OperandOf(x.b)}, x.out, req));
  }
  Report(state, x.a, 3);
}

void BM_MulScalar(benchmark::State& state) {
  Arrays x(DType::kFloat32);
  for (auto _ : state) {
    benchmark::DoNotOptimize(RunElemwise(kElemwiseLoops<Mul>, {OperandOf(x.a), OperandOf(2.0)},
                                         x.out, WriteReq::kWrite));
  }
  Report(state, x.a, 2);
}

// The right operand has shape (range(0), range(1)).
void BM_BroadcastAdd(benchmark::State& state) {
  Arrays x(DType::kFloat32);
  const int64_t rhs[] = {state.range(0), state.range(1)};
  for (auto _ : state) {
    benchmark::DoNotOptimize(RunBroadcast(kElemwiseLoops<Add>, {OperandOf(x.a), OperandOf(x.b)},
                                          {x.a.shape.dims(), rhs}, x.out.shape.dims(), x.out,
                                          WriteReq::kWrite));
  }
  Report(state, x.a, 2);
}

constexpr int64_t kF32 = static_cast<int64_t>(DType::kFloat32);
constexpr int64_t kF16 = static_cast<int64_t>(DType::kFloat16);
constexpr int64_t kI32 = static_cast<int64_t>(DType::kInt32);

BENCHMARK_TEMPLATE(BM_Unary, Tanh)->Arg(kF32)->Arg(kF16);
BENCHMARK_TEMPLATE(BM_Unary, Sigmoid)->Arg(kF32);
BENCHMARK_TEMPLATE(BM_Unary, Relu)->Arg(kF32)->Arg(kF16);
BENCHMARK(BM_Add)
    ->Args({kF32, static_cast<int>(WriteReq::kWrite)})
    ->Args({kF32, static_cast<int>(WriteReq::kAdd)})
    ->Args({kF16, static_cast<int>(WriteReq::kWrite)})
    ->Args({kI32, static_cast<int>(WriteReq::kWrite)});
BENCHMARK(BM_MulScalar);
BENCHMARK(BM_BroadcastAdd)->Args({kRows, kColumns})->Args({1, kColumns})->Args({kRows, 1});

}  // namespace
}  // namespace cooper
