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

// Computes out[j] = exp(in[j]) / sum_k exp(in[k]) for j < n. Subtracts the row's maximum first: the
// largest exponent is 0, so nothing overflows.
void SoftmaxRow(const float* in, int64_t n, float* out);
void SoftmaxRow(const double* in, int64_t n, double* out);

// Computes the softmax of in[j] + bias[j]; bias may be null. The bias is added in the same pass
// that finds the maximum.
void BiasedSoftmaxRow(const float* in, const float* bias, int64_t n, float* out);
void BiasedSoftmaxRow(const double* in, const double* bias, int64_t n, double* out);

// The results of BiasedExpRow: the largest sum `top`, and the sum of the exponentials. `top` is the
// lowest finite number if all sums are -infinity.
template <typename T>
struct ExpRowSums {
  T top;
  T sum;  // of out
};
// Computes a part of a softmax whose row has several parts; bias may be null:
//
//   top = the largest in[j] + bias[j]
//   out[j] = exp(in[j] + bias[j] - top)
//
// The caller scales each part by exp(top - the largest top) and divides by the sum of the scaled
// sums.
ExpRowSums<float> BiasedExpRow(const float* in, const float* bias, int64_t n, float* out);
ExpRowSums<double> BiasedExpRow(const double* in, const double* bias, int64_t n, double* out);

// Computes out[j] = in[j] - log(sum_k exp(in[k])). It subtracts the maximum first and never takes
// the logarithm of a softmax, so large negative results stay accurate.
void LogSoftmaxRow(const float* in, int64_t n, float* out);
void LogSoftmaxRow(const double* in, int64_t n, double* out);

// Compute the gradients of SoftmaxRow and LogSoftmaxRow, where `out` is their result and g its
// gradient:
//
//   SoftmaxRow:     grad[j] = out[j] * (g[j] - sum_k g[k] * out[k])
//   LogSoftmaxRow:  grad[j] = g[j] - exp(out[j]) * sum_k g[k]
void SoftmaxGradientRow(const float* g, const float* out, int64_t n, float* grad);
void SoftmaxGradientRow(const double* g, const double* out, int64_t n, double* grad);
void LogSoftmaxGradientRow(const float* g, const float* out, int64_t n, float* grad);
void LogSoftmaxGradientRow(const double* g, const double* out, int64_t n, double* grad);

// The functions above for the columns [begin, end) of arrays (n, inner), over the first axis.
// Neighbouring columns are processed in vector lanes. Different ranges of columns may run on
// different threads.
void SoftmaxColumns(const float* in, int64_t n, int64_t inner, int64_t begin, int64_t end,
                    float* out);
void SoftmaxColumns(const double* in, int64_t n, int64_t inner, int64_t begin, int64_t end,
                    double* out);
void LogSoftmaxColumns(const float* in, int64_t n, int64_t inner, int64_t begin, int64_t end,
                       float* out);
void LogSoftmaxColumns(const double* in, int64_t n, int64_t inner, int64_t begin, int64_t end,
                       double* out);
void SoftmaxGradientColumns(const float* g, const float* out, int64_t n, int64_t inner,
                            int64_t begin, int64_t end, float* grad);
void SoftmaxGradientColumns(const double* g, const double* out, int64_t n, int64_t inner,
                            int64_t begin, int64_t end, double* grad);
void LogSoftmaxGradientColumns(const float* g, const float* out, int64_t n, int64_t inner,
                               int64_t begin, int64_t end, float* grad);
void LogSoftmaxGradientColumns(const double* g, const double* out, int64_t n, int64_t inner,
                               int64_t begin, int64_t end, double* grad);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_SOFTMAX_SOFTMAX_ROW_H_
