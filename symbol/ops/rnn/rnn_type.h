#ifndef COOPER_SYMBOL_OPS_RNN_RNN_TYPE_H_
#define COOPER_SYMBOL_OPS_RNN_RNN_TYPE_H_

// The dtype rules of RNN and of _rnn_layer.

#include "absl/status/status.h"
#include "symbol/schema/type_context.h"

namespace cooper {

// One dtype, except for the lengths, the last input with use_sequence_length, which may have any.
absl::Status RNNType(TypeContext& c);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_RNN_RNN_TYPE_H_
