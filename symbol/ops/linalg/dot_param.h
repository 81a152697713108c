#ifndef COOPER_SYMBOL_OPS_LINALG_DOT_PARAM_H_
#define COOPER_SYMBOL_OPS_LINALG_DOT_PARAM_H_

// Arrays and parameters of dot and batch_dot, the products of arrays. The schemas are in dot.cc.
// linalg_gemm2 (la_param.h) has more options for batches of matrices. MXNet:
// src/operator/tensor/dot-inl.h.

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs. Unless transposed, dot takes lhs (..., k) and rhs (k, ...), batch_dot lhs (..., m, k) and
// rhs (..., k, n), both with at least three axes and equal leading extents. dot sums over the last
// axis of lhs and the first of rhs: lhs (2, 3, k) and rhs (k, 4) give (2, 3, 4), and two vectors
// give (1,). batch_dot gives (..., m, n). All arrays have one dtype.
struct DotArrays {
  enum Input { kLhs, kRhs };
};
// Arrays of the gradients: of lhs ograd times rhs transposed, of rhs lhs transposed times ograd. A
// gradient that is not requested is not computed.
struct DotGradientArrays {
  enum Input { kOgrad, kLhs, kRhs };
  enum Output { kLhsGrad, kRhsGrad };
};

// Parameters of dot and batch_dot.
struct DotParam {
  // MXNet's storage types. cooper's operators have dense arrays only.
  enum StorageType { kNone, kDefault, kRowSparse, kCsr };

  // Whether an operand is transposed first. In dot, transposed lhs is (k, ...) and transposed rhs
  // (..., k): the summed axis moves, the others keep their order. Two vectors cannot be transposed.
  bool transpose_a = false;
  bool transpose_b = false;
  // Has no effect.
  StorageType forward_stype = kNone;

  static void Declare(ParamDeclaration<DotParam>& d) {
    d.Field("transpose_a", &DotParam::transpose_a).Doc("whether lhs is transposed first");
    d.Field("transpose_b", &DotParam::transpose_b).Doc("whether rhs is transposed first");
    d.Enum("forward_stype", &DotParam::forward_stype,
           {{"None", kNone}, {"default", kDefault}, {"row_sparse", kRowSparse}, {"csr", kCsr}})
        .Doc("storage of the output in MXNet; here it is dense whatever this says");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_LINALG_DOT_PARAM_H_
