#include "ndarray/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>

// Not defined under --config=tsan, which does not understand libgomp's barriers: there the parts of
// a loop run one after the other, and there is one part unless SetNumThreads says otherwise.
#ifdef _OPENMP
#include <omp.h>
#endif

#include "absl/container/fixed_array.h"
#include "ndarray/profiler.h"

namespace cooper {
namespace {

thread_local LoopRunner* loop_runner = nullptr;

// Of [0, n), each of at least `grain` items; fewer than 2 where one thread does all.
int64_t NumParts(int64_t n, int64_t grain, int64_t most) {
  return std::min(most, n / std::max<int64_t>(grain, 1));
}

// Splits [0, n) as ParallelForPlain says; false if this thread has no runner.
bool RunElsewhere(int64_t n, int64_t grain, absl::FunctionRef<void(int64_t, int64_t)> fn) {
  if (loop_runner == nullptr) return false;
  const int64_t parts = NumParts(n, grain, loop_runner->max_parts());
  if (parts <= 1) {
    fn(0, n);
    return true;
  }
  std::atomic<int64_t>* const flops = RunningProfileFlops();
  loop_runner->RunParts(static_cast<int>(parts), [&](int part) {
    const ScopedProfileFlops scope(flops);
    fn(n * part / parts, n * (part + 1) / parts);
  });
  return true;
}

}  // namespace

ScopedLoopRunner::ScopedLoopRunner(LoopRunner* runner) : before_(loop_runner) {
  loop_runner = runner;
}
ScopedLoopRunner::~ScopedLoopRunner() { loop_runner = before_; }

#ifdef _OPENMP

int NumThreads() { return omp_get_max_threads(); }

void SetNumThreads(int threads) {
  if (threads < 1) threads = std::max(1u, std::thread::hardware_concurrency());
  omp_set_num_threads(threads);
}

namespace {

// More lose more by starting than they gain by evening out.
constexpr int64_t kMaxPiecesPerThread = 4;
// A loop of more threads allocates.
constexpr int64_t kThreadsOnStack = 64;

// The next of a thread's own pieces; on a cache line of its own.
struct alignas(64) PieceCounter {
  std::atomic<int64_t> next{0};
};

}  // namespace

void ParallelForPieces(int64_t n, int64_t grain, int64_t piece,
                       absl::FunctionRef<void(int64_t, int64_t)> fn) {
  if (n <= 0 || RunElsewhere(n, grain, fn)) return;
  const int64_t parts = NumParts(n, grain, omp_in_parallel() ? 1 : NumThreads());
  if (parts <= 1) {
    fn(0, n);
    return;
  }
  const int64_t own =
      std::clamp<int64_t>(n / (parts * std::max<int64_t>(piece, 1)), 1, kMaxPiecesPerThread);
  const int64_t pieces = parts * own;
  absl::FixedArray<PieceCounter, kThreadsOnStack> counters(parts);
  std::atomic<int64_t>* const flops = RunningProfileFlops();
#pragma omp parallel num_threads(static_cast <int>(parts))
  {
    const ScopedProfileFlops scope(flops);
    const int64_t self = omp_get_thread_num();
    for (int64_t i = 0; i < parts; ++i) {
      const int64_t owner = (self + i) % parts;
      std::atomic<int64_t>& next = counters[owner].next;
      // Looked at before it is written: mostly there is nothing left.
      while (next.load(std::memory_order_relaxed) < own) {
        const int64_t k = next.fetch_add(1, std::memory_order_relaxed);
        if (k >= own) break;
        const int64_t at = owner * own + k;
        fn(n * at / pieces, n * (at + 1) / pieces);
      }
    }
  }
}

#else

namespace {
thread_local int num_threads = 1;
}  // namespace

int NumThreads() { return num_threads; }

void SetNumThreads(int threads) {
  num_threads =
      threads < 1 ? static_cast<int>(std::max(1u, std::thread::hardware_concurrency())) : threads;
}

void ParallelForPieces(int64_t n, int64_t grain, int64_t /*piece*/,
                       absl::FunctionRef<void(int64_t, int64_t)> fn) {
  if (n <= 0 || RunElsewhere(n, grain, fn)) return;
  const int64_t parts = std::max<int64_t>(1, NumParts(n, grain, NumThreads()));
  for (int64_t part = 0; part < parts; ++part) fn(n * part / parts, n * (part + 1) / parts);
}

#endif

void ParallelForPlain(int64_t n, int64_t grain, absl::FunctionRef<void(int64_t, int64_t)> fn) {
  ParallelForPieces(n, grain, n, fn);
}

}  // namespace cooper
