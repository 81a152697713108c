#ifndef COOPER_DOCS_TWO_LAYERS_H_
#define COOPER_DOCS_TWO_LAYERS_H_

// The network of symbol.md, which other pages bind and train.

#include "symbol/graph/symbol.h"

namespace cooper {

// Returns two fully connected layers of 128 and 10 units and a softmax loss, for "data"
// (batch_size, features) and "softmax_label" (batch_size,).
Symbol TwoLayers();

}  // namespace cooper

#endif  // COOPER_DOCS_TWO_LAYERS_H_
