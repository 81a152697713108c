#ifndef COOPER_SYMBOL_OPS_NN_EMBEDDING_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_EMBEDDING_PARAM_H_

#include <cstdint>

#include "ndarray/base/dtype.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: data (...), weight (input_dim, output_dim); the output is (..., output_dim).
struct EmbeddingArrays {
  enum Input { kData, kWeight };
};
struct EmbeddingGradientArrays {
  enum Input { kOgrad, kData };
};

struct EmbeddingParam {
  int64_t input_dim = 0;
  int64_t output_dim = 0;
  DType dtype = DType::kFloat32;
  bool sparse_grad = false;

  static void Declare(ParamDeclaration<EmbeddingParam>& d) {
    d.Field("input_dim", &EmbeddingParam::input_dim)
        .Required()
        .Min(1)
        .Doc("rows of weight: the size of the vocabulary");
    d.Field("output_dim", &EmbeddingParam::output_dim)
        .Required()
        .Min(1)
        .Doc("columns of weight: the size of a vector");
    d.Field("dtype", &EmbeddingParam::dtype).Doc("of weight, where nothing else says it");
    d.Field("sparse_grad", &EmbeddingParam::sparse_grad)
        .Doc("accepted; the gradient of weight is dense");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_EMBEDDING_PARAM_H_
