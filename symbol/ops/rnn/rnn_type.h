#ifndef COOPER_SYMBOL_OPS_RNN_RNN_TYPE_H_
#define COOPER_SYMBOL_OPS_RNN_RNN_TYPE_H_

// The dtype rule of RNN, _rnn_layer and _prepared_rnn.

#include "absl/status/status.h"
#include "symbol/schema/type_context.h"

namespace cooper {

// Gives all inputs and outputs one dtype, except for the lengths, the last input with
// use_sequence_length, which may have any and get the common dtype if theirs is unknown. Fails with
// kInvalidArgument, naming the input or output, on a contradiction.
absl::Status RNNType(TypeContext& c);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_RNN_RNN_TYPE_H_
