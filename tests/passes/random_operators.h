#ifndef COOPER_TESTS_PASSES_RANDOM_OPERATORS_H_
#define COOPER_TESTS_PASSES_RANDOM_OPERATORS_H_

// Adds operators other than recurrent layers to random graphs: each function takes values of the
// draft and adds new ones.

#include "tests/passes/graph_draft.h"

namespace cooper {

// Applies an element-wise operator, one that changes a shape, a sum, a product or a small layer.
void Operate(GraphDraft& g);

// Uses a value many times, so that its gradient is a sum.
void ReuseEntries(GraphDraft& g);

// Slices and concatenates arrays with sizes of whole cache lines, as in large networks, sometimes
// of several tiles.
void SplitAndConcat(GraphDraft& g);

}  // namespace cooper

#endif  // COOPER_TESTS_PASSES_RANDOM_OPERATORS_H_
