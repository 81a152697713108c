#ifndef COOPER_EXECUTOR_CPU_RNN_RNN_CELLS_H_
#define COOPER_EXECUTOR_CPU_RNN_RNN_CELLS_H_

// One step of one sequence through a recurrent cell, forward and backward, fused into one loop over
// the state's features. Forward functions find in `slots` the products of input and of previous
// output with the weights, and leave there what the backward functions need.
//
// Backward functions get in `dh` and `dc` the gradients that come from the next step, and leave
// those that go to the previous one, but for what goes through the recurrent product. They write
// the gradients of the sums before the activations to `ds`.

#include <cstdint>

#include "executor/elements/is_nan.h"
#include "executor/elements/vector_math.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// The iterations of the next loop are independent, even where its output lies over an input.
#if defined(__clang__)
#define COOPER_CELL_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define COOPER_CELL_LOOP _Pragma("GCC ivdep")
#endif

// The bounds of an lstm's cell state, if it has some.
template <typename T>
struct CellClip {
  bool enabled = false;
  bool nan_to_min = false;
  T min = 0;
  T max = 0;

  explicit CellClip(const RNNParam& param) {
    if (!param.lstm_state_clip_min.has_value()) return;
    enabled = true;
    nan_to_min = param.lstm_state_clip_nan;
    min = static_cast<T>(*param.lstm_state_clip_min);
    max = static_cast<T>(*param.lstm_state_clip_max);
  }
  T operator()(T c) const {
    if (nan_to_min && IsNan(c)) return min;
    return c < min ? min : (c > max ? max : c);
  }
};

// h' = act(s)
template <typename T, bool kRelu>
void PlainForward(int64_t n, const T* bias, T* slots, T* h) {
  COOPER_CELL_LOOP
  for (int64_t j = 0; j < n; ++j) {
    const T s = slots[j] + bias[j];
    // A NaN passes relu.
    h[j] = kRelu ? (s < T{0} ? T{0} : s) : VectorTanh(s);
  }
}

template <typename T, bool kRelu>
void PlainBackward(int64_t n, const T* h, const T* dy, T* dh, T* ds) {
  COOPER_CELL_LOOP
  for (int64_t j = 0; j < n; ++j) {
    const T d = dy[j] + dh[j];
    // As the gradient of Activation: a NaN stays one.
    ds[j] = kRelu ? (h[j] > T{0} ? d : (IsNan(h[j]) ? h[j] : T{0})) : d * (T{1} - h[j] * h[j]);
    dh[j] = T{0};
  }
}

// c' = f c + i g;  h' = o tanh(c')
template <typename T, bool kClip>
void LstmForward(int64_t n, const CellClip<T>& clip, const T* bias, T* slots, const T* c_prev, T* c,
                 T* h) {
  T *si = slots, *sf = slots + n, *sg = slots + 2 * n, *so = slots + 3 * n;
  const T *bi = bias, *bf = bias + n, *bg = bias + 2 * n, *bo = bias + 3 * n;
  COOPER_CELL_LOOP
  for (int64_t j = 0; j < n; ++j) {
    const T i = VectorSigmoid(si[j] + bi[j]);
    const T f = VectorSigmoid(sf[j] + bf[j]);
    const T g = VectorTanh(sg[j] + bg[j]);
    const T o = VectorSigmoid(so[j] + bo[j]);
    T cell = f * c_prev[j] + i * g;
    if constexpr (kClip) cell = clip(cell);
    si[j] = i;
    sf[j] = f;
    sg[j] = g;
    so[j] = o;
    c[j] = cell;
    h[j] = o * VectorTanh(cell);
  }
}

template <typename T, bool kClip>
void LstmBackward(int64_t n, const CellClip<T>& clip, const T* slots, const T* c_prev, const T* c,
                  const T* dy, T* dh, T* dc, T* ds) {
  const T *si = slots, *sf = slots + n, *sg = slots + 2 * n, *so = slots + 3 * n;
  T *di = ds, *df = ds + n, *dg = ds + 2 * n, *d_o = ds + 3 * n;
  COOPER_CELL_LOOP
  for (int64_t j = 0; j < n; ++j) {
    const T i = si[j], f = sf[j], g = sg[j], o = so[j];
    const T d = dy[j] + dh[j];
    const T tanh_c = VectorTanh(c[j]);
    T d_cell = dc[j] + d * o * (T{1} - tanh_c * tanh_c);
    // A clipped state does not depend on the gates.
    if constexpr (kClip) d_cell = c[j] > clip.min && c[j] < clip.max ? d_cell : T{0};
    di[j] = d_cell * g * i * (T{1} - i);
    df[j] = d_cell * c_prev[j] * f * (T{1} - f);
    dg[j] = d_cell * i * (T{1} - g * g);
    d_o[j] = d * tanh_c * o * (T{1} - o);
    dc[j] = d_cell * f;
    dh[j] = T{0};
  }
}

// h' = (1 - z) n + z h of n = tanh(nx + r nh)
template <typename T>
void GruForward(int64_t n, const T* bias, T* slots, const T* h_prev, T* h) {
  T *sr = slots, *sz = slots + n, *snh = slots + 2 * n, *snx = slots + 3 * n;
  const T *br = bias, *bz = bias + n, *bnh = bias + 2 * n, *bnx = bias + 3 * n;
  COOPER_CELL_LOOP
  for (int64_t j = 0; j < n; ++j) {
    const T r = VectorSigmoid(sr[j] + br[j]);
    const T z = VectorSigmoid(sz[j] + bz[j]);
    const T nh = snh[j] + bnh[j];
    const T candidate = VectorTanh(snx[j] + bnx[j] + r * nh);
    sr[j] = r;
    sz[j] = z;
    snh[j] = nh;
    snx[j] = candidate;
    h[j] = candidate + z * (h_prev[j] - candidate);
  }
}

template <typename T>
void GruBackward(int64_t n, const T* slots, const T* h_prev, const T* dy, T* dh, T* ds) {
  const T *sr = slots, *sz = slots + n, *snh = slots + 2 * n, *snx = slots + 3 * n;
  T *dr = ds, *dz = ds + n, *dnh = ds + 2 * n, *dnx = ds + 3 * n;
  COOPER_CELL_LOOP
  for (int64_t j = 0; j < n; ++j) {
    const T r = sr[j], z = sz[j], nh = snh[j], candidate = snx[j];
    const T d = dy[j] + dh[j];
    const T d_sum = d * (T{1} - z) * (T{1} - candidate * candidate);
    dr[j] = d_sum * nh * r * (T{1} - r);
    dz[j] = d * (h_prev[j] - candidate) * z * (T{1} - z);
    dnh[j] = d_sum * r;
    dnx[j] = d_sum;
    dh[j] = d * z;
  }
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CPU_RNN_RNN_CELLS_H_
