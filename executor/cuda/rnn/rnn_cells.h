#ifndef COOPER_EXECUTOR_CUDA_RNN_RNN_CELLS_H_
#define COOPER_EXECUTOR_CUDA_RNN_RNN_CELLS_H_

// One step of one direction of a recurrent layer, forward, but for its product: one launch. For .cu
// files.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/cuda/launch_rows.h"
#include "executor/elements/rnn_cell_functions.h"
#include "executor/kernel.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// Step t of one direction. States and outputs are (batch, hidden) with rows as far apart as named;
// cell states lie densely. The states after the step may lie where those before it do.
template <typename T>
struct CellStep {
  int64_t t, batch, hidden;
  const int64_t* lengths;  // null: all sequences reach the step
  const T *i2h_bias, *h2h_bias;
  T* slots;  // (batch, slots, hidden): the products, then what is kept
  const T* h_prev;
  int64_t h_prev_stride;
  T* h;
  int64_t h_stride;
  const T* c_prev;
  T* c;
};

template <RNNMode kMode, typename T>
__global__ void RunCell(CellStep<T> s, CellClip<T> clip) {
  constexpr bool kLstm = kMode == RNNMode::kLstm;
  constexpr bool kGru = kMode == RNNMode::kGru;
  const int64_t n = s.hidden;
  ForEachInRows(s.batch, n, [&](int64_t row, int64_t j) {
    const T h_prev = s.h_prev[row * s.h_prev_stride + j];
    T& h = s.h[row * s.h_stride + j];
    if (s.lengths != nullptr && s.t >= s.lengths[row]) {
      // The state waits; what is past the length becomes zero when all steps are done.
      h = h_prev;
      if constexpr (kLstm) s.c[row * n + j] = s.c_prev[row * n + j];
      return;
    }
    const auto bias = [&](int gate) { return s.i2h_bias[gate * n + j] + s.h2h_bias[gate * n + j]; };
    if constexpr (kLstm) {
      T* slot = s.slots + row * 4 * n + j;
      LstmSlots<T> v = {slot[0] + bias(0), slot[n] + bias(1), slot[2 * n] + bias(2),
                        slot[3 * n] + bias(3)};
      const T c_prev = s.c_prev[row * n + j];
      T& c = s.c[row * n + j];
      if (clip.enabled) {
        LstmCell<true>(clip, v, c_prev, c, h);
      } else {
        LstmCell<false>(clip, v, c_prev, c, h);
      }
      slot[0] = v.i;
      slot[n] = v.f;
      slot[2 * n] = v.g;
      slot[3 * n] = v.o;
    } else if constexpr (kGru) {
      T* slot = s.slots + row * 4 * n + j;
      // Both summands of the candidate have a bias of their own.
      GruSlots<T> v = {slot[0] + bias(0), slot[n] + bias(1), slot[2 * n] + s.h2h_bias[2 * n + j],
                       slot[3 * n] + s.i2h_bias[2 * n + j]};
      GruCell(v, h_prev, h);
      slot[0] = v.r;
      slot[n] = v.z;
      slot[2 * n] = v.nh;
      slot[3 * n] = v.nx;
    } else {
      h = PlainCell<kMode == RNNMode::kRnnRelu>(s.slots[row * n + j] + bias(0));
    }
  });
}

template <typename T>
absl::Status LaunchCell(const KernelContext& c, RNNMode mode, const CellStep<T>& step,
                        const CellClip<T>& clip) {
  const auto launch = [&](auto kernel) {
    return LaunchRows(c, step.batch, step.hidden, kernel, step, clip);
  };
  switch (mode) {
    case RNNMode::kRnnRelu:
      return launch(RunCell<RNNMode::kRnnRelu, T>);
    case RNNMode::kRnnTanh:
      return launch(RunCell<RNNMode::kRnnTanh, T>);
    case RNNMode::kLstm:
      return launch(RunCell<RNNMode::kLstm, T>);
    case RNNMode::kGru:
      return launch(RunCell<RNNMode::kGru, T>);
  }
  return absl::InternalError("no such mode");
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CUDA_RNN_RNN_CELLS_H_
