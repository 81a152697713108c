#ifndef COOPER_TESTS_PASSES_RANDOM_OPERATORS_H_
#define COOPER_TESTS_PASSES_RANDOM_OPERATORS_H_

// Parts of random graphs that are no recurrent layers: each takes values of the draft and adds new
// ones.

#include "tests/passes/graph_draft.h"

namespace cooper {

// An element-wise operator, one that changes a shape, a sum, a product or a small layer.
void Operate(GraphDraft& g);

// A gradient that is a sum of many.
void UseOften(GraphDraft& g);

// Pieces of an array, of the size of whole cache lines, as those of large networks are, and now
// and then of several tiles.
void CutAndJoin(GraphDraft& g);

}  // namespace cooper

#endif  // COOPER_TESTS_PASSES_RANDOM_OPERATORS_H_
