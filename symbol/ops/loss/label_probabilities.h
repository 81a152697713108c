#ifndef COOPER_SYMBOL_OPS_LOSS_LABEL_PROBABILITIES_H_
#define COOPER_SYMBOL_OPS_LOSS_LABEL_PROBABILITIES_H_

// Replaces classifiers by classifiers that return only the probability of the label. With large
// vocabularies the probabilities of all classes take most of the memory of training, while loss and
// perplexity need only the probability of the label.

#include "absl/status/statusor.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Returns the same network, with the same arguments and gradients, in which each output that is a
// SoftmaxOutput of a FullyConnected, (rows, classes), returns only the probability of each row's
// label, (rows, 1), under the same name. A label outside of the classes counts as the nearest
// class. With use_ignore, rows with the ignored label are not computed and are NaN. In training the
// output is valid after Backward, which computes it. Other outputs are unchanged.
//
// Fails with kInvalidArgument, naming the output, if there is no such classifier, or if one has
// multi_output, out_grad or smooth_alpha or is used by another node. Whether data has two axes and
// the label one is checked when shapes are inferred.
absl::StatusOr<Symbol> LabelProbabilities(const Symbol& symbol);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_LOSS_LABEL_PROBABILITIES_H_
