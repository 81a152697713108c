#include "executor/kernels/rnn/rnn_chains.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ndarray/threads/parallel.h"

namespace cooper {

void ForEachChain(const RNNDims& dims, const RNNRows& rows,
                  absl::FunctionRef<void(int, int64_t, int64_t)> fn) {
  // With fewer rows a product is bound by loading the weight, and with fewer multiplications (some
  // 20 us) starting threads takes longer than it saves.
  constexpr int64_t kMinRows = 8;
  constexpr int64_t kMinProducts = 1 << 20;
  const int64_t threads = NumThreads();
  const int64_t products = rows.total() * dims.recurrent * dims.hidden * dims.hidden;
  const int64_t min_rows =
      std::max(kMinRows, kMinProducts * dims.batch / std::max<int64_t>(products, 1));
  const int64_t blocks = std::clamp<int64_t>(threads / dims.directions, 1,
                                             std::max<int64_t>(1, dims.batch / min_rows));
  const int64_t tasks = blocks * dims.directions;
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t block = task % blocks;
      fn(static_cast<int>(task / blocks), rows.BlockBegin(block, blocks),
         rows.BlockBegin(block + 1, blocks));
    }
  };
  // If most threads would be idle, each step's products and loops use all threads instead.
  const bool small = products < kMinProducts;
  if (!small && 2 * tasks > threads) {
    ParallelForPlain(tasks, 1, run);
  } else {
    run(0, tasks);
  }
}

absl::Status CheckSupported(const RNNParam& param) {
  if (!param.projection_size.has_value()) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("no cpu kernel for projection_size ",
                                               *param.projection_size, ", only for None"));
}

}  // namespace cooper
