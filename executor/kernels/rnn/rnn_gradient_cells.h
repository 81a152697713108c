#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_GRADIENT_CELLS_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_GRADIENT_CELLS_H_

// Kernels of a recurrent layer's gradients: the cell of one step and direction, in one launch
// without the product, and the sums over all steps that are not products. For .cu files.
//
// rnn_backward.cu calls them, from the last step of the forward pass to the first.
// rnn_gradient_step.h fuses the cell with the product of the later step.

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

// Step t of one direction. Rows of outputs are output_row apart; all other arrays are contiguous.
// All pointers are device memory, not owned.
template <typename T>
struct GradientStep {
  int64_t t, batch, hidden, output_row;
  bool is_first;           // whether the states before the step are the initial ones
  int64_t t_prev;          // else the previous step in this direction
  const int64_t* lengths;  // null: all sequences have the step
  T* slots;        // (batch, slots, hidden): the reserve's values, then the gradients of the sums
  const T *h, *c;  // after the step
  const T *h_prev, *c_prev;           // before the step, unless the sequence starts at it
  const T *first_state, *first_cell;  // (batch, hidden): the initial states
  // The gradient of the layer's output at this step.
  const T* dy;
  // Hold the gradients from the later step and receive those for the previous one.
  T *dh, *dc;  // (batch, hidden)
};

// Element (row, j) of a step's gradients. One thread processes it: CellGradients, or
// RunGradientStep of rnn_gradient_step.h.
template <RNNMode kMode, typename T>
struct GradientElement {
  static constexpr bool kLstm = kMode == RNNMode::kLstm;
  static constexpr bool kGru = kMode == RNNMode::kGru;
  static constexpr int kSlots = kLstm || kGru ? 4 : 1;

  // The activated gates of lstm or gru. A plain cell needs only h.
  T slots[kSlots] = {};
  T h = 0, c = 0, h_prev = 0, c_prev = 0;  // the values that the cell's gradient needs
  // The gradients of the output and of the states after the step.
  T dy = 0, dh = 0, dc = 0;
  // The number of steps of the sequence; only with lengths.
  int64_t length = 0;

  // Loads all operands of the element.
  __device__ void Load(const GradientStep<T>& s, int64_t row, int64_t j) {
    const int64_t n = s.hidden;
    const int64_t at = row * n + j;
    const int64_t output_at = row * s.output_row + j;
    const bool has_lengths = s.lengths != nullptr;
    if (has_lengths) length = s.lengths[row];
    // In the reverse direction a sequence starts at its own length.
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

  // Writes dh, dc and the gradients of the slots. Load must have been called with the same
  // arguments. In padding the slots' gradients are 0.
  __device__ void Run(const GradientStep<T>& s, const CellClip<T>& clip, int64_t row, int64_t j) {
    if (s.lengths != nullptr && s.t >= length) {
      // The state did not change in this step, so dh and dc do not change.
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

// Computes the cell's gradient of all elements of a step.
template <RNNMode kMode, typename T>
__global__ void CellGradients(GradientStep<T> s, CellClip<T> clip) {
  ForEachInRows(s.batch, s.hidden, [&](int64_t row, int64_t j) {
    GradientElement<kMode, T> element;
    element.Load(s, row, j);
    element.Run(s, clip, row, j);
  });
}

// Launches the gradient of the cell of `mode` for one step. The caller adds the recurrent product
// to dh. Does not wait. Errors: those of LaunchRows.
template <typename T>
absl::Status LaunchCellGradients(const KernelContext& c, RNNMode mode, const GradientStep<T>& step,
                                 const CellClip<T>& clip) {
  return DispatchRNNMode(mode, [&](auto kind) {
    return LaunchRows(c, step.batch, step.hidden, CellGradients<decltype(kind)::value, T>, step,
                      clip);
  });
}

// Copies to h_prev (num_steps, batch, hidden) the state before each step, in the reverse direction,
// so that the product for the h2h weight's gradient reads one contiguous matrix:
//
//   h_prev[t] = output[t + 1], or the row of `state` (batch, hidden) in a sequence's last real step
//
// `output_row` is the distance between the rows of `output`.
template <typename T>
__global__ void GatherPrevious(const int64_t* lengths, int64_t num_steps, int64_t batch, int64_t n,
                               const T* output, int64_t output_row, const T* state, T* h_prev) {
  ForEachInRows(num_steps * batch, n, [&](int64_t row, int64_t j) {
    const int64_t t = row / batch, i = row % batch;
    h_prev[row * n + j] =
        t + 1 >= lengths[i] ? state[i * n + j] : output[(row + batch) * output_row + j];
  });
}

// The destinations of the sums of the slots' gradients over all steps and rows: biases with gates *
// hidden elements in device memory. For gru the gates are r, z, n. A slot is a sum of two products
// before its activation; a gate has one, gru's candidate two.
template <typename T>
struct BiasGradients {
  T *i2h, *h2h;  // null: not requested
  // Whether the sums are added to the destination, else written.
  bool add_i2h, add_h2h;
  // The features of the state: a slot has as many columns.
  int64_t hidden;
  bool is_gru;  // gru's candidate has its i2h bias in slot 3, after that of its h2h bias
};

// Sums ds over all steps and rows. The sets of `plan` are the columns of the slots. All sums but
// gru's last two slots go to both biases, because both are summands of the same activation.
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
