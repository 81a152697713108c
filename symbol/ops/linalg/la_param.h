#ifndef COOPER_SYMBOL_OPS_LINALG_LA_PARAM_H_
#define COOPER_SYMBOL_OPS_LINALG_LA_PARAM_H_

// Parameters of the linalg_* operators.

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs of the products: batches of matrices.
struct LaProductArrays {
  enum Input { kA, kB, kC };
};
struct LaTriangularGradientArrays {
  enum Input { kOgrad, kA, kBOrOutput };
  enum Output { kAGrad, kBGrad };
};

// Parameters of linalg_gemm2; linalg_gemm adds beta.
struct LaGemm2Param {
  bool transpose_a = false;
  bool transpose_b = false;
  double alpha = 1;
  int axis = -2;

  static void Declare(ParamDeclaration<LaGemm2Param>& d) { DeclareFields(d); }
  template <typename P>  // P derives from this
  static void DeclareFields(ParamDeclaration<P>& d) {
    d.template Field<bool>("transpose_a", &P::transpose_a).Doc("whether A is transposed first");
    d.template Field<bool>("transpose_b", &P::transpose_b).Doc("whether B is transposed first");
    d.template Field<double>("alpha", &P::alpha).Doc("factor of the product");
    d.template Field<int>("axis", &P::axis).Doc("the axis of rows; that of columns is the last");
  }
};

// Parameters of linalg_gemm: alpha * A * B + beta * C.
struct LaGemmParam : LaGemm2Param {
  double beta = 1;

  static void Declare(ParamDeclaration<LaGemmParam>& d) {
    LaGemm2Param::DeclareFields(d);
    d.Field("beta", &LaGemmParam::beta).Doc("factor of C");
  }
};

// Parameters of linalg_trmm and linalg_trsm.
struct LaTriangularParam {
  bool transpose = false;
  bool rightside = false;
  bool lower = true;
  double alpha = 1;

  static void Declare(ParamDeclaration<LaTriangularParam>& d) {
    d.Field("transpose", &LaTriangularParam::transpose).Doc("whether A is transposed first");
    d.Field("rightside", &LaTriangularParam::rightside).Doc("whether A stands right of B");
    d.Field("lower", &LaTriangularParam::lower).Doc("whether A is its lower triangle");
    d.Field("alpha", &LaTriangularParam::alpha).Doc("factor of B");
  }
};

// Parameters of linalg_syrk: alpha * A * A^T, or alpha * A^T * A with transpose.
struct LaSyrkParam {
  bool transpose = false;
  double alpha = 1;

  static void Declare(ParamDeclaration<LaSyrkParam>& d) {
    d.Field("transpose", &LaSyrkParam::transpose).Doc("whether A^T * A is computed");
    d.Field("alpha", &LaSyrkParam::alpha).Doc("factor of the product");
  }
};

// Inputs of factorizations, inverses and determinants: A (..., n, n).
struct LaFactorArrays {
  enum Input { kA };
};
struct LaSlogdetArrays {
  enum Output { kSign, kLogAbsDet };
};
struct LaFactorGradientArrays {
  enum Input { kOgrad, kAOrOutput };
};
struct LaPotriGradientArrays {
  enum Input { kOgrad, kA, kOutput };
};

// Limit of a diagonal's offset: a matrix with such a diagonal would exceed the size of any array.
inline constexpr int64_t kMaxDiagonal = int64_t{1} << 31;

// Parameters of linalg_extractdiag and linalg_makediag.
struct LaDiagParam {
  int64_t offset = 0;

  static void Declare(ParamDeclaration<LaDiagParam>& d) {
    d.Field("offset", &LaDiagParam::offset)
        .Min(-kMaxDiagonal)
        .Max(kMaxDiagonal)
        .Doc("which diagonal: above the main one, or below if negative");
  }
};

// Parameters of linalg_extracttrian and linalg_maketrian.
struct LaTrianParam {
  int64_t offset = 0;
  bool lower = true;

  static void Declare(ParamDeclaration<LaTrianParam>& d) {
    d.Field("offset", &LaTrianParam::offset)
        .Min(-kMaxDiagonal)
        .Max(kMaxDiagonal)
        .Doc("where the triangle ends: above the main diagonal, or below if negative");
    d.Field("lower", &LaTrianParam::lower).Doc("which triangle it is, for offset 0");
  }

  bool is_upper() const { return offset > 0 || (offset == 0 && !lower); }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_LINALG_LA_PARAM_H_
