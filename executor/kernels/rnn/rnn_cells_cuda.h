#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_CELLS_CUDA_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_CELLS_CUDA_H_

// Runs the cell of one step and direction of a recurrent layer, forward, in one launch. The product
// is launched separately. For .cu files.
//
// rnn_forward.cu uses it where FusesSteps does not hold: then cuBLAS computes the product.
// Otherwise rnn_step.h computes product and cell in one kernel, with the same CellElement.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/launch_rows.h"
#include "executor/kernels/rnn/rnn_cell_functions.h"
#include "executor/kernels/rnn/rnn_mode.h"
#include "executor/program/kernel.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// Step t of one direction. States and outputs are (batch, hidden) with the given strides between
// rows; cell states are contiguous. c may alias c_prev, but h must not alias h_prev. All pointers
// are device memory, not owned.
template <typename T>
struct CellStep {
  // The step's index, the rows of the batch, and the features of the state.
  int64_t t, batch, hidden;
  const int64_t* lengths;  // null: all sequences have the step
  // (gates * hidden,) each; the kernel adds them.
  const T *i2h_bias, *h2h_bias;
  T* slots;  // (batch, slots, hidden): the products, then the reserve's values
  // The state before the step.
  const T* h_prev;
  // Elements from one row of h_prev to the next: hidden for the initial state, the width of the
  // layer's output for later steps.
  int64_t h_prev_stride;
  // The state after the step: rows of the layer's output.
  T* h;
  // Elements from one row of h to the next.
  int64_t h_stride;
  // lstm's cell state before and after the step, (batch, hidden).
  const T* c_prev;
  T* c;
};

// Element (row, j) of a step. Load only loads, so that it does not wait for its results. One thread
// processes it: RunCell, or RunStep of rnn_step.h after it has added the product to the slots.
template <RNNMode kMode, typename T>
struct CellElement {
  static constexpr bool kLstm = kMode == RNNMode::kLstm;
  static constexpr bool kGru = kMode == RNNMode::kGru;
  // The slots of the mode, and those that the recurrent product fills.
  static constexpr int kSlots = kLstm || kGru ? 4 : 1;
  static constexpr int kRecurrent = kGru ? 3 : kSlots;  // the leading ones

  T slots[kSlots] = {};                                    // the products
  T i2h_bias[kRecurrent] = {}, h2h_bias[kRecurrent] = {};  // of the gates
  // The states before the step.
  T h_prev = 0, c_prev = 0;
  // The number of steps of the sequence; only with lengths.
  int64_t length = 0;

  // Loads all operands of the element.
  __device__ void Load(const CellStep<T>& s, int64_t row, int64_t j) {
    const int64_t n = s.hidden;
    if (s.lengths != nullptr) length = s.lengths[row];
    h_prev = s.h_prev[row * s.h_prev_stride + j];
    if constexpr (kLstm) c_prev = s.c_prev[row * n + j];
    for (int i = 0; i < kSlots; ++i) slots[i] = s.slots[(row * kSlots + i) * n + j];
    for (int gate = 0; gate < kRecurrent; ++gate) {
      i2h_bias[gate] = s.i2h_bias[gate * n + j];
      h2h_bias[gate] = s.h2h_bias[gate * n + j];
    }
  }

  // Writes the states after the step, and the reserve's values into the slots. Load must have been
  // called with the same arguments.
  __device__ void Run(const CellStep<T>& s, const CellClip<T>& clip, int64_t row, int64_t j) {
    const int64_t n = s.hidden;
    T& h = s.h[row * s.h_stride + j];
    if (s.lengths != nullptr && s.t >= length) {
      // Beyond its length a sequence keeps its state; the outputs there are zeroed after all steps.
      h = h_prev;
      if constexpr (kLstm) s.c[row * n + j] = c_prev;
      return;
    }
    const auto sum = [&](int gate) { return slots[gate] + (i2h_bias[gate] + h2h_bias[gate]); };
    if constexpr (kLstm) {
      LstmSlots<T> v = {sum(0), sum(1), sum(2), sum(3)};
      T& c = s.c[row * n + j];
      if (clip.enabled) {
        LstmCell<true>(clip, v, c_prev, c, h);
      } else {
        LstmCell<false>(clip, v, c_prev, c, h);
      }
      Keep(s, row, j, {v.i, v.f, v.g, v.o});
    } else if constexpr (kGru) {
      // The two summands of the candidate have separate biases.
      GruSlots<T> v = {sum(0), sum(1), slots[2] + h2h_bias[2], slots[3] + i2h_bias[2]};
      GruCell(v, h_prev, h);
      Keep(s, row, j, {v.r, v.z, v.nh, v.nx});
    } else {
      h = PlainCell<kMode == RNNMode::kRnnRelu>(sum(0));
      Keep(s, row, j, {slots[0]});
    }
  }

 private:
  // Stores the values that the backward pass reads in the slots.
  __device__ static void Keep(const CellStep<T>& s, int64_t row, int64_t j,
                              const T (&values)[kSlots]) {
    for (int i = 0; i < kSlots; ++i) s.slots[(row * kSlots + i) * s.hidden + j] = values[i];
  }
};

// Runs the cell of all elements of a step. The grid is that of LaunchRows.
template <RNNMode kMode, typename T>
__global__ void RunCell(CellStep<T> s, CellClip<T> clip) {
  ForEachInRows(s.batch, s.hidden, [&](int64_t row, int64_t j) {
    CellElement<kMode, T> element;
    element.Load(s, row, j);
    element.Run(s, clip, row, j);
  });
}

// Launches the cell of `mode` for one step. The slots must hold the products of both weights,
// without biases. Does not wait. Errors: those of LaunchRows.
template <typename T>
absl::Status LaunchCell(const KernelContext& c, RNNMode mode, const CellStep<T>& step,
                        const CellClip<T>& clip) {
  return DispatchRNNMode(mode, [&](auto kind) {
    return LaunchRows(c, step.batch, step.hidden, RunCell<decltype(kind)::value, T>, step, clip);
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_RNN_CELLS_CUDA_H_
