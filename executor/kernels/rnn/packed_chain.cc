#include "executor/kernels/rnn/packed_chain.h"

#include <algorithm>

#include "absl/types/span.h"
#include "ndarray/threads/parallel_steps.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

float* PackedChain::OutputAt(int64_t t, int64_t place) const {
  return output + (t * dims.batch + rows.row(place)) * dims.output_row();
}

PackedStepRow PackedChain::RowAt(int64_t t, int64_t place) const {
  const bool is_first = rows.IsFirst(direction, t, place);
  const int64_t at = place * dims.hidden;
  PackedStepRow row{
      .h_prev = is_first ? state + at : OutputAt(direction == 0 ? t - 1 : t + 1, place),
      .slots = slots + (rows.begin(t) + place) * dims.slot_row(),
      .h = OutputAt(t, place)};
  if (step.mode != RNNMode::kLstm) return row;
  row.c = cell + at;
  row.c_prev = is_first ? state_cell + at : row.c;
  return row;
}

void PackedChain::Run(int64_t begin, int64_t end) const {
  // The multiplications of a step that outweigh passing work to another thread.
  constexpr int64_t kMinProducts = 1 << 16;
  constexpr int64_t kRows = 48;  // rows that are processed together
  const int64_t hidden = dims.hidden;
  const int64_t panels = NumPackedPanels(hidden);
  const int64_t of_panel = (end - begin) * dims.recurrent * hidden * kPackedFeatures;
  const int64_t grain = 1 + kMinProducts / (of_panel + 1);
  ParallelSteps(dims.num_steps, panels, grain, [&](int64_t s, int64_t first, int64_t last) {
    const int64_t t = dims.StepAt(direction, s);
    const int64_t active_end = std::min(end, rows.count(t));
    PackedStepRow packed[kRows];
    for (int64_t i = begin; i < active_end; i += kRows) {
      const int64_t count = std::min(kRows, active_end - i);
      for (int64_t r = 0; r < count; ++r) packed[r] = RowAt(t, i + r);
      step.Run(absl::MakeConstSpan(packed, count), first, last);
    }
  });
  if (last_state == nullptr) return;
  for (int64_t i = begin; i < end; ++i) {
    if (rows.length(i) == 0) continue;
    const int64_t last = direction == 0 ? rows.length(i) - 1 : 0;
    std::copy_n(OutputAt(last, i), hidden, last_state + i * hidden);
  }
}

}  // namespace cooper
