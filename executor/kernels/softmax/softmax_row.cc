#include "executor/kernels/softmax/softmax_row.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/kernels/loops/vector_log.h"
#include "executor/kernels/loops/vector_math.h"
#include "ndarray/threads/cpu_level.h"

namespace cooper {
namespace {

// The number of independent sums and maxima, several vectors of them, so that none waits for
// another.
constexpr int kLanes = 32;

template <typename T>
T RowMax(const T* in, int64_t n) {
  T top = n > 0 ? in[0] : T{0};
  int64_t j = 0;
  if (n >= kLanes) {
    T lanes[kLanes];
    std::copy_n(in, kLanes, lanes);
    for (j = kLanes; j + kLanes <= n; j += kLanes) {
      for (int k = 0; k < kLanes; ++k) lanes[k] = in[j + k] > lanes[k] ? in[j + k] : lanes[k];
    }
    for (int k = 0; k < kLanes; ++k) top = std::max(top, lanes[k]);
  }
  for (; j < n; ++j) top = std::max(top, in[j]);
  return top;
}

// Computes out[j] = in[j] + bias[j] and returns the maximum.
template <typename T>
T AddBias(const T* in, const T* bias, int64_t n, T* out) {
  T top = n > 0 ? in[0] + bias[0] : T{0};
  int64_t j = 0;
  if (n >= kLanes) {
    T lanes[kLanes];
    std::fill_n(lanes, kLanes, top);
    for (; j + kLanes <= n; j += kLanes) {
      COOPER_INDEPENDENT_ITERATIONS
      for (int k = 0; k < kLanes; ++k) {
        const T x = in[j + k] + bias[j + k];
        out[j + k] = x;
        lanes[k] = x > lanes[k] ? x : lanes[k];
      }
    }
    for (int k = 0; k < kLanes; ++k) top = std::max(top, lanes[k]);
  }
  for (; j < n; ++j) {
    out[j] = in[j] + bias[j];
    top = std::max(top, out[j]);
  }
  return top;
}

// Returns the sum of exp(in[j] - top). Stores each term if kStore.
template <bool kStore, typename T>
T SumExp(const T* in, int64_t n, T top, T* out) {
  T lanes[kLanes] = {};
  int64_t j = 0;
  for (; j + kLanes <= n; j += kLanes) {
    COOPER_INDEPENDENT_ITERATIONS
    for (int k = 0; k < kLanes; ++k) {
      const T term = VectorExpOfNonPositive(in[j + k] - top);
      if constexpr (kStore) out[j + k] = term;
      lanes[k] += term;
    }
  }
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int k = 0; k < width; ++k) lanes[k] += lanes[k + width];
  }
  T sum = lanes[0];
  for (; j < n; ++j) {
    const T term = VectorExpOfNonPositive(in[j] - top);
    if constexpr (kStore) out[j] = term;
    sum += term;
  }
  return sum;
}

// Returns the sum of term(j).
template <typename T, typename Term>
T LaneSumOf(int64_t n, const Term& term) {
  T lanes[kLanes] = {};
  int64_t j = 0;
  for (; j + kLanes <= n; j += kLanes) {
    for (int k = 0; k < kLanes; ++k) lanes[k] += term(j + k);
  }
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int k = 0; k < width; ++k) lanes[k] += lanes[k + width];
  }
  T sum = lanes[0];
  for (; j < n; ++j) sum += term(j);
  return sum;
}

template <typename T>
void Softmax(const T* in, int64_t n, T* out) {
  RunAtCpuLevel([=] {
    const T scale = T{1} / SumExp<true>(in, n, RowMax(in, n), out);
    for (int64_t j = 0; j < n; ++j) out[j] *= scale;
  });
}

template <typename T>
void BiasedSoftmax(const T* in, const T* bias, int64_t n, T* out) {
  if (bias == nullptr) return Softmax(in, n, out);
  RunAtCpuLevel([=] {
    const T top = AddBias(in, bias, n, out);
    const T scale = T{1} / SumExp<true>(out, n, top, out);
    for (int64_t j = 0; j < n; ++j) out[j] *= scale;
  });
}

