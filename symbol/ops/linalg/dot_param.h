#ifndef COOPER_SYMBOL_OPS_LINALG_DOT_PARAM_H_
#define COOPER_SYMBOL_OPS_LINALG_DOT_PARAM_H_

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs. Unless transposed, dot takes lhs (..., k) and rhs (k, ...), batch_dot lhs (..., m, k) and
// rhs (..., k, n).
struct DotArrays {
  enum Input { kLhs, kRhs };
};
struct DotGradientArrays {
  enum Input { kOgrad, kLhs, kRhs };
  enum Output { kLhsGrad, kRhsGrad };
};

// Parameters of dot and batch_dot.
struct DotParam {
  enum StorageType { kNone, kDefault, kRowSparse, kCsr };

  bool transpose_a = false;
  bool transpose_b = false;
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
