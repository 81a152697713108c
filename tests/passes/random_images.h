#ifndef COOPER_TESTS_PASSES_RANDOM_IMAGES_H_
#define COOPER_TESTS_PASSES_RANDOM_IMAGES_H_

#include "tests/passes/graph_draft.h"

namespace cooper {

// A part of a random graph: convolutions of images and what stands between them, with numbers of
// channels that make whole blocks and others.
void ConvolveImages(GraphDraft& g);

}  // namespace cooper

#endif  // COOPER_TESTS_PASSES_RANDOM_IMAGES_H_
