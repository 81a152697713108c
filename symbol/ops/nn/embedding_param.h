#ifndef COOPER_SYMBOL_OPS_NN_EMBEDDING_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_EMBEDDING_PARAM_H_

// Arrays and parameters of Embedding, a table of vectors. The schema is in embedding.cc; the
// kernels are those of take. MXNet: src/operator/tensor/indexing_op.cc.

#include <cstdint>

#include "ndarray/base/dtype.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: data (...), indices of any dtype, without a gradient; weight (input_dim, output_dim). The
// output is (..., output_dim), in weight's dtype.
struct EmbeddingArrays {
  enum Input { kData, kWeight };
};
// The gradient of weight adds up the rows of ograd whose index selects the row; other rows are 0.
// It is dense, of weight's shape.
struct EmbeddingGradientArrays {
  enum Input { kOgrad, kData };
};

// output[..., :] = weight[data[...], :]. An index loses its fraction; one below 0 or beyond the
// table selects the first or the last row, as in MXNet.
struct EmbeddingParam {
  int64_t input_dim = 0;
  int64_t output_dim = 0;
  // Dtype of weight if neither weight nor the output determines it.
  DType dtype = DType::kFloat32;
  // No effect.
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

// Parameters of _contrib_SparseEmbedding, which cooper computes as Embedding does. They add no
// members, so the kernels of Embedding read them as an EmbeddingParam.
struct SparseEmbeddingParam : EmbeddingParam {
  static void Declare(ParamDeclaration<SparseEmbeddingParam>& d) {
    using P = SparseEmbeddingParam;
    d.Field("input_dim", &P::input_dim).Required().Min(1).Doc("rows of weight");
    d.Field("output_dim", &P::output_dim).Required().Min(1).Doc("columns of weight");
    d.Field("dtype", &P::dtype).Doc("of weight, where nothing else says it");
    d.Field("deterministic", &P::sparse_grad).Doc("accepted; results are deterministic");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_EMBEDDING_PARAM_H_
