#ifndef COOPER_SYMBOL_OPS_NN_INTERLEAVED_ATTENTION_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_INTERLEAVED_ATTENTION_PARAM_H_

// Parameters and inputs of the matrix products of attention, _contrib_interleaved_matmul_*.
//
// One FullyConnected computes the projections of all heads, interleaved by head: in
// queries_keys_values, of shape (length, batch_size, heads * 3 * head_dim), each head has its
// queries, keys and values. In encoder and decoder, queries is an array of one part, and
// keys_values has two. Attention weights are (batch_size * heads, queries, keys).

#include <cstdint>
#include <limits>

#include "symbol/schema/param_schema.h"

namespace cooper {

struct SelfQkArrays {
  enum Input { kQueriesKeysValues };
};
struct SelfValuesArrays {
  enum Input { kQueriesKeysValues, kAttention };
};
struct EncoderDecoderQkArrays {
  enum Input { kQueries, kKeysValues };
};
struct EncoderDecoderValuesArrays {
  enum Input { kKeysValues, kAttention };
};
// The inputs of the operator follow the head gradient.
struct InterleavedAttentionGradientArrays {
  enum Input { kOgrad, kForwardInputs };
};

// Selects part `index` of an array with `count` parts.
struct InterleavedPart {
  int index;
  int count;
};
inline constexpr InterleavedPart kSelfQueries = {0, 3}, kSelfKeys = {1, 3}, kSelfValues = {2, 3};
inline constexpr InterleavedPart kQueriesAlone = {0, 1}, kKeysOfTwo = {0, 2}, kValuesOfTwo = {1, 2};
inline constexpr InterleavedPart kAttendedValues = {0, 1};  // of the output of valatt

// Parameters of _contrib_interleaved_matmul_*.
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
