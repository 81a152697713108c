#ifndef COOPER_BENCHMARKS_GEMM_LIMIT_H_
#define COOPER_BENCHMARKS_GEMM_LIMIT_H_

// Runs only the matrix products of a training step of the language model, batched over time as far
// as the data flow allows: a lower bound of the step's time.

#include <cstdint>
#include <vector>

#include "tools/lm_train/language_model.h"

namespace cooper {

// The products of one step, or of the forward pass with `forward_only`. For every recurrent layer
// and direction: the input projection of all steps at once, and its data and weight gradients; the
// recurrent product and its data gradient step by step; the recurrent weight gradient at once. Then
// the projection onto the vocabulary with both gradients.
class GemmLimit {
 public:
  // Allocates three matrices as large as the largest ones of a step with sentences of `longest`
  // words.
  GemmLimit(const LanguageModelOptions& model, int64_t batch_size, int64_t longest,
            bool forward_only);

  // Runs the products of a step with sentences of `length` words once.
  void Run(int64_t length);

  // Returns the seconds that they take: the minimum of `repeat` runs after one warm-up run.
  double Seconds(int64_t length, int repeat);

 private:
  void Multiply(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k);
  void RunRecurrent(int64_t length, int64_t input);

  const LanguageModelOptions model_;
  const int64_t batch_size_;
  const bool forward_only_;
  std::vector<float> a_, b_, c_;  // their contents do not influence the time
};

}  // namespace cooper

#endif  // COOPER_BENCHMARKS_GEMM_LIMIT_H_
