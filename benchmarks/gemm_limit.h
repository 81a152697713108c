#ifndef COOPER_BENCHMARKS_GEMM_LIMIT_H_
#define COOPER_BENCHMARKS_GEMM_LIMIT_H_

// How fast a training step of the language model could be if nothing but its matrix products took
// time: the products alone, batched over time as far as the data flow allows.

#include <cstdint>

#include "examples/language_model.h"

namespace cooper {

// Seconds for all products of one step (of the forward pass alone with `forward_only`) over
// (batch_size, length) tokens, the least of `repeat` runs. For every recurrent layer: the input
// projection of all steps at once, its data and weight gradients likewise, the recurrent product
// and its data gradient step by step, the recurrent weight gradient at once; and the projection
// onto the vocabulary with both gradients.
double GemmLimitSeconds(const LanguageModelOptions& model, int64_t batch_size, int64_t length,
                        bool forward_only, int repeat);

}  // namespace cooper

#endif  // COOPER_BENCHMARKS_GEMM_LIMIT_H_
