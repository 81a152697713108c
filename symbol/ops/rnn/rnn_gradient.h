#ifndef COOPER_SYMBOL_OPS_RNN_RNN_GRADIENT_H_
#define COOPER_SYMBOL_OPS_RNN_RNN_GRADIENT_H_

// What the gradients of RNN and _rnn_layer are computed from: the gradients of the visible outputs,
// all inputs, the output, and the hidden last output, the reserve.

#include <vector>

#include "absl/status/statusor.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"

namespace cooper {

// The names of these, from those of the forward node's visible outputs and inputs.
OpSchema::Names RNNBackwardInputNames(const OpSchema::Names& visible_outputs,
                                      const OpSchema::Names& inputs);

// The entries, in the same order. The errors are GradientContext::head's.
absl::StatusOr<std::vector<NodeEntry>> RNNBackwardInputs(GradientContext& c);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_RNN_RNN_GRADIENT_H_
