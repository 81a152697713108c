#ifndef COOPER_EXECUTOR_KERNELS_ATTENTION_INTERLEAVED_ATTENTION_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_ATTENTION_INTERLEAVED_ATTENTION_KERNELS_H_

// Kernels of _contrib_interleaved_matmul_* and of their gradients, templates over the device.
// MXNet: src/operator/contrib/transformer.cc; symbol/ops/nn/interleaved_attention_param.h has the
// layout of the inputs. A .cc and a .cu file instantiate the kernels. A Device is a struct of two
// static functions, which do nothing under WriteReq::kNull:
//
//   Multiply(c, transpose_a, transpose_b, alpha, a, b, req, result)
//       result = or += alpha * op(a) * op(b), for each matrix
//   Clear(c, matrices)
//       sets the matrices to zero
//
// Attention is, for each sample and head,
//
//   softmax(queries keys^T / sqrt(head_dim)) values
//
// QkKernel computes the argument of the softmax, AttendKernel the last product. No kernel needs a
// workspace.
//
// Errors: those of the Device.

#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/interleaved_attention_param.h"

namespace cooper {

// A batch of matrices (rows, columns) within an array, one for each sample and head. Consecutive
// matrices are `step` elements apart, consecutive rows `stride` elements; the elements of a row are
// adjacent. Matrices of one array interleave: `step` may be less than the extent of a matrix. Does
// not own `data`, which is memory of the kernel's device.
struct HeadMatrices {
  void* data;
  DType dtype;
  int64_t count, step, rows, columns, stride;
};

// Returns the matrices of attention weights (batch_size * heads, queries, keys), which are
// contiguous.
inline HeadMatrices WeightsOf(const ArrayView& array) {
  const int64_t rows = array.shape[1], columns = array.shape[2];
  return {array.data, array.dtype, array.shape[0], rows * columns, rows, columns, columns};
}

// Returns the matrices (length, head_dim) of one part of an array (length, batch_size, heads *
// parts * head_dim), as kSelfKeys of queries_keys_values: matrix n * heads + h belongs to head h of
// sample n.
inline HeadMatrices PartOf(const ArrayView& array, int64_t heads, InterleavedPart part) {
  const int64_t head_dim = array.shape[2] / (heads * part.count);
  return {array.as<char>() + part.index * head_dim * SizeOf(array.dtype),
          array.dtype,
          array.shape[1] * heads,
          part.count * head_dim,
          array.shape[0],
          head_dim,
          array.shape[1] * array.shape[2]};
}

// The inputs of the operator that hold queries and keys, and their parts of these inputs.
struct QkLayout {
  int queries_input, keys_input;
  InterleavedPart queries, keys, values;  // the part of the keys' input that holds the values
};
// The layouts of the operators selfatt_qk, with one input, and encdec_qk, with two.
inline constexpr QkLayout kSelfQk = {SelfQkArrays::kQueriesKeysValues,
                                     SelfQkArrays::kQueriesKeysValues, kSelfQueries, kSelfKeys,
                                     kSelfValues};
inline constexpr QkLayout kEncoderDecoderQk = {EncoderDecoderQkArrays::kQueries,
                                               EncoderDecoderQkArrays::kKeysValues, kQueriesAlone,
                                               kKeysOfTwo, kValuesOfTwo};

// Returns the operator's number of attention heads.
inline int64_t HeadsOf(const KernelContext& c) {
  return c.param<InterleavedAttentionParam>().heads;
}

// Returns 1 / sqrt(head_dim), by which attention scores are multiplied; 1 for a head_dim of 0.
inline double ScoreScale(const HeadMatrices& queries) {
  return queries.columns == 0 ? 1 : 1 / std::sqrt(static_cast<double>(queries.columns));
}

// Computes output = or += queries keys^T / sqrt(head_dim), of shape (batch_size * heads, queries,
// keys). A Kernel::RunFn.
template <typename Device, const QkLayout& layout>
absl::Status QkKernel(const KernelContext& c) {
  const int64_t heads = HeadsOf(c);
  const HeadMatrices queries = PartOf(c.inputs[layout.queries_input], heads, layout.queries);
  const HeadMatrices keys = PartOf(c.inputs[layout.keys_input], heads, layout.keys);
  return Device::Multiply(c, false, true, ScoreScale(queries), queries, keys, c.reqs[0],
                          WeightsOf(c.outputs[0]));
}

// Computes the gradients of QkKernel. A written gradient of the keys' input gets zeros in its
// values. In self-attention both gradients are parts of one output. A Kernel::RunFn.
template <typename Device, const QkLayout& layout>
absl::Status QkBackwardKernel(const KernelContext& c) {
  using enum InterleavedAttentionGradientArrays::Input;
  const int64_t heads = HeadsOf(c);
  const absl::Span<const ArrayView> inputs = c.inputs.subspan(kForwardInputs);
  const HeadMatrices head = WeightsOf(c.inputs[kOgrad]);
  const HeadMatrices queries = PartOf(inputs[layout.queries_input], heads, layout.queries);
  const HeadMatrices keys = PartOf(inputs[layout.keys_input], heads, layout.keys);
  const ArrayView& queries_grad = c.outputs[layout.queries_input];
  const ArrayView& keys_grad = c.outputs[layout.keys_input];
  const WriteReq keys_req = c.reqs[layout.keys_input];
  const double scale = ScoreScale(queries);
  COOPER_RETURN_IF_ERROR(Device::Multiply(c, false, false, scale, head, keys,
                                          c.reqs[layout.queries_input],
                                          PartOf(queries_grad, heads, layout.queries)));
  COOPER_RETURN_IF_ERROR(Device::Multiply(c, true, false, scale, head, queries, keys_req,
                                          PartOf(keys_grad, heads, layout.keys)));
  if (keys_req != WriteReq::kWrite) return absl::OkStatus();
  return Device::Clear(c, PartOf(keys_grad, heads, layout.values));
}

// The inputs of the operator that hold values and attention weights. The values are the last part
// of their input.
struct ValuesLayout {
  int values_input, attention_input;
  InterleavedPart values;
};
// The layouts of the operators selfatt_valatt and encdec_valatt.
inline constexpr ValuesLayout kSelfAttention = {SelfValuesArrays::kQueriesKeysValues,
                                                SelfValuesArrays::kAttention, kSelfValues};
inline constexpr ValuesLayout kEncoderDecoder = {
    EncoderDecoderValuesArrays::kKeysValues, EncoderDecoderValuesArrays::kAttention, kValuesOfTwo};

// Computes output = or += attention values, of shape (queries, batch_size, heads * head_dim). A
// Kernel::RunFn.
template <typename Device, const ValuesLayout& layout>
absl::Status AttendKernel(const KernelContext& c) {
  const int64_t heads = HeadsOf(c);
  return Device::Multiply(c, false, false, 1, WeightsOf(c.inputs[layout.attention_input]),
                          PartOf(c.inputs[layout.values_input], heads, layout.values), c.reqs[0],
                          PartOf(c.outputs[0], heads, kAttendedValues));
}

// Computes the gradients of AttendKernel: ograd values^T for the attention weights and attention^T
// ograd for the values. A written gradient of the values' input gets zeros in its other parts. A
// Kernel::RunFn.
template <typename Device, const ValuesLayout& layout>
absl::Status AttendBackwardKernel(const KernelContext& c) {
  using enum InterleavedAttentionGradientArrays::Input;
  const int64_t heads = HeadsOf(c);
  const absl::Span<const ArrayView> inputs = c.inputs.subspan(kForwardInputs);
  const HeadMatrices head = PartOf(c.inputs[kOgrad], heads, kAttendedValues);
  const HeadMatrices attention = WeightsOf(inputs[layout.attention_input]);
  const HeadMatrices values = PartOf(inputs[layout.values_input], heads, layout.values);
  const ArrayView& values_grad = c.outputs[layout.values_input];
  const WriteReq values_req = c.reqs[layout.values_input];
  COOPER_RETURN_IF_ERROR(Device::Multiply(c, false, true, 1, head, values,
                                          c.reqs[layout.attention_input],
                                          WeightsOf(c.outputs[layout.attention_input])));
  COOPER_RETURN_IF_ERROR(Device::Multiply(c, true, false, 1, attention, head, values_req,
                                          PartOf(values_grad, heads, layout.values)));
  if (values_req != WriteReq::kWrite) return absl::OkStatus();
  for (int part = 0; part < layout.values.index; ++part) {
    COOPER_RETURN_IF_ERROR(
        Device::Clear(c, PartOf(values_grad, heads, {part, layout.values.count})));
  }
  return absl::OkStatus();
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_ATTENTION_INTERLEAVED_ATTENTION_KERNELS_H_