template <typename T>
ExpRowSums<T> BiasedExp(const T* in, const T* bias, int64_t n, T* out) {
  ExpRowSums<T> sums;
  RunAtCpuLevel([=, &sums] {
    sums.top = std::max(bias == nullptr ? RowMax(in, n) : AddBias(in, bias, n, out),
                        std::numeric_limits<T>::lowest());
    sums.sum = SumExp<true>(bias == nullptr ? in : out, n, sums.top, out);
  });
  return sums;
}

template <typename T>
void LogSoftmax(const T* in, int64_t n, T* out) {
  RunAtCpuLevel([=] {
    const T top = RowMax(in, n);
    const T log_sum = std::log(SumExp<false>(in, n, top, out));
    COOPER_INDEPENDENT_ITERATIONS
    for (int64_t j = 0; j < n; ++j) out[j] = (in[j] - top) - log_sum;
  });
}

template <typename T>
void SoftmaxGradient(const T* g, const T* out, int64_t n, T* grad) {
  RunAtCpuLevel([=] {
    const T sum = LaneSumOf<T>(n, [&](int64_t j) { return g[j] * out[j]; });
    COOPER_INDEPENDENT_ITERATIONS
    for (int64_t j = 0; j < n; ++j) grad[j] = out[j] * (g[j] - sum);
  });
}

template <typename T>
void LogSoftmaxGradient(const T* g, const T* out, int64_t n, T* grad) {
  RunAtCpuLevel([=] {
    const T sum = LaneSumOf<T>(n, [&](int64_t j) { return g[j]; });
    COOPER_INDEPENDENT_ITERATIONS
    for (int64_t j = 0; j < n; ++j) grad[j] = g[j] - VectorExp(out[j]) * sum;
  });
}

// The columns that are processed together. Their results so far stay in the first-level cache.
constexpr int64_t kColumns = 64;

// Calls fn(first column, number of columns) for [begin, end) in parts of at most kColumns.
template <typename Fn>
void ForEachPart(int64_t begin, int64_t end, const Fn& fn) {
  RunAtCpuLevel([=] {
    for (int64_t c = begin; c < end; c += kColumns) fn(c, std::min(kColumns, end - c));
  });
}

// Computes the maxima of columns.
template <typename T>
void MaxOfColumns(const T* in, int64_t n, int64_t inner, int64_t width, T* top) {
  std::copy_n(in, width, top);
  for (int64_t j = 1; j < n; ++j) {
    const T* const row = in + j * inner;
    for (int64_t i = 0; i < width; ++i) top[i] = row[i] > top[i] ? row[i] : top[i];
  }
}

template <typename T>
void Columns(const T* in, int64_t n, int64_t inner, int64_t begin, int64_t end, T* out) {
  if (n == 0) return;
  ForEachPart(begin, end, [=](int64_t c, int64_t width) {
    T top[kColumns], sum[kColumns] = {};
    MaxOfColumns(in + c, n, inner, width, top);
    for (int64_t j = 0; j < n; ++j) {
      const T* const row = in + j * inner + c;
      T* const to = out + j * inner + c;
      COOPER_INDEPENDENT_ITERATIONS
      for (int64_t i = 0; i < width; ++i) {
        to[i] = VectorExpOfNonPositive(row[i] - top[i]);
        sum[i] += to[i];
      }
    }
    for (int64_t i = 0; i < width; ++i) sum[i] = T{1} / sum[i];
    for (int64_t j = 0; j < n; ++j) {
      T* const to = out + j * inner + c;
      for (int64_t i = 0; i < width; ++i) to[i] *= sum[i];
    }
  });
}

