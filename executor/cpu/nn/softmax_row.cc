#include "executor/cpu/nn/softmax_row.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace cooper {
namespace {

// Eight floats as the compiler's own vector type: one AVX register, two of SSE.
constexpr int kLanes = 8;
typedef float Floats __attribute__((vector_size(kLanes * sizeof(float))));
typedef int32_t Ints __attribute__((vector_size(kLanes * sizeof(int32_t))));

Floats LoadLanes(const float* p) {
  Floats v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}

void StoreLanes(float* p, Floats v) { std::memcpy(p, &v, sizeof(v)); }

Floats Max(Floats a, Floats b) { return a > b ? a : b; }

// exp(x) for x <= 0, to 1 unit in the last place or so; below -87.3, where floats become
// subnormal, 0. x = n ln 2 + r with |r| <= ln 2 / 2; exp(r) by a polynomial of degree 6; 2^n by its
// bits. NaN stays NaN, since r does.
Floats ExpOfNonPositive(Floats x) {
  const Floats zero = {};
  const Floats lowest = zero - 87.3f;
  const Floats clamped = x < lowest ? lowest : x;
  // Adding 1.5 * 2^23 leaves the nearest integer in the low bits of the mantissa.
  const Floats magic = zero + 12582912.0f;
  const Floats shifted = clamped * 1.44269504f + magic;
  const Floats n = shifted - magic;
  Floats r = clamped - n * 0.693359375f;
  r = r - n * -2.12194440e-4f;
  Floats p = zero + 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  Ints bits;
  std::memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits + (127 - 0x4b400000)) << 23;
  Floats scale;
  std::memcpy(&scale, &bits, sizeof(scale));
  return x < lowest ? zero : p * scale;
}

float ExpOfNonPositive(float x) { return ExpOfNonPositive(Floats{} + x)[0]; }

float RowMax(const float* in, int64_t n) {
  float top = n > 0 ? in[0] : 0.0f;
  int64_t j = 0;
  if (n >= kLanes) {
    Floats a = LoadLanes(in), b = a;
    for (j = 0; j + 2 * kLanes <= n; j += 2 * kLanes) {
      a = Max(LoadLanes(in + j), a);
      b = Max(LoadLanes(in + j + kLanes), b);
    }
    a = Max(a, b);
    for (int lane = 0; lane < kLanes; ++lane) top = std::max(top, a[lane]);
  }
  for (; j < n; ++j) top = std::max(top, in[j]);
  return top;
}

// out[j] = in[j] + bias[j], and the largest of them.
float AddBias(const float* in, const float* bias, int64_t n, float* out) {
  float top = n > 0 ? in[0] + bias[0] : 0.0f;
  int64_t j = 0;
  if (n >= kLanes) {
    Floats a = LoadLanes(in) + LoadLanes(bias), b = a;
    for (j = 0; j + 2 * kLanes <= n; j += 2 * kLanes) {
      const Floats x = LoadLanes(in + j) + LoadLanes(bias + j);
      const Floats y = LoadLanes(in + j + kLanes) + LoadLanes(bias + j + kLanes);
      StoreLanes(out + j, x);
      StoreLanes(out + j + kLanes, y);
      a = Max(x, a);
      b = Max(y, b);
    }
    a = Max(a, b);
    for (int lane = 0; lane < kLanes; ++lane) top = std::max(top, a[lane]);
  }
  for (; j < n; ++j) top = std::max(top, out[j] = in[j] + bias[j]);
  return top;
}

float LaneTotal(Floats v) {
  return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

// The sum of exp(in[j] - top); each term is stored if `out` is not null.
float SumExp(const float* in, int64_t n, float top, float* out) {
  Floats a = {}, b = {};
  int64_t j = 0;
  for (; j + 2 * kLanes <= n; j += 2 * kLanes) {
    const Floats x = ExpOfNonPositive(LoadLanes(in + j) - top);
    const Floats y = ExpOfNonPositive(LoadLanes(in + j + kLanes) - top);
    if (out != nullptr) {
      StoreLanes(out + j, x);
      StoreLanes(out + j + kLanes, y);
    }
    a += x;
    b += y;
  }
  float sum = LaneTotal(a + b);
  for (; j < n; ++j) {
    const float x = ExpOfNonPositive(in[j] - top);
    if (out != nullptr) out[j] = x;
    sum += x;
  }
  return sum;
}

// to[i] = exp(in[i] - top[i]).
void ExpBlock(const float* in, const float* top, int64_t n, float* to) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    StoreLanes(to + i, ExpOfNonPositive(LoadLanes(in + i) - LoadLanes(top + i)));
  }
  for (; i < n; ++i) to[i] = ExpOfNonPositive(in[i] - top[i]);
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
    std::fill_n(sum, width, T(0));
    for (int64_t j = 0; j < n; ++j) {
      const T* row = in + j * inner + c;
      T* to = out + j * inner + c;
      ExpBlock(row, top, width, to);
      for (int64_t i = 0; i < width; ++i) sum[i] += to[i];
    }
    for (int64_t i = 0; i < width; ++i) sum[i] = T(1) / sum[i];
    for (int64_t j = 0; j < n; ++j) {
      T* to = out + j * inner + c;
      for (int64_t i = 0; i < width; ++i) to[i] *= sum[i];
    }
  }
}

}  // namespace

void SoftmaxRow(const float* in, int64_t n, float* out) {
  const float sum = SumExp(in, n, RowMax(in, n), out);
  const float scale = 1.0f / sum;
  for (int64_t j = 0; j < n; ++j) out[j] *= scale;
}

void BiasedSoftmaxRow(const float* in, const float* bias, int64_t n, float* out) {
  if (bias == nullptr) return SoftmaxRow(in, n, out);
  const float top = AddBias(in, bias, n, out);
  const float scale = 1.0f / SumExp(out, n, top, out);
  for (int64_t j = 0; j < n; ++j) out[j] *= scale;
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
  const float top = RowMax(in, n);
  const float log_sum = std::log(SumExp(in, n, top, nullptr));
  for (int64_t j = 0; j < n; ++j) out[j] = (in[j] - top) - log_sum;
}

void SoftmaxColumns(const float* in, int64_t n, int64_t inner, int64_t begin, int64_t end,
                    float* out) {
  if (n > 0) Columns(in, n, inner, begin, end, out);
}

void SoftmaxColumns(const double* in, int64_t n, int64_t inner, int64_t begin, int64_t end,
                    double* out) {
  if (n > 0) Columns(in, n, inner, begin, end, out);
}

}  // namespace cooper
