#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_CELL_FUNCTIONS_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_CELL_FUNCTIONS_H_

// Computes one feature of one step of one sequence in a recurrent cell, forward and backward.
//
// A slot is a number that a step computes for each feature (rnn_dims.h). The functions exchange
// these values:
//
//   forward, in:    the slots hold the sums before the activations, biases included
//   forward, out:   the slots hold the values that the backward function needs
//   backward, in:   dh and dc hold the gradients of the next step, dy that of the step's output
//   backward, out:  dh and dc hold the gradients for the previous step, except the part that goes
//                   through the recurrent product; the slots hold the gradients of the sums
//
// Outputs may alias inputs.
//
// All loops and kernels of recurrent cells, on the CPU (rnn_cells.h, packed_step.cc) and on GPUs
// (rnn_cells_cuda.h, rnn_gradient_cells.h), call these functions. VectorTanh and VectorSigmoid
// vectorise, unlike the functions of libm.

#include "executor/kernels/loops/is_nan.h"
#include "executor/kernels/loops/vector_math.h"
#include "ndarray/base/host_device.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// Bounds of an lstm's cell state, if `enabled`. MXNet's lstm_state_clip_min, lstm_state_clip_max
// and lstm_state_clip_nan.
template <typename T>
struct CellClip {
  bool enabled = false;
  // Whether NaN becomes `min`; else NaN stays NaN.
  bool nan_to_min = false;
  T min = 0;
  T max = 0;

  // Without a minimum in `param` nothing is clipped. The bounds are rounded to T.
  explicit CellClip(const RNNParam& param) {
    if (!param.lstm_state_clip_min.has_value()) return;
    enabled = true;
    nan_to_min = param.lstm_state_clip_nan;
    min = static_cast<T>(*param.lstm_state_clip_min);
    max = static_cast<T>(*param.lstm_state_clip_max);
  }
  // Returns the clipped state. The caller tests `enabled` first.
  COOPER_HOST_DEVICE T operator()(T c) const {
    if (nan_to_min && IsNan(c)) return min;
    return c < min ? min : (c > max ? max : c);
  }
};

// Returns h' = act(s). `act` is max(s, 0) with kRelu, else tanh(s).
template <bool kRelu, typename T>
COOPER_HOST_DEVICE T PlainCell(T s) {
  // relu passes NaN.
  return kRelu ? (s < T{0} ? T{0} : s) : VectorTanh(s);
}

// Writes the gradient of PlainCell, given its result h: ds = (dy + dh) * act'(s). Sets dh to 0,
// because the only way to the previous step is the recurrent product.
template <bool kRelu, typename T>
COOPER_HOST_DEVICE void PlainCellGradient(T h, T dy, T& dh, T& ds) {
  const T d = dy + dh;
  // A NaN stays NaN, as in the gradient of Activation.
  ds = kRelu ? (h > T{0} ? d : (IsNan(h) ? h : T{0})) : d * (T{1} - h * h);
  dh = T{0};
}

// The slots of an lstm: sums before the activation, then activated gates. MXNet's names are input
// gate, forget gate, cell candidate and output gate.
template <typename T>
struct LstmSlots {
  T i, f, g, o;
};

// Computes a step of an lstm:
//
//   c' = f c + i g
//   h' = o tanh(c')
//
// i, f and o are sigmoids, g is a tanh. With kClip, c' is clipped before its tanh. MXNet and cuDNN
// order the gates in the same way.
template <bool kClip, typename T>
COOPER_HOST_DEVICE void LstmCell(const CellClip<T>& clip, LstmSlots<T>& slots, T c_prev, T& c,
                                 T& h) {
  const T i = VectorSigmoid(slots.i);
  const T f = VectorSigmoid(slots.f);
  const T g = VectorTanh(slots.g);
  const T o = VectorSigmoid(slots.o);
  T cell = f * c_prev + i * g;
  if constexpr (kClip) cell = clip(cell);
  slots = {i, f, g, o};
  c = cell;
  h = o * VectorTanh(cell);
}

// Writes the gradient of LstmCell. Slots hold the activated gates. `c` is the state after the step,
// clipped. The slots receive the gradients of the sums; dc receives that of c_prev, and dh becomes
// 0. Recomputes tanh(c) instead of storing it.
template <bool kClip, typename T>
COOPER_HOST_DEVICE void LstmCellGradient(const CellClip<T>& clip, LstmSlots<T>& slots, T c_prev,
                                         T c, T dy, T& dh, T& dc) {
  const auto [i, f, g, o] = slots;
  const T d = dy + dh;
  const T tanh_c = VectorTanh(c);
  T d_cell = dc + d * o * (T{1} - tanh_c * tanh_c);
  // A clipped state does not depend on the gates.
  if constexpr (kClip) d_cell = c > clip.min && c < clip.max ? d_cell : T{0};
  slots.i = d_cell * g * i * (T{1} - i);
  slots.f = d_cell * c_prev * f * (T{1} - f);
  slots.g = d_cell * i * (T{1} - g * g);
  slots.o = d * tanh_c * o * (T{1} - o);
  dc = d_cell * f;
  dh = T{0};
}

// The slots of a gru: r is the reset gate, z the update gate. nh and nx are the summands of the
// candidate n = tanh(nx + r nh): nh is the product with the previous state, nx that with the input.
// GruCell stores n in nx.
template <typename T>
struct GruSlots {
  T r, z, nh, nx;
};

// Computes a step of a gru:
//
//   n = tanh(nx + r nh)
//   h' = (1 - z) n + z h
//
// r and z are sigmoids. As in cuDNN and MXNet, the reset gate multiplies the product with the
// previous state, not the state itself.
template <typename T>
COOPER_HOST_DEVICE void GruCell(GruSlots<T>& slots, T h_prev, T& h) {
  const T r = VectorSigmoid(slots.r);
  const T z = VectorSigmoid(slots.z);
  const T nh = slots.nh;
  const T n = VectorTanh(slots.nx + r * nh);
  slots = {r, z, nh, n};
  h = n + z * (h_prev - n);
}

// Writes the gradient of GruCell. Slots hold the activated gates, nh and n. dh becomes (dy + dh) z,
// the part of the gradient that bypasses the gates.
template <typename T>
COOPER_HOST_DEVICE void GruCellGradient(GruSlots<T>& slots, T h_prev, T dy, T& dh) {
  const auto [r, z, nh, n] = slots;
  const T d = dy + dh;
  const T d_sum = d * (T{1} - z) * (T{1} - n * n);
  slots.r = d_sum * nh * r * (T{1} - r);
  slots.z = d * (h_prev - n) * z * (T{1} - z);
  slots.nh = d_sum * r;
  slots.nx = d_sum;
  dh = d * z;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_RNN_CELL_FUNCTIONS_H_
