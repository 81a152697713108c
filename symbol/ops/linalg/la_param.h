#ifndef COOPER_SYMBOL_OPS_LINALG_LA_PARAM_H_
#define COOPER_SYMBOL_OPS_LINALG_LA_PARAM_H_

// Arrays and parameters of the linalg_* operators on batches of matrices (..., rows, columns):
// products and systems of equations (la_product.cc), factorizations, inverses and determinants
// (la_factor.cc), and packed diagonals and triangles (la_triangle.cc). All arrays of a call have
// one dtype. MXNet: src/operator/tensor/la_op.h, la_op-inl.h, where the formulas of the gradients
// come from.

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs of the products: batches of matrices with equal leading extents. gemm has A, B and C,
// gemm2, trmm, trsm and solve have A and B, syrk has A.
//
// solve returns the X of A * X = B, with A (..., n, n), B and X (..., n, k). With g the head
// gradient, grad B = A^-T * g and grad A = -grad B * X^T. A singular matrix fails with
// kInvalidArgument when the kernel runs.
struct LaProductArrays {
  enum Input { kA, kB, kC };
};
// Arrays of the gradients of trmm, which reads B, and of trsm and solve, which read the output. For
// trmm and trsm only the triangle of A gets a gradient; its other elements get 0.
struct LaTriangularGradientArrays {
  enum Input { kOgrad, kA, kBOrOutput };
  enum Output { kAGrad, kBGrad };
};

// Parameters of linalg_gemm2: alpha * op(A) * op(B), where op transposes or not. A is (..., m, k),
// B (..., k, n), the output (..., m, n). linalg_gemm adds beta. The gradients are products of the
// same kind.
struct LaGemm2Param {
  bool transpose_a = false;
  bool transpose_b = false;
  double alpha = 1;
  // The axis of rows; columns are the last axis. With another axis than -2, axes of the batch lie
  // between rows and columns.
  int axis = -2;

  static void Declare(ParamDeclaration<LaGemm2Param>& d) { DeclareFields(d); }
  // Declares the fields for a derived struct.
  template <typename P>  // P derives from this
  static void DeclareFields(ParamDeclaration<P>& d) {
    d.template Field<bool>("transpose_a", &P::transpose_a).Doc("whether A is transposed first");
    d.template Field<bool>("transpose_b", &P::transpose_b).Doc("whether B is transposed first");
    d.template Field<double>("alpha", &P::alpha).Doc("factor of the product");
    d.template Field<int>("axis", &P::axis).Doc("the axis of rows; that of columns is the last");
  }
};

// Parameters of linalg_gemm: alpha * op(A) * op(B) + beta * C; C has the output's shape. With beta
// 0 C is not read, so it may hold NaN.
struct LaGemmParam : LaGemm2Param {
  double beta = 1;

  static void Declare(ParamDeclaration<LaGemmParam>& d) {
    LaGemm2Param::DeclareFields(d);
    d.Field("beta", &LaGemmParam::beta).Doc("factor of C");
  }
};

// Parameters of linalg_trmm, alpha * op(A) * B, and of linalg_trsm, which returns the X of op(A) *
// X = alpha * B. With rightside A stands on the right: alpha * B * op(A), and X * op(A) = alpha *
// B. A (..., m, m), or (..., n, n) with rightside, is read as a triangle: its other elements are
// ignored. B and the output are (..., m, n). trsm does not check for zeros on the diagonal, which
// give infinities or NaN.
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

// Parameters of linalg_syrk: alpha * A * A^T, or alpha * A^T * A with transpose. A is (..., m, k),
// the output (..., m, m) or (..., k, k). The gradient is alpha * (g + g^T) * A, since g need not be
// symmetric.
struct LaSyrkParam {
  bool transpose = false;
  double alpha = 1;

  static void Declare(ParamDeclaration<LaSyrkParam>& d) {
    d.Field("transpose", &LaSyrkParam::transpose).Doc("whether A^T * A is computed");
    d.Field("alpha", &LaSyrkParam::alpha).Doc("factor of the product");
  }
};

// Input of the operators on square matrices: A (..., n, n). With g the head gradient:
//
//   potrf       the lower triangle L with A = L * L^T; reads only the lower triangle of A
//   potri       (A * A^T)^-1 for a lower triangle A
//   inverse     A^-1; gradient -A^-T * g * A^-T
//   det         the determinant (...), or (1,) for one matrix; gradient g * det * A^-T
//   sumlogdiag  the sum of log(A[i, i]), of the same shape; gradient g / A[i, i] on the diagonal
//
// The gradients of potrf and inverse read the output, so A need not be kept. A matrix that is not
// positive definite (potrf) or is singular (inverse) fails with kInvalidArgument when the kernel
// runs.
struct LaFactorArrays {
  enum Input { kA };
};
// Outputs of slogdet, each (...), or (1,) for one matrix: the sign of the determinant, which has no
// gradient, and the logarithm of its magnitude, whose gradient is g * A^-T; 0 and -infinity for a
// singular matrix. The gradients of det and slogdet are 0 for a singular matrix. A determinant that
// overflows or underflows in the dtype has a finite logarithm.
struct LaSlogdetArrays {
  enum Output { kSign, kLogAbsDet };
};
// Inputs of gradients. kAOrOutput is the output for potrf and inverse, and A for det, slogdet and
// sumlogdiag.
struct LaFactorGradientArrays {
  enum Input { kOgrad, kAOrOutput };
};
// Inputs of the gradient of potri.
struct LaPotriGradientArrays {
  enum Input { kOgrad, kA, kOutput };
};

// Limit of a diagonal's offset: a matrix with such a diagonal would exceed the size of any array.
inline constexpr int64_t kMaxDiagonal = int64_t{1} << 31;

// Parameters of linalg_extractdiag, (..., n, n) to (..., n - |offset|), and of its inverse
// linalg_makediag, which puts vectors on a diagonal of zeros. Each is the gradient of the other. An
// offset outside of the matrix fails with kInvalidArgument.
struct LaDiagParam {
  int64_t offset = 0;

  static void Declare(ParamDeclaration<LaDiagParam>& d) {
    d.Field("offset", &LaDiagParam::offset)
        .Min(-kMaxDiagonal)
        .Max(kMaxDiagonal)
        .Doc("which diagonal: above the main one, or below if negative");
  }
};

// Parameters of linalg_extracttrian, (..., n, n) to (..., k * (k + 1) / 2) with k = n - |offset|,
// and of its inverse linalg_maketrian. Each is the gradient of the other. A lower triangle is
// packed row by row, an upper one column by column.
//
//   ((1, 2), (3, 4)) gives (1, 3, 4), the lower triangle; with lower=False (1, 2, 4)
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

  // Returns whether the triangle is the upper one: yes if the offset is positive, no if it is
  // negative; `lower` decides only for offset 0.
  bool is_upper() const { return offset > 0 || (offset == 0 && !lower); }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_LINALG_LA_PARAM_H_
