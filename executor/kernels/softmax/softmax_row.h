#ifndef COOPER_EXECUTOR_KERNELS_SOFTMAX_SOFTMAX_ROW_H_
#define COOPER_EXECUTOR_KERNELS_SOFTMAX_SOFTMAX_ROW_H_

// The softmax of one row in place of memory that stays in cache: what SoftmaxOutput, softmax and
// the kernels that fuse a softmax share. All pointers are to contiguous elements; in and out may be
// the same. Sums run in several lanes, in an order that depends on n alone.

#include <cstdint>

namespace cooper {

// out[j] = exp(in[j]) / sum_k exp(in[k]), with the row's maximum taken off first.
void SoftmaxRow(const float* in, int64_t n, float* out);
void SoftmaxRow(const double* in, int64_t n, double* out);

// The softmax of in[j] + bias[j]; a null bias is none.
void BiasedSoftmaxRow(const float* in, const float* bias, int64_t n, float* out);
void BiasedSoftmaxRow(const double* in, const double* bias, int64_t n, double* out);

// A softmax whose row is in several pieces: out[j] = exp(in[j] + bias[j] - top), where top is the
// largest of these sums, or the lowest finite number if they are all -infinity. A null bias is
// none.
template <typename T>
struct ExpRowSums {
  T top;
  T sum;  // of out
};
ExpRowSums<float> BiasedExpRow(const float* in, const float* bias, int64_t n, float* out);
ExpRowSums<double> BiasedExpRow(const double* in, const double* bias, int64_t n, double* out);

// out[j] = in[j] - log(sum_k exp(in[k])).
void LogSoftmaxRow(const float* in, int64_t n, float* out);

// Gradients of a row of SoftmaxRow and of LogSoftmaxRow, of which `out` is the result and g the
// gradient: grad[j] = out[j] * (g[j] - sum_k g[k] * out[k]) and g[j] - exp(out[j]) * sum_k g[k].
void SoftmaxGradientRow(const float* g, const float* out, int64_t n, float* grad);
void LogSoftmaxGradientRow(const float* g, const float* out, int64_t n, float* grad);

// For an array (n, inner): the softmax over the first axis of columns [begin, end).
void SoftmaxColumns(const float* in, int64_t n, int64_t inner, int64_t begin, int64_t end,
                    float* out);
void SoftmaxColumns(const double* in, int64_t n, int64_t inner, int64_t begin, int64_t end,
                    double* out);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_SOFTMAX_SOFTMAX_ROW_H_
