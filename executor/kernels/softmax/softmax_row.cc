#include "executor/kernels/softmax/softmax_row.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/kernels/loops/vector_math.h"
#include "ndarray/threads/cpu_level.h"

namespace cooper {
namespace {

// The number of independent sums and maxima, several vectors of them, so that none waits for
// another.
constexpr int kLanes = 32;

float RowMax(const float* in, int64_t n) {
  float top = n > 0 ? in[0] : 0.0f;
  int64_t j = 0;
  if (n >= kLanes) {
    float lanes[kLanes];
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
float AddBias(const float* in, const float* bias, int64_t n, float* out) {
  float top = n > 0 ? in[0] + bias[0] : 0.0f;
  int64_t j = 0;
  if (n >= kLanes) {
    float lanes[kLanes];
    std::fill_n(lanes, kLanes, top);
    for (; j + kLanes <= n; j += kLanes) {
      COOPER_INDEPENDENT_ITERATIONS
      for (int k = 0; k < kLanes; ++k) {
        const float x = in[j + k] + bias[j + k];
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
template <bool kStore>
float SumExp(const float* in, int64_t n, float top, float* out) {
  float lanes[kLanes] = {};
  int64_t j = 0;
  for (; j + kLanes <= n; j += kLanes) {
    COOPER_INDEPENDENT_ITERATIONS
    for (int k = 0; k < kLanes; ++k) {
      const float term = VectorExpOfNonPositive(in[j + k] - top);
      if constexpr (kStore) out[j + k] = term;
      lanes[k] += term;
    }
  }
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int k = 0; k < width; ++k) lanes[k] += lanes[k + width];
  }
  float sum = lanes[0];
  for (; j < n; ++j) {
    const float term = VectorExpOfNonPositive(in[j] - top);
    if constexpr (kStore) out[j] = term;
    sum += term;
  }
  return sum;
}

// Returns the sum of term(j).
template <typename Term>
float LaneSumOf(int64_t n, const Term& term) {
  float lanes[kLanes] = {};
  int64_t j = 0;
  for (; j + kLanes <= n; j += kLanes) {
    for (int k = 0; k < kLanes; ++k) lanes[k] += term(j + k);
  }
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int k = 0; k < width; ++k) lanes[k] += lanes[k + width];
  }
  float sum = lanes[0];
  for (; j < n; ++j) sum += term(j);
  return sum;
}

// Computes to[i] = exp(in[i] - top[i]).
void ExpBlock(const float* in, const float* top, int64_t n, float* to) {
  COOPER_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) to[i] = VectorExpOfNonPositive(in[i] - top[i]);
}

void ExpBlock(const double* in, const double* top, int64_t n, double* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = std::exp(in[i] - top[i]);
}

template <typename T>
void Columns(const T* in, int64_t n, int64_t inner, int64_t begin, int64_t end, T* out) {
  constexpr int64_t kBlock = 64;
  T top[kBlock], sum[kBlock];
  for (int64_t c = begin; c < end; c += kBlock) {
    const int64_t width = std::min(kBlock, end - c);
    std::copy_n(in + c, width, top);
    for (int64_t j = 1; j < n; ++j) {
      const T* row = in + j * inner + c;
      for (int64_t i = 0; i < width; ++i) top[i] = row[i] > top[i] ? row[i] : top[i];
    }
    std::fill_n(sum, width, T{0});
    for (int64_t j = 0; j < n; ++j) {
      const T* row = in + j * inner + c;
      T* to = out + j * inner + c;
      ExpBlock(row, top, width, to);
      for (int64_t i = 0; i < width; ++i) sum[i] += to[i];
    }
    for (int64_t i = 0; i < width; ++i) sum[i] = T{1} / sum[i];
    for (int64_t j = 0; j < n; ++j) {
      T* to = out + j * inner + c;
      for (int64_t i = 0; i < width; ++i) to[i] *= sum[i];
    }
  }
}

}  // namespace

void SoftmaxRow(const float* in, int64_t n, float* out) {
  RunAtCpuLevel([=] {
    const float scale = 1.0f / SumExp<true>(in, n, RowMax(in, n), out);
    for (int64_t j = 0; j < n; ++j) out[j] *= scale;
  });
}

void BiasedSoftmaxRow(const float* in, const float* bias, int64_t n, float* out) {
  if (bias == nullptr) return SoftmaxRow(in, n, out);
  RunAtCpuLevel([=] {
    const float top = AddBias(in, bias, n, out);
    const float scale = 1.0f / SumExp<true>(out, n, top, out);
    for (int64_t j = 0; j < n; ++j) out[j] *= scale;
  });
}

ExpRowSums<float> BiasedExpRow(const float* in, const float* bias, int64_t n, float* out) {
  ExpRowSums<float> sums;
  RunAtCpuLevel([=, &sums] {
    sums.top = std::max(bias == nullptr ? RowMax(in, n) : AddBias(in, bias, n, out),
                        std::numeric_limits<float>::lowest());
    sums.sum = SumExp<true>(bias == nullptr ? in : out, n, sums.top, out);
  });
  return sums;
}

ExpRowSums<double> BiasedExpRow(const double* in, const double* bias, int64_t n, double* out) {
  double top = std::numeric_limits<double>::lowest();
  for (int64_t j = 0; j < n; ++j) {
    out[j] = in[j] + (bias == nullptr ? 0.0 : bias[j]);
    top = std::max(top, out[j]);
  }
  double sum = 0;
  for (int64_t j = 0; j < n; ++j) sum += out[j] = std::exp(out[j] - top);
  return {top, sum};
}

void BiasedSoftmaxRow(const double* in, const double* bias, int64_t n, double* out) {
  if (bias == nullptr) return SoftmaxRow(in, n, out);
  for (int64_t j = 0; j < n; ++j) out[j] = in[j] + bias[j];
  SoftmaxRow(out, n, out);
}

void SoftmaxRow(const double* in, int64_t n, double* out) {
  double top = -std::numeric_limits<double>::infinity();
  for (int64_t j = 0; j < n; ++j) top = std::max(top, in[j]);
  double sum = 0;
  for (int64_t j = 0; j < n; ++j) sum += out[j] = std::exp(in[j] - top);
  for (int64_t j = 0; j < n; ++j) out[j] /= sum;
}

void LogSoftmaxRow(const float* in, int64_t n, float* out) {
  RunAtCpuLevel([=] {
    const float top = RowMax(in, n);
    const float log_sum = std::log(SumExp<false>(in, n, top, nullptr));
    COOPER_INDEPENDENT_ITERATIONS
    for (int64_t j = 0; j < n; ++j) out[j] = (in[j] - top) - log_sum;
  });
}

void SoftmaxGradientRow(const float* g, const float* out, int64_t n, float* grad) {
  RunAtCpuLevel([=] {
    const float sum = LaneSumOf(n, [&](int64_t j) { return g[j] * out[j]; });
    COOPER_INDEPENDENT_ITERATIONS
    for (int64_t j = 0; j < n; ++j) grad[j] = out[j] * (g[j] - sum);
  });
}

void LogSoftmaxGradientRow(const float* g, const float* out, int64_t n, float* grad) {
  RunAtCpuLevel([=] {
    const float sum = LaneSumOf(n, [&](int64_t j) { return g[j]; });
    COOPER_INDEPENDENT_ITERATIONS
    for (int64_t j = 0; j < n; ++j) grad[j] = g[j] - VectorExp(out[j]) * sum;
  });
}

void SoftmaxColumns(const float* in, int64_t n, int64_t inner, int64_t begin, int64_t end,
                    float* out) {
  if (n > 0) RunAtCpuLevel([=] { Columns(in, n, inner, begin, end, out); });
}

void SoftmaxColumns(const double* in, int64_t n, int64_t inner, int64_t begin, int64_t end,
                    double* out) {
  if (n > 0) Columns(in, n, inner, begin, end, out);
}

}  // namespace cooper
