#ifndef COOPER_EXECUTOR_CUDA_RNN_RNN_GRADIENT_CELLS_H_
#define COOPER_EXECUTOR_CUDA_RNN_RNN_GRADIENT_CELLS_H_

// The kernels of a recurrent layer's gradients: one step of one direction but for its product,
// which is one launch, and what the sums over all steps need beside products. For .cu files.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/cuda/elements.h"
#include "executor/cuda/launch_rows.h"
#include "executor/cuda/reduce/set_reduce.h"
#include "executor/elements/rnn_cell_functions.h"
#include "executor/kernel.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// Step t of one direction. Rows of outputs are output_row apart; all else lies densely.
template <typename T>
struct GradientStep {
  int64_t t, batch, hidden, output_row;
  bool is_first;           // whether the states before the step are the initial ones
  int64_t t_prev;          // else the step before it in this direction
  const int64_t* lengths;  // null: all sequences reach the step
  T* slots;                // (batch, slots, hidden): what was kept, then the gradients of the sums
  const T *h, *c;          // after the step
  const T *h_prev, *c_prev;           // before it, unless the sequence starts here
  const T *first_state, *first_cell;  // (batch, hidden): from where a sequence starts
  const T* dy;
  T *dh, *dc;  // (batch, hidden)
};

template <RNNMode kMode, typename T>
__global__ void CellGradients(GradientStep<T> s, CellClip<T> clip) {
  constexpr bool kLstm = kMode == RNNMode::kLstm;
  constexpr bool kGru = kMode == RNNMode::kGru;
  constexpr int kSlots = kLstm || kGru ? 4 : 1;
  const int64_t n = s.hidden;
  ForEachInRows(s.batch, n, [&](int64_t row, int64_t j) {
    T* slot = s.slots + row * kSlots * n + j;
    const int64_t length = s.lengths == nullptr ? 0 : s.lengths[row];
    if (s.lengths != nullptr && s.t >= length) {
      // The state waited: dh and dc stay as they are.
      for (int i = 0; i < kSlots; ++i) slot[i * n] = T{0};
      return;
    }
    // Going from the last step, a sequence starts at its own length.
    const bool is_first = s.is_first || (s.lengths != nullptr && s.t_prev >= length);
    const int64_t at = row * n + j;
    const int64_t output_at = row * s.output_row + j;
    const T dy = s.dy[output_at];
    if constexpr (kLstm) {
      const T c_prev = is_first ? s.first_cell[at] : s.c_prev[at];
      LstmSlots<T> v = {slot[0], slot[n], slot[2 * n], slot[3 * n]};
      if (clip.enabled) {
        LstmCellGradient<true>(clip, v, c_prev, s.c[at], dy, s.dh[at], s.dc[at]);
      } else {
        LstmCellGradient<false>(clip, v, c_prev, s.c[at], dy, s.dh[at], s.dc[at]);
      }
      slot[0] = v.i;
      slot[n] = v.f;
      slot[2 * n] = v.g;
      slot[3 * n] = v.o;
    } else if constexpr (kGru) {
      const T h_prev = is_first ? s.first_state[at] : s.h_prev[output_at];
      GruSlots<T> v = {slot[0], slot[n], slot[2 * n], slot[3 * n]};
      GruCellGradient(v, h_prev, dy, s.dh[at]);
      slot[0] = v.r;
      slot[n] = v.z;
      slot[2 * n] = v.nh;
      slot[3 * n] = v.nx;
    } else {
      PlainCellGradient<kMode == RNNMode::kRnnRelu>(s.h[output_at], dy, s.dh[at], slot[0]);
    }
  });
}

template <typename T>
absl::Status LaunchCellGradients(const KernelContext& c, RNNMode mode, const GradientStep<T>& step,
                                 const CellClip<T>& clip) {
  const auto launch = [&](auto kernel) {
    return LaunchRows(c, step.batch, step.hidden, kernel, step, clip);
  };
  switch (mode) {
    case RNNMode::kRnnRelu:
      return launch(CellGradients<RNNMode::kRnnRelu, T>);
    case RNNMode::kRnnTanh:
      return launch(CellGradients<RNNMode::kRnnTanh, T>);
    case RNNMode::kLstm:
      return launch(CellGradients<RNNMode::kLstm, T>);
    case RNNMode::kGru:
      return launch(CellGradients<RNNMode::kGru, T>);
  }
  return absl::InternalError("no such mode");
}

// h_prev (num_steps, batch, hidden) = what each step of the direction from the last step had as its
// previous output.
template <typename T>
__global__ void GatherPrevious(const int64_t* lengths, int64_t num_steps, int64_t batch, int64_t n,
                               const T* output, int64_t output_row, const T* state, T* h_prev) {
  ForEachInRows(num_steps * batch, n, [&](int64_t row, int64_t j) {
    const int64_t t = row / batch, i = row % batch;
    h_prev[row * n + j] =
        t + 1 >= lengths[i] ? state[i * n + j] : output[(row + batch) * output_row + j];
  });
}

// Where the sums over all steps and rows of a slot's gradients go.
template <typename T>
struct BiasGradients {
  T *i2h, *h2h;  // null: not asked for
  bool add_i2h, add_h2h;
  int64_t hidden;
  bool is_gru;  // whose candidate has its i2h bias in the slot behind that of its h2h bias
};

template <typename T>
__global__ void SumBiases(SetPlan plan, const T* ds, BiasGradients<T> to) {
  const SetThread thread(plan);
  thread.ForEachSet([&](int64_t column) {
    const T sum = thread.SumOver<T>(column, [&](int64_t i, int64_t) { return ds[i]; });
    if (column < 0 || !thread.IsFirst()) return;
    const int64_t slot = to.is_gru ? column / to.hidden : 0;
    if (to.h2h != nullptr && slot < 3) StoreTo(to.h2h + column, sum, to.add_h2h);
    if (to.i2h == nullptr || slot == 2) return;
    StoreTo(to.i2h + (slot == 3 ? column - to.hidden : column), sum, to.add_i2h);
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CUDA_RNN_RNN_GRADIENT_CELLS_H_
