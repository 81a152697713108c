#ifndef COOPER_EXECUTOR_KERNELS_SOFTMAX_SOFTMAX_ROW_H_
#define COOPER_EXECUTOR_KERNELS_SOFTMAX_SOFTMAX_ROW_H_

// Computes the softmax of one row that fits in the cache, for SoftmaxOutput, softmax and the
// kernels that fuse a softmax. All arrays are contiguous; in and out may be the same. Sums run in
// several lanes, in an order that depends on n alone.
//
// Functions run on the calling thread, so callers split rows among threads. softmax_sets.h is the
// counterpart for GPUs.

#include <cstdint>

namespace cooper {

// Computes out[j] = exp(in[j]) / sum_k exp(in[k]). Subtracts the row's maximum first. The largest
// exponent is 0, so nothing overflows.
void SoftmaxRow(const float* in, int64_t n, float* out);
void SoftmaxRow(const double* in, int64_t n, double* out);

// Computes the softmax of in[j] + bias[j]; bias may be null. The bias is added in the same pass
// that finds the maximum.
void BiasedSoftmaxRow(const float* in, const float* bias, int64_t n, float* out);
void BiasedSoftmaxRow(const double* in, const double* bias, int64_t n, double* out);

// The results of BiasedExpRow, which computes a softmax whose row has several parts: out[j] =
// exp(in[j] + bias[j] - top). top is the largest of these sums, or the lowest finite number if all
// are -infinity. bias may be null.
template <typename T>
struct ExpRowSums {
  T top;
  T sum;  // of out
};
// A caller with several parts scales each part by exp(top - the largest top) and divides by the sum
// of the scaled sums.
ExpRowSums<float> BiasedExpRow(const float* in, const float* bias, int64_t n, float* out);
ExpRowSums<double> BiasedExpRow(const double* in, const double* bias, int64_t n, double* out);

// Computes out[j] = in[j] - log(sum_k exp(in[k])). It subtracts the maximum first and never takes
// the logarithm of a softmax, so large negative results stay accurate.
void LogSoftmaxRow(const float* in, int64_t n, float* out);

// Compute the gradients of SoftmaxRow and LogSoftmaxRow, where `out` is their result and g its
// gradient: grad[j] = out[j] * (g[j] - sum_k g[k] * out[k]) and g[j] - exp(out[j]) * sum_k g[k].
void SoftmaxGradientRow(const float* g, const float* out, int64_t n, float* grad);
void LogSoftmaxGradientRow(const float* g, const float* out, int64_t n, float* grad);

// Computes the softmax of an array (n, inner) over the first axis, for the columns [begin, end).
// Neighbouring columns are processed in vector lanes. Different ranges of columns may run on
// different threads.
void SoftmaxColumns(const float* in, int64_t n, int64_t inner, int64_t begin, int64_t end,
                    float* out);
void SoftmaxColumns(const double* in, int64_t n, int64_t inner, int64_t begin, int64_t end,
                    double* out);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_SOFTMAX_SOFTMAX_ROW_H_
