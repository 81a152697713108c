#ifndef COOPER_SYMBOL_OPS_RNN_RNN_GRADIENT_H_
#define COOPER_SYMBOL_OPS_RNN_RNN_GRADIENT_H_

// The inputs of the gradients of RNN and _rnn_layer: the gradients of the visible outputs, all
// inputs, the output, and the hidden last output, the reserve. A visible output without a gradient
// gets zeros.

#include <vector>

#include "absl/status/statusor.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"

namespace cooper {

// Returns the names of the gradient's inputs, given the names of the forward node's visible outputs
// and inputs.
OpSchema::Names RNNBackwardInputNames(const OpSchema::Names& visible_outputs,
                                      const OpSchema::Names& inputs);

// Returns the entries of the gradient's inputs, in the order of RNNBackwardInputNames. Errors:
// those of GradientContext::head.
absl::StatusOr<std::vector<NodeEntry>> RNNBackwardInputs(GradientContext& c);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_RNN_RNN_GRADIENT_H_
