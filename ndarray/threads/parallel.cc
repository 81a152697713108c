#include "ndarray/threads/parallel.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <vector>

#include "absl/container/fixed_array.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "ndarray/threads/available_cpus.h"
#include "ndarray/threads/helper_balance.h"
#include "ndarray/threads/run_shared.h"

namespace cooper {

namespace {

// With more pieces their start costs more than the better balance gains.
constexpr int64_t kMaxPiecesPerThread = 4;
// A loop of more threads allocates its counters.
constexpr int64_t kThreadsOnStack = 64;

// OMP_NUM_THREADS is what MXNet's users set, and other libraries of the process read it too.
int DefaultThreads() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  if (text == nullptr) return AvailableCpus();
  // In a list the later entries are for nested loops, which always have one thread here.
  const std::vector<absl::string_view> levels = absl::StrSplit(text, ',');
  int threads = 0;
  return absl::SimpleAtoi(levels[0], &threads) && threads > 0 ? threads : AvailableCpus();
}

int& ThreadsOfThisThread() {
  static const int default_threads = DefaultThreads();
  thread_local int threads = default_threads;
  return threads;
}

// The number of the next range that a thread takes from its own share of the loop. Each counter has
// a cache line of its own, so that threads do not wait for each other's writes.
struct alignas(64) PieceCounter {
  std::atomic<int64_t> next{0};
};

// Divides the iterations [0, n) of a loop into `count` ranges of similar size ("pieces").
struct Pieces {
  int64_t n = 0;
  int64_t count = 0;
  absl::FunctionRef<void(int64_t, int64_t)> fn;

  void Run(int64_t at) const { fn(n * at / count, n * (at + 1) / count); }
};

// The state of a loop that several threads share.
class SharedLoop {
 public:
  // Gives each of `parts` threads a share of `own` ranges.
  SharedLoop(const Pieces& pieces, int64_t parts, int64_t own)
      : pieces_(pieces), parts_(parts), own_(own), counters_(parts) {}

  void Run() {
    internal_parallel::RunShared(parts_, [this](int64_t self) { return RunPieces(self); });
  }

 private:
  internal_parallel::Share RunPieces(int64_t self) {
    int64_t pieces = 0;
    // A thread begins with its own pieces, which it also had in the previous loop: their data may
    // be in its cache.
    for (int64_t i = 0; i < parts_; ++i) pieces += RunPiecesOf((self + i) % parts_);
    return {.pieces = pieces};
  }

  // Runs the remaining pieces of `owner`'s range and returns their number.
  int64_t RunPiecesOf(int64_t owner) {
    std::atomic<int64_t>& next = counters_[owner].next;
    int64_t run = 0;
    // Reads before it writes, since usually no pieces are left.
    while (next.load(std::memory_order_relaxed) < own_) {
      const int64_t k = next.fetch_add(1, std::memory_order_relaxed);
      if (k >= own_) break;
      pieces_.Run(owner * own_ + k);
      ++run;
    }
    return run;
  }

  const Pieces& pieces_;
  const int64_t parts_;
  const int64_t own_;  // pieces of each thread
  absl::FixedArray<PieceCounter, kThreadsOnStack> counters_;
};

}  // namespace

namespace internal_parallel {

int64_t LoopThreads(int64_t most) {
  const int64_t threads = std::min<int64_t>(NumThreads(), most);
  return in_loop ? 1 : std::max<int64_t>(threads, 1);
}

bool SharesLoops() { return HelperBalance::OfThisThread().Shares(HelperBalance::Now()); }

}  // namespace internal_parallel

int NumThreads() { return ThreadsOfThisThread(); }

void SetNumThreads(int threads) { ThreadsOfThisThread() = threads < 1 ? AvailableCpus() : threads; }

void ParallelForRanges(int64_t n, int64_t grain, int64_t piece,
                       absl::FunctionRef<void(int64_t, int64_t)> fn) {
  if (n <= 0) return;
  const int64_t parts = internal_parallel::LoopThreads(n / std::max<int64_t>(grain, 1));
  if (parts == 1) {
    fn(0, n);
    return;
  }
  const int64_t own =
      std::clamp<int64_t>(n / (parts * std::max<int64_t>(piece, 1)), 1, kMaxPiecesPerThread);
  const Pieces pieces = {.n = n, .count = parts * own, .fn = fn};
  if (internal_parallel::SharesLoops()) {
    SharedLoop(pieces, parts, own).Run();
    return;
  }
  const internal_parallel::InLoop scope;
  for (int64_t at = 0; at < pieces.count; ++at) pieces.Run(at);
}

void ParallelForPlain(int64_t n, int64_t grain, absl::FunctionRef<void(int64_t, int64_t)> fn) {
  ParallelForRanges(n, grain, n, fn);
}

}  // namespace cooper
