#ifndef COOPER_SYMBOL_OPS_LOSS_LABEL_PROBABILITIES_H_
#define COOPER_SYMBOL_OPS_LOSS_LABEL_PROBABILITIES_H_

// A classifier without the probabilities of all classes: for training over large vocabularies,
// where they take most of the memory, and loss and perplexity need only the label's.

#include "absl/status/statusor.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// The same network, with the same arguments and gradients, but each output that is a SoftmaxOutput
// of a FullyConnected, (rows, classes), gives the probability of each row's label alone, (rows, 1),
// under the same name. A label outside of the classes counts as the nearest class. With use_ignore,
// rows whose label is ignored are not computed at all, and are NaN. In training the output is known
// after Backward, which computes it on its way. Other outputs stay as they are.
//
// kInvalidArgument, naming the output, if none is such a classifier, or one that cannot be had so:
// with multi_output, out_grad or smooth_alpha, or used by another node of the graph. Whether data
// has two axes and the label one is found when shapes are inferred.
absl::StatusOr<Symbol> LabelProbabilities(const Symbol& symbol);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_LOSS_LABEL_PROBABILITIES_H_