template <typename T>
void LogColumns(const T* in, int64_t n, int64_t inner, int64_t begin, int64_t end, T* out) {
  if (n == 0) return;
  ForEachPart(begin, end, [=](int64_t c, int64_t width) {
    T top[kColumns], sum[kColumns] = {};
    MaxOfColumns(in + c, n, inner, width, top);
    for (int64_t j = 0; j < n; ++j) {
      const T* const row = in + j * inner + c;
      for (int64_t i = 0; i < width; ++i) sum[i] += VectorExpOfNonPositive(row[i] - top[i]);
    }
    for (int64_t i = 0; i < width; ++i) sum[i] = VectorLog(sum[i]);
    for (int64_t j = 0; j < n; ++j) {
      const T* const row = in + j * inner + c;
      T* const to = out + j * inner + c;
      COOPER_INDEPENDENT_ITERATIONS
      for (int64_t i = 0; i < width; ++i) to[i] = (row[i] - top[i]) - sum[i];
    }
  });
}

template <bool kLog, typename T>
void GradientColumns(const T* g, const T* out, int64_t n, int64_t inner, int64_t begin, int64_t end,
                     T* grad) {
  ForEachPart(begin, end, [=](int64_t c, int64_t width) {
    T sum[kColumns] = {};
    for (int64_t j = 0; j < n; ++j) {
      const int64_t at = j * inner + c;
      for (int64_t i = 0; i < width; ++i) sum[i] += kLog ? g[at + i] : g[at + i] * out[at + i];
    }
    for (int64_t j = 0; j < n; ++j) {
      const int64_t at = j * inner + c;
      COOPER_INDEPENDENT_ITERATIONS
      for (int64_t i = 0; i < width; ++i) {
        grad[at + i] =
            kLog ? g[at + i] - VectorExp(out[at + i]) * sum[i] : out[at + i] * (g[at + i] - sum[i]);
      }
    }
  });
}

}  // namespace

#define COOPER_SOFTMAX_ROWS(T)                                                                     \
  void SoftmaxRow(const T* in, int64_t n, T* out) { Softmax(in, n, out); }                         \
  void BiasedSoftmaxRow(const T* in, const T* bias, int64_t n, T* out) {                           \
    BiasedSoftmax(in, bias, n, out);                                                               \
  }                                                                                                \
  ExpRowSums<T> BiasedExpRow(const T* in, const T* bias, int64_t n, T* out) {                      \
    return BiasedExp(in, bias, n, out);                                                            \
  }                                                                                                \
  void LogSoftmaxRow(const T* in, int64_t n, T* out) { LogSoftmax(in, n, out); }                   \
  void SoftmaxGradientRow(const T* g, const T* out, int64_t n, T* grad) {                          \
    SoftmaxGradient(g, out, n, grad);                                                              \
  }                                                                                                \
  void LogSoftmaxGradientRow(const T* g, const T* out, int64_t n, T* grad) {                       \
    LogSoftmaxGradient(g, out, n, grad);                                                           \
  }                                                                                                \
  void SoftmaxColumns(const T* in, int64_t n, int64_t inner, int64_t begin, int64_t end, T* out) { \
    Columns(in, n, inner, begin, end, out);                                                        \
  }                                                                                                \
  void LogSoftmaxColumns(const T* in, int64_t n, int64_t inner, int64_t begin, int64_t end,        \
                         T* out) {                                                                 \
    LogColumns(in, n, inner, begin, end, out);                                                     \
  }                                                                                                \
  void SoftmaxGradientColumns(const T* g, const T* out, int64_t n, int64_t inner, int64_t begin,   \
                              int64_t end, T* grad) {                                              \
    GradientColumns<false>(g, out, n, inner, begin, end, grad);                                    \
  }                                                                                                \
  void LogSoftmaxGradientColumns(const T* g, const T* out, int64_t n, int64_t inner,               \
                                 int64_t begin, int64_t end, T* grad) {                            \
    GradientColumns<true>(g, out, n, inner, begin, end, grad);                                     \
  }

COOPER_SOFTMAX_ROWS(float)
COOPER_SOFTMAX_ROWS(double)

}  // namespace cooper
