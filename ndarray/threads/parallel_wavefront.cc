#include "ndarray/threads/parallel_wavefront.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "absl/container/fixed_array.h"
#include "ndarray/threads/loop_team.h"
#include "ndarray/threads/parallel.h"
#include "ndarray/threads/run_shared.h"

namespace cooper {
namespace {

// Tables of more rows, and teams of more threads, allocate.
constexpr int64_t kOnStack = 64;

// The progress of a row: the columns that have been claimed, and those that are done, at most one
// fewer.
struct alignas(64) RowState {
  std::atomic<int64_t> begun{0};
  std::atomic<int64_t> done{0};
};

struct alignas(64) LastRow {
  int64_t row = 0;
};

class Wavefront {
 public:
  Wavefront(int64_t rows, int64_t columns, int64_t threads,
            absl::FunctionRef<void(int64_t, int64_t)> fn)
      : columns_(columns), fn_(fn), rows_(rows), last_(threads), threads_(threads) {}

  void Run() {
    internal_parallel::RunTeam(
        threads_, [this](int64_t self) { return RunOne(last_[self].row); },
        [this] { return rows_.back().done.load(std::memory_order_acquire) == columns_; });
  }

 private:
  // Continues in this thread's last row, whose data may be in its cache; else takes the lowest row,
  // since one thread alone has to finish that row at the end.
  bool RunOne(int64_t& last) {
    if (RunNext(last)) return true;
    for (auto row = static_cast<int64_t>(rows_.size()) - 1; row >= 0; --row) {
      if (!RunNext(row)) continue;
      last = row;
      return true;
    }
    return false;
  }

  // Runs the next piece of a row, if it is ready and no other thread has claimed it.
  bool RunNext(int64_t row) {
    RowState& state = rows_[row];
    int64_t column = state.begun.load(std::memory_order_relaxed);
    if (column == columns_ || state.done.load(std::memory_order_acquire) < column) return false;
    if (row > 0 && rows_[row - 1].done.load(std::memory_order_acquire) <= column) return false;
    if (!state.begun.compare_exchange_strong(column, column + 1, std::memory_order_relaxed)) {
      return false;
    }
    fn_(row, column);
    state.done.store(column + 1, std::memory_order_release);
    return true;
  }

  const int64_t columns_;
  const absl::FunctionRef<void(int64_t, int64_t)> fn_;
  absl::FixedArray<RowState, kOnStack> rows_;
  absl::FixedArray<LastRow, kOnStack> last_;  // by thread
  const int64_t threads_;
};

}  // namespace

void ParallelWavefront(int64_t rows, int64_t columns,
                       absl::FunctionRef<void(int64_t, int64_t)> fn) {
  if (rows <= 0 || columns <= 0) return;
  const int64_t threads = internal_parallel::LoopThreads(std::min(rows, columns));
  if (threads > 1 && internal_parallel::SharesLoops()) {
    return Wavefront(rows, columns, threads, fn).Run();
  }
  std::optional<internal_parallel::InLoop> scope;  // set in the pieces of several threads too
  if (threads > 1) scope.emplace();
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) fn(row, column);
  }
}

}  // namespace cooper
