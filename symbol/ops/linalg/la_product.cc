// Products of batches of matrices and systems of equations: linalg_gemm, gemm2, syrk, trmm, trsm
// and solve. MXNet: src/operator/tensor/la_op.h.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/linalg/la_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum LaProductArrays::Input;

// Shape rule: the rows are on `axis`, the columns on the last axis. A (..., m, k), B (..., k, n),
// output and C (..., m, n).
absl::Status GemmShape(ShapeContext& c, const LaGemm2Param& param) {
  const PartialShape a = c.input(kA), b = c.input(kB);
  if (!a.rank_known() || !b.rank_known()) return absl::OkStatus();
  const int rank = a.rank(), rows = param.axis < 0 ? param.axis + rank : param.axis;
  if (b.rank() != rank || rows < 0 || rows >= rank - 1) {
    return absl::InvalidArgumentError(absl::StrCat("inputs 'A' ", a.ToString(), " and 'B' ",
                                                   b.ToString(), " are no matrices with rows at ",
                                                   "axis ", param.axis));
  }
  PartialShape fit_a = PartialShape::OfRank(rank), fit_b = fit_a, out = fit_a;
  const int columns = rank - 1;
  for (int i = 0; i < columns; ++i) {
    if (i == rows) continue;
    fit_b[i] = a[i];
    fit_a[i] = b[i];
    out[i] = a[i] == kUnknownDim ? b[i] : a[i];
  }
  const int a_inner = param.transpose_a ? rows : columns,
            b_inner = param.transpose_b ? columns : rows;
  fit_b[b_inner] = a[a_inner];
  fit_a[a_inner] = b[b_inner];
  out[rows] = a[param.transpose_a ? columns : rows];
  out[columns] = b[param.transpose_b ? rows : columns];
  COOPER_RETURN_IF_ERROR(c.SetInput(kB, fit_b, "to fit A"));
  COOPER_RETURN_IF_ERROR(c.SetInput(kA, fit_a, "to fit B"));
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, out, "the product of A and B"));
  if (c.num_inputs() == 2) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(c.SetInput(kC, c.output(0), "the product of A and B"));
  return c.SetOutput(0, c.input(kC), "the shape of C");
}

AttrMap ProductAttrs(bool transpose_a, bool transpose_b, double alpha, int axis = -2) {
  return {{"transpose_a", PrintParamText(transpose_a)},
          {"transpose_b", PrintParamText(transpose_b)},
          {"alpha", PrintParamText(alpha)},
          {"axis", PrintParamText(axis)}};
}

// Returns the gradients of A and B.
absl::StatusOr<std::vector<NodeEntry>> FactorGradients(GradientContext& c,
                                                       const LaGemm2Param& param) {
  const bool ta = param.transpose_a, tb = param.transpose_b;
  const NodeEntry a = c.input(kA), b = c.input(kB);
  COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(0));
  std::vector<NodeEntry> grads(2);
  if (ta) {
    COOPER_ASSIGN_OR_RETURN(grads[kA], c.Call("_linalg_gemm2", {b, head},
                                              ProductAttrs(tb, true, param.alpha, param.axis)));
  } else {
    COOPER_ASSIGN_OR_RETURN(grads[kA], c.Call("_linalg_gemm2", {head, b},
                                              ProductAttrs(false, !tb, param.alpha, param.axis)));
  }
  if (tb) {
    COOPER_ASSIGN_OR_RETURN(grads[kB], c.Call("_linalg_gemm2", {head, a},
                                              ProductAttrs(true, ta, param.alpha, param.axis)));
  } else {
    COOPER_ASSIGN_OR_RETURN(grads[kB], c.Call("_linalg_gemm2", {a, head},
                                              ProductAttrs(!ta, false, param.alpha, param.axis)));
  }
  return grads;
}

COOPER_REGISTER_OP(_linalg_gemm2)
    .Describe("alpha * A * B, for the matrices of two batches.")
    .Alias("linalg_gemm2")
    .Param<LaGemm2Param>()
    .Inputs({"A", "B"})
    .Shape([](ShapeContext& c) { return GemmShape(c, c.param<LaGemm2Param>()); })
    .Type(SameType)
    .Gradient([](GradientContext& c) { return FactorGradients(c, c.param<LaGemm2Param>()); });

// The gradient of C is beta times the head: _mul_scalar belongs to //symbol/ops/elemwise.
COOPER_REGISTER_OP(_linalg_gemm)
    .Describe("alpha * A * B + beta * C, for the matrices of three batches.")
    .Alias("linalg_gemm")
    .Param<LaGemmParam>()
    .Inputs({"A", "B", "C"})
    .Shape([](ShapeContext& c) { return GemmShape(c, c.param<LaGemmParam>()); })
    .Type(SameType)
    .Gradient([](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
      const auto& param = c.param<LaGemmParam>();
      COOPER_ASSIGN_OR_RETURN(std::vector<NodeEntry> grads, FactorGradients(c, param));
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
      if (param.beta != 1) {
        COOPER_ASSIGN_OR_RETURN(
            head, c.Call("_mul_scalar", {head}, {{"scalar", PrintParamText(param.beta)}}));
      }
      grads.push_back(head);
      return grads;
    });

// Shape rule: A (..., m, k): the output is (..., m, m), or (..., k, k) with transpose.
absl::Status SyrkShape(ShapeContext& c) {
  PartialShape a = c.input(kA);
  if (!a.rank_known()) return absl::OkStatus();
  if (a.rank() < 2) {
    return absl::InvalidArgumentError(absl::StrCat("input 'A' ", a.ToString(), " has no matrices"));
  }
  const int last = a.rank() - 1;
  const int64_t side = a[c.param<LaSyrkParam>().transpose ? last : last - 1];
  a[last] = a[last - 1] = side;
  return c.SetOutput(0, a, "A times A transposed");
}

