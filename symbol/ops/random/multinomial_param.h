#ifndef COOPER_SYMBOL_OPS_RANDOM_MULTINOMIAL_PARAM_H_
#define COOPER_SYMBOL_OPS_RANDOM_MULTINOMIAL_PARAM_H_

// Arrays and parameters of _sample_multinomial (multinomial.cc), which draws outcomes by their
// probabilities. MXNet: src/operator/random/sample_multinomial_op.h.

#include <cstdint>
#include <vector>

#include "ndarray/base/dtype.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// data (..., k) has the probabilities of k outcomes, of which each row sums to 1; a row with
// another sum is divided by it. Output kOutcome has the shape (..., shape...), and shape, or (1,)
// for (), if data is a vector. kLogProb, with get_prob only, are the logarithms of the drawn
// outcomes' probabilities in data.
struct MultinomialArrays {
  enum Input { kData };
  enum Output { kOutcome, kLogProb };
};
// The gradient of an outcome's probability p is the sum of ograd / p, where ograd is that of
// kLogProb, over the draws of the outcome.
struct MultinomialGradientArrays {
  enum Input { kOgrad, kData, kOutcome };
};

// A shape of () draws one outcome from each distribution.
struct MultinomialParam {
  std::vector<int64_t> shape;
  bool get_prob = false;
  DType dtype = DType::kInt32;

  static void Declare(ParamDeclaration<MultinomialParam>& d) {
    d.Field("shape", &MultinomialParam::shape).Doc("shape of what is drawn from each distribution");
    d.Field("get_prob", &MultinomialParam::get_prob)
        .Doc("whether a second output has the logarithms of the probabilities");
    d.Field("dtype", &MultinomialParam::dtype).Doc("dtype of the outcomes");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_RANDOM_MULTINOMIAL_PARAM_H_
