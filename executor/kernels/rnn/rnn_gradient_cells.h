#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_GRADIENT_CELLS_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_GRADIENT_CELLS_H_

// The kernels of a recurrent layer's gradients: one step of one direction but for its product,
// which is one launch, and what the sums over all steps need beside products. For .cu files.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch_rows.h"
#include "executor/kernels/reducers/set_reduce.h"
#include "executor/kernels/rnn/rnn_cell_functions.h"
#include "executor/kernels/rnn/rnn_mode.h"
#include "executor/program/kernel.h"
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

// Element (row, j) of a step's gradients.
template <RNNMode kMode, typename T>
struct GradientElement {
  static constexpr bool kLstm = kMode == RNNMode::kLstm;
  static constexpr bool kGru = kMode == RNNMode::kGru;
  static constexpr int kSlots = kLstm || kGru ? 4 : 1;

  T slots[kSlots] = {};
  T h = 0, c = 0, h_prev = 0, c_prev = 0;  // those that the cell's gradient is made of
  T dy = 0, dh = 0, dc = 0;
  int64_t length = 0;

  __device__ void Load(const GradientStep<T>& s, int64_t row, int64_t j) {
    const int64_t n = s.hidden;
    const int64_t at = row * n + j;
    const int64_t output_at = row * s.output_row + j;
    const bool has_lengths = s.lengths != nullptr;
    if (has_lengths) length = s.lengths[row];
    // Going from the last step, a sequence starts at its own length.
    const bool is_first = s.is_first || (has_lengths && s.t_prev >= length);
    dy = s.dy[output_at];
    dh = s.dh[at];
    if constexpr (kLstm) {
      dc = s.dc[at];
      c = s.c[at];
      c_prev = is_first ? s.first_cell[at] : s.c_prev[at];
    } else if constexpr (kGru) {
      h_prev = is_first ? s.first_state[at] : s.h_prev[output_at];
    } else {
      h = s.h[output_at];
    }
    if constexpr (kLstm || kGru) {
      for (int i = 0; i < kSlots; ++i) slots[i] = s.slots[(row * kSlots + i) * n + j];
    }
  }

  // Writes dh, dc and the gradients of the slots.
  __device__ void Run(const GradientStep<T>& s, const CellClip<T>& clip, int64_t row, int64_t j) {
    if (s.lengths != nullptr && s.t >= length) {
      // The state waited: dh and dc go on as they are.
      for (T& slot : slots) slot = T{0};
    } else if constexpr (kLstm) {
      LstmSlots<T> v = {slots[0], slots[1], slots[2], slots[3]};
      if (clip.enabled) {
        LstmCellGradient<true>(clip, v, c_prev, c, dy, dh, dc);
      } else {
        LstmCellGradient<false>(clip, v, c_prev, c, dy, dh, dc);
      }
      slots[0] = v.i;
      slots[1] = v.f;
      slots[2] = v.g;
      slots[3] = v.o;
    } else if constexpr (kGru) {
      GruSlots<T> v = {slots[0], slots[1], slots[2], slots[3]};
      GruCellGradient(v, h_prev, dy, dh);
      slots[0] = v.r;
      slots[1] = v.z;
      slots[2] = v.nh;
      slots[3] = v.nx;
    } else {
      PlainCellGradient<kMode == RNNMode::kRnnRelu>(h, dy, dh, slots[0]);
    }
    const int64_t n = s.hidden;
    s.dh[row * n + j] = dh;
    if constexpr (kLstm) s.dc[row * n + j] = dc;
    for (int i = 0; i < kSlots; ++i) s.slots[(row * kSlots + i) * n + j] = slots[i];
  }
};

template <RNNMode kMode, typename T>
__global__ void CellGradients(GradientStep<T> s, CellClip<T> clip) {
  ForEachInRows(s.batch, s.hidden, [&](int64_t row, int64_t j) {
    GradientElement<kMode, T> element;
    element.Load(s, row, j);
    element.Run(s, clip, row, j);
  });
}

template <typename T>
absl::Status LaunchCellGradients(const KernelContext& c, RNNMode mode, const GradientStep<T>& step,
                                 const CellClip<T>& clip) {
  return DispatchRNNMode(mode, [&](auto kind) {
    return LaunchRows(c, step.batch, step.hidden, CellGradients<decltype(kind)::value, T>, step,
                      clip);
  });
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

#endif  // COOPER_EXECUTOR_KERNELS_RNN_RNN_GRADIENT_CELLS_H_
