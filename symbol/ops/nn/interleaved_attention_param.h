#ifndef COOPER_SYMBOL_OPS_NN_INTERLEAVED_ATTENTION_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_INTERLEAVED_ATTENTION_PARAM_H_

// Parameters and inputs of the matrix products of attention, _contrib_interleaved_matmul_*.
//
// One FullyConnected computes the projections of all heads, interleaved by head: in
// queries_keys_values, of shape (length, batch_size, heads * 3 * head_dim), each head has its
// queries, keys and values. In encoder and decoder, queries is an array of one part, and
// keys_values has two. Attention weights are (batch_size * heads, queries, keys).
//
// The schemas are in interleaved_attention.cc; the kernels run one strided matrix product per head
// without moving any element. A softmax between the two products of a pair is an operator of its
// own. MXNet: src/operator/contrib/transformer.cc.

#include <cstdint>
#include <limits>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs of selfatt_qk: the output is queries * keys^T / sqrt(head_dim) for each head, of shape
// (batch_size * heads, length, length). Head h of sample n has the index n * heads + h.
struct SelfQkArrays {
  enum Input { kQueriesKeysValues };
};
// Inputs of selfatt_valatt: the output is attention * values for each head, of shape (length,
// batch_size, heads * head_dim).
struct SelfValuesArrays {
  enum Input { kQueriesKeysValues, kAttention };
};
// Inputs of encdec_qk: queries (T_q, batch_size, heads * head_dim) and keys_values (T, batch_size,
// heads * 2 * head_dim) give (batch_size * heads, T_q, T), scaled as in selfatt_qk.
struct EncoderDecoderQkArrays {
  enum Input { kQueries, kKeysValues };
};
// Inputs of encdec_valatt: keys_values and attention give (T_q, batch_size, heads * head_dim).
struct EncoderDecoderValuesArrays {
  enum Input { kKeysValues, kAttention };
};
// Inputs of the gradients: the inputs of the operator follow the head gradient. Parts of an
// interleaved array that the operator does not read, such as the values in selfatt_qk, get 0.
struct InterleavedAttentionGradientArrays {
  enum Input { kOgrad, kForwardInputs };
};

// Selects part `index` of an array with `count` parts per head: its elements are head_dim numbers
// at offset index * head_dim of each count * head_dim.
struct InterleavedPart {
  int index;
  int count;
};
inline constexpr InterleavedPart kSelfQueries = {0, 3}, kSelfKeys = {1, 3}, kSelfValues = {2, 3};
inline constexpr InterleavedPart kQueriesAlone = {0, 1}, kKeysOfTwo = {0, 2}, kValuesOfTwo = {1, 2};
inline constexpr InterleavedPart kAttendedValues = {0, 1};  // of the output of valatt

// Parameters of _contrib_interleaved_matmul_*. heads must divide the last extents; shape inference
// fails with kInvalidArgument otherwise.
struct InterleavedAttentionParam {
  int64_t heads = 0;

  static void Declare(ParamDeclaration<InterleavedAttentionParam>& d) {
    constexpr double kMax = std::numeric_limits<int32_t>::max();
    d.Field("heads", &InterleavedAttentionParam::heads)
        .Required()
        .Min(1)
        .Max(kMax)
        .Doc("number of heads");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_INTERLEAVED_ATTENTION_PARAM_H_
