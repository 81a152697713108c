#ifndef COOPER_BENCHMARKS_GEMM_LIMIT_H_
#define COOPER_BENCHMARKS_GEMM_LIMIT_H_

// How fast a training step of the language model could be if nothing but its matrix products took
// time: the products alone, batched over time as far as the data flow allows.

#include <cstdint>
#include <vector>

#include "examples/language_model.h"

namespace cooper {

// All products of one step (of the forward pass alone with `forward_only`). For every recurrent
// layer and direction: the input projection of all steps at once, its data and weight gradients
// likewise, the recurrent product and its data gradient step by step, the recurrent weight gradient
// at once; and the projection onto the vocabulary with both gradients.
class GemmLimit {
 public:
  // Holds three matrices as large as the largest ones of a step with sentences of `longest` words.
  GemmLimit(const LanguageModelOptions& model, int64_t batch_size, int64_t longest,
            bool forward_only);

  // Makes the products of a step with sentences of `length` words once.
  void Run(int64_t length);

  // Seconds that they take: the least of `repeat` runs after one that warms up.
  double Seconds(int64_t length, int repeat);

 private:
  void Multiply(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k);
  void RunRecurrent(int64_t length, int64_t input);

  const LanguageModelOptions model_;
  const int64_t batch_size_;
  const bool forward_only_;
  std::vector<float> a_, b_, c_;  // what is in them does not change the time
};

}  // namespace cooper

#endif  // COOPER_BENCHMARKS_GEMM_LIMIT_H_
