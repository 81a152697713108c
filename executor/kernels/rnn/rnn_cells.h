#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_CELLS_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_CELLS_H_

// Runs one step of one sequence through a recurrent cell, forward and backward, in one loop over
// the state's features (executor/kernels/rnn/rnn_cell_functions.h). Forward functions read from
// `slots` the products of the input and of the previous output with the weights, without biases.
// For the CPU.
//
// rnn_forward.cc and rnn_backward.cc call it after the products of a step; packed_step.h fuses
// product and cell for prediction. rnn_cells_cuda.h is the counterpart for GPUs. T is float or
// double; the loops vectorise.

#include <cstdint>

#include "executor/kernels/rnn/rnn_cell_functions.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// Tells the compiler that the iterations of the next loop are independent, even where its output
// lies over an input.
#if defined(__clang__)
#define COOPER_CELL_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define COOPER_CELL_LOOP _Pragma("GCC ivdep")
#endif

// Runs the cell of rnn_relu or rnn_tanh: h = act(slots + bias), for n features. kRelu selects
// max(x, 0), else tanh. `slots` is unchanged; the backward pass needs only h. `bias` is the sum of
// the i2h and the h2h bias.
template <typename T, bool kRelu>
void PlainForward(int64_t n, const T* bias, T* slots, T* h) {
  COOPER_CELL_LOOP
  for (int64_t j = 0; j < n; ++j) h[j] = PlainCell<kRelu>(slots[j] + bias[j]);
}

// Computes the gradient of PlainForward: writes ds (n), the gradients of the sums, from dy + dh,
// and zeroes dh. `ds` may be the slots.
template <typename T, bool kRelu>
void PlainBackward(int64_t n, const T* h, const T* dy, T* dh, T* ds) {
  COOPER_CELL_LOOP
  for (int64_t j = 0; j < n; ++j) PlainCellGradient<kRelu>(h[j], dy[j], dh[j], ds[j]);
}

// Runs the cell of lstm. Writes the activated gates to the slots, and the new states to c and h.
// `slots` and `bias` are (4, n) in the order i, f, g, o. c may be c_prev. kClip is clip.enabled. i,
// f and o are sigmoids and g a tanh of slot + bias; then c = f * c_prev + i * g, limited by the
// clip, and h = o * tanh(c).
template <typename T, bool kClip>
void LstmForward(int64_t n, const CellClip<T>& clip, const T* bias, T* slots, const T* c_prev, T* c,
                 T* h) {
  T *si = slots, *sf = slots + n, *sg = slots + 2 * n, *so = slots + 3 * n;
  const T *bi = bias, *bf = bias + n, *bg = bias + 2 * n, *bo = bias + 3 * n;
  COOPER_CELL_LOOP
  for (int64_t j = 0; j < n; ++j) {
    LstmSlots<T> s = {si[j] + bi[j], sf[j] + bf[j], sg[j] + bg[j], so[j] + bo[j]};
    LstmCell<kClip>(clip, s, c_prev[j], c[j], h[j]);
    si[j] = s.i;
    sf[j] = s.f;
    sg[j] = s.g;
    so[j] = s.o;
  }
}

// Computes the gradient of LstmForward. Updates dh and dc, and writes ds (4, n). ds may be `slots`.
// `slots` are those that LstmForward wrote, `c` its new state. dh becomes 0 and dc the gradient of
// c_prev; the caller adds the recurrent product to dh.
template <typename T, bool kClip>
void LstmBackward(int64_t n, const CellClip<T>& clip, const T* slots, const T* c_prev, const T* c,
                  const T* dy, T* dh, T* dc, T* ds) {
  const T *si = slots, *sf = slots + n, *sg = slots + 2 * n, *so = slots + 3 * n;
  T *di = ds, *df = ds + n, *dg = ds + 2 * n, *d_o = ds + 3 * n;
  COOPER_CELL_LOOP
  for (int64_t j = 0; j < n; ++j) {
    LstmSlots<T> s = {si[j], sf[j], sg[j], so[j]};
    LstmCellGradient<kClip>(clip, s, c_prev[j], c[j], dy[j], dh[j], dc[j]);
    di[j] = s.i;
    df[j] = s.f;
    dg[j] = s.g;
    d_o[j] = s.o;
  }
}

// Runs the cell of gru. Writes r, z, nh and n to the slots, and the new state to h. `slots` and
// `bias` are (4, n) in the order r, z, nh, nx; bias has gru's i2h and h2h bias of n in separate
// rows (SumBiases). h must not be h_prev. r and z are sigmoids, the candidate n = tanh(nx + r *
// nh), and h = (1 - z) * n + z * h_prev: cuDNN's order, in which r multiplies the product and its
// bias.
template <typename T>
void GruForward(int64_t n, const T* bias, T* slots, const T* h_prev, T* h) {
  T *sr = slots, *sz = slots + n, *snh = slots + 2 * n, *snx = slots + 3 * n;
  const T *br = bias, *bz = bias + n, *bnh = bias + 2 * n, *bnx = bias + 3 * n;
  COOPER_CELL_LOOP
  for (int64_t j = 0; j < n; ++j) {
    GruSlots<T> s = {sr[j] + br[j], sz[j] + bz[j], snh[j] + bnh[j], snx[j] + bnx[j]};
    GruCell(s, h_prev[j], h[j]);
    sr[j] = s.r;
    sz[j] = s.z;
    snh[j] = s.nh;
    snx[j] = s.nx;
  }
}

// Runs the cell of `mode`. Only lstm uses c_prev and c, and only gru reads h_prev. `n` is the
// number of features, and `slots` and `bias` are (RNNNumSlots(mode), n). Other pointers may be null
// where the mode does not use them.
template <typename T>
void CellForward(RNNMode mode, const CellClip<T>& clip, int64_t n, const T* bias, T* slots,
                 const T* h_prev, const T* c_prev, T* c, T* h) {
  switch (mode) {
    case RNNMode::kRnnRelu:
      PlainForward<T, true>(n, bias, slots, h);
      return;
    case RNNMode::kRnnTanh:
      PlainForward<T, false>(n, bias, slots, h);
      return;
    case RNNMode::kLstm:
      if (clip.enabled) {
        LstmForward<T, true>(n, clip, bias, slots, c_prev, c, h);
      } else {
        LstmForward<T, false>(n, clip, bias, slots, c_prev, c, h);
      }
      return;
    case RNNMode::kGru:
      GruForward(n, bias, slots, h_prev, h);
      return;
  }
}

// Computes the gradient of GruForward. Updates dh, and writes ds (4, n). ds may be `slots`. `slots`
// are those that GruForward wrote. dh becomes the part of the gradient of h_prev that bypasses the
// products.
template <typename T>
void GruBackward(int64_t n, const T* slots, const T* h_prev, const T* dy, T* dh, T* ds) {
  const T *sr = slots, *sz = slots + n, *snh = slots + 2 * n, *snx = slots + 3 * n;
  T *dr = ds, *dz = ds + n, *dnh = ds + 2 * n, *dnx = ds + 3 * n;
  COOPER_CELL_LOOP
  for (int64_t j = 0; j < n; ++j) {
    GruSlots<T> s = {sr[j], sz[j], snh[j], snx[j]};
    GruCellGradient(s, h_prev[j], dy[j], dh[j]);
    dr[j] = s.r;
    dz[j] = s.z;
    dnh[j] = s.nh;
    dnx[j] = s.nx;
  }
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_RNN_CELLS_H_
