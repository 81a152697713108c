#ifndef COOPER_TESTS_ONNX_SMALL_NETWORKS_H_
#define COOPER_TESTS_ONNX_SMALL_NETWORKS_H_

// Small networks for comparisons with ONNX Runtime.

#include <cstdint>

#include "symbol/graph/symbol.h"

namespace cooper {

// A classifier of sentences (batch, length) by convolutions of 3, 4 and 5 words (Kim, 2014).
Symbol TextCnn(int64_t num_ids, int64_t length);

// The heads of a single-shot detector over two maps of an image (batch, 3, height, width): the
// probabilities of 4 classes (batch, 4, anchors), offsets (batch, anchors * 4), and anchors.
Symbol SmallSsd();

// Outputs of operators that suppress boxes of SmallSsd: rows of {class, score, 4 numbers of a box}.
Symbol ManyDetections();

// Outputs of many operators of images (batch, 4, 16, 20), and of arrays (batch, 6, 8).
Symbol ManyImageOperators();
Symbol ManyArrayOperators();

}  // namespace cooper

#endif  // COOPER_TESTS_ONNX_SMALL_NETWORKS_H_
