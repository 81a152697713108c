#ifndef COOPER_TESTS_PASSES_RANDOM_IMAGES_H_
#define COOPER_TESTS_PASSES_RANDOM_IMAGES_H_

#include "tests/passes/graph_draft.h"

namespace cooper {

// Adds convolutions of images, with operators between them, to a random graph; some numbers of
// channels are whole blocks, others are not.
void ConvolveImages(GraphDraft& g);

}  // namespace cooper

#endif  // COOPER_TESTS_PASSES_RANDOM_IMAGES_H_