// Gradient rule: alpha * (head + head^T) * A, since the head need not be symmetric.
absl::StatusOr<std::vector<NodeEntry>> SyrkGradient(GradientContext& c) {
  const auto& param = c.param<LaSyrkParam>();
  COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(0));
  const NodeEntry a = c.input(kA);
  NodeEntry half, sum;
  if (param.transpose) {
    COOPER_ASSIGN_OR_RETURN(
        half, c.Call("_linalg_gemm2", {a, head}, ProductAttrs(false, false, param.alpha)));
    COOPER_ASSIGN_OR_RETURN(
        sum, c.Call("_linalg_gemm", {a, head, half}, ProductAttrs(false, true, param.alpha)));
  } else {
    COOPER_ASSIGN_OR_RETURN(
        half, c.Call("_linalg_gemm2", {head, a}, ProductAttrs(false, false, param.alpha)));
    COOPER_ASSIGN_OR_RETURN(
        sum, c.Call("_linalg_gemm", {head, a, half}, ProductAttrs(true, false, param.alpha)));
  }
  return std::vector<NodeEntry>{sum};
}

COOPER_REGISTER_OP(_linalg_syrk)
    .Describe("alpha * A * A^T, or alpha * A^T * A.")
    .Alias("linalg_syrk")
    .Param<LaSyrkParam>()
    .Inputs({"A"})
    .Shape(SyrkShape)
    .Type(SameType)
    .Gradient(SyrkGradient);

// Shape rule: A (..., m, m), B and output (..., m, n); with `right` A (..., n, n).
absl::Status SquareFactorShape(ShapeContext& c, bool right) {
  COOPER_RETURN_IF_ERROR(c.SetInput(kB, c.output(0), "the output's shape"));
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(kB), "the shape of B"));
  const PartialShape b = c.input(kB);
  if (b.rank_known()) {
    if (b.rank() < 2) {
      return absl::InvalidArgumentError(
          absl::StrCat("input 'B' ", b.ToString(), " has no matrices"));
    }
    PartialShape a = b;
    const int last = a.rank() - 1;
    a[last] = a[last - 1] = b[right ? last : last - 1];
    COOPER_RETURN_IF_ERROR(c.SetInput(kA, a, "square matrices that fit B"));
  }
  const PartialShape a = c.input(kA);
  if (a.rank() < 2) return absl::OkStatus();
  const int last = a.rank() - 1;
  const int64_t side = a.dim_known(last) ? a[last] : a[last - 1];
  PartialShape square = a;
  square[last] = square[last - 1] = side;
  COOPER_RETURN_IF_ERROR(c.SetInput(kA, square, "square matrices"));
  PartialShape fit = a;
  fit[last] = fit[last - 1] = kUnknownDim;
  fit[right ? last : last - 1] = side;
  return c.SetInput(kB, fit, "matrices that fit A");
}
absl::Status TriangularShape(ShapeContext& c) {
  return SquareFactorShape(c, c.param<LaTriangularParam>().rightside);
}

COOPER_REGISTER_OP(_linalg_trmm)
    .Describe("alpha * A * B, or alpha * B * A, with a triangle A.")
    .Alias("linalg_trmm")
    .Param<LaTriangularParam>()
    .Inputs({"A", "B"})
    .Shape(TriangularShape)
    .Type(SameType)
    .Gradient([](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
      return c.Backward("_backward_linalg_trmm", {head, c.input(kA), c.input(kB)});
    });

COOPER_REGISTER_OP(_backward_linalg_trmm)
    .Describe("Gradients of linalg_trmm with respect to A and B.")
    .Param<LaTriangularParam>()
    .Inputs({"ograd", "A", "B"})
    .Outputs({"A", "B"})
    .Shape(GradientShape)
    .Type(SameType);

COOPER_REGISTER_OP(_linalg_trsm)
    .Describe("The X of A * X = alpha * B, or X * A = alpha * B, with a triangle A.")
    .Alias("linalg_trsm")
    .Param<LaTriangularParam>()
    .Inputs({"A", "B"})
    .Shape(TriangularShape)
    .Type(SameType)
    .Gradient([](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
      return c.Backward("_backward_linalg_trsm", {head, c.input(kA), c.output(0)});
    });

COOPER_REGISTER_OP(_backward_linalg_trsm)
    .Describe("Gradients of linalg_trsm with respect to A and B.")
    .Param<LaTriangularParam>()
    .Inputs({"ograd", "A", "output"})
    .Outputs({"A", "B"})
    .Shape(GradientShape)
    .Type(SameType);

// MXNet has this operator in its NumPy interface alone, where B may also be vectors.
COOPER_REGISTER_OP(_linalg_solve)
    .Describe("The X of A * X = B, with square matrices A.")
    .Inputs({"A", "B"})
    .Shape([](ShapeContext& c) { return SquareFactorShape(c, /*right=*/false); })
    .Type(SameType)
    .Gradient([](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
      return c.Backward("_backward_linalg_solve", {head, c.input(kA), c.output(0)});
    });

COOPER_REGISTER_OP(_backward_linalg_solve)
    .Describe("Gradients of _linalg_solve with respect to A and B.")
    .Inputs({"ograd", "A", "output"})
    .Outputs({"A", "B"})
    .Shape(GradientShape)
    .Type(SameType);

}  // namespace
}  // namespace cooper
