// Factorizations, inverses and determinants of batches of square matrices. MXNet:
// src/operator/tensor/la_op.h and la_op-inl.h.

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

// Merges the last two extents of input 0 (..., n, n).
absl::Status SquareInput(ShapeContext& c) {
  PartialShape a = c.input(0);
  if (!a.rank_known()) return absl::OkStatus();
  if (a.rank() < 2) {
    return absl::InvalidArgumentError(absl::StrCat("input 'A' ", a.ToString(), " has no matrices"));
  }
  const int last = a.rank() - 1;
  a[last] = a[last - 1] = a.dim_known(last) ? a[last] : a[last - 1];
  return c.SetInput(0, a, "square matrices");
}

absl::Status SquareShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(SameShape(c));
  COOPER_RETURN_IF_ERROR(SquareInput(c));
  return SameShape(c);
}

// Gives all outputs one number per matrix of input 0: (...), or (1,) for a single matrix.
absl::Status NumberShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(SquareInput(c));
  const PartialShape a = c.input(0);
  if (!a.rank_known()) return absl::OkStatus();
  const PartialShape out =
      a.rank() == 2 ? PartialShape{1} : PartialShape(a.dims().first(a.rank() - 2));
  for (int i = 0; i < c.num_outputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(i, out, "a number for each matrix"));
  }
  return absl::OkStatus();
}

// Returns the gradient node of the head and the forward node's input or output.
template <const char* kBackward, bool kNeedsOutput>
absl::StatusOr<std::vector<NodeEntry>> LaGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward(kBackward, {head, kNeedsOutput ? c.output(0) : c.input(0)});
}

constexpr char kBackwardPotrf[] = "_backward_linalg_potrf";

COOPER_REGISTER_OP(_linalg_potrf)
    .Describe("The lower triangle L of A = L * L^T.")
    .Alias("linalg_potrf")
    .Inputs({"A"})
    .Shape(SquareShape)
    .Type(SameType)
    .Gradient(LaGradient<kBackwardPotrf, true>);

COOPER_REGISTER_OP(_backward_linalg_potrf)
    .Describe("Gradient of linalg_potrf.")
    .Inputs({"ograd", "output"})
    .Shape(GradientShape)
    .Type(SameType);

COOPER_REGISTER_OP(_linalg_potri)
    .Describe("The inverse of A * A^T, for a lower triangle A.")
    .Alias("linalg_potri")
    .Inputs({"A"})
    .Shape(SquareShape)
    .Type(SameType)
    .Gradient([](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
      return c.Backward("_backward_linalg_potri", {head, c.input(0), c.output(0)});
    });

COOPER_REGISTER_OP(_backward_linalg_potri)
    .Describe("Gradient of linalg_potri.")
    .Inputs({"ograd", "A", "output"})
    .Shape(GradientShape)
    .Type(SameType);

constexpr char kBackwardSumLogDiag[] = "_backward_linalg_sumlogdiag";

COOPER_REGISTER_OP(_linalg_sumlogdiag)
    .Describe("The sum of the logarithms of the diagonal.")
    .Alias("linalg_sumlogdiag")
    .Inputs({"A"})
    .Shape(NumberShape)
    .Type(SameType)
    .Gradient(LaGradient<kBackwardSumLogDiag, false>);

COOPER_REGISTER_OP(_backward_linalg_sumlogdiag)
    .Describe("Gradient of linalg_sumlogdiag.")
    .Inputs({"ograd", "A"})
    .Shape(GradientShape)
    .Type(SameType);

constexpr char kBackwardInverse[] = "_backward_linalg_inverse";

COOPER_REGISTER_OP(_linalg_inverse)
    .Describe("The inverse of each matrix.")
    .Alias("linalg_inverse")
    .Alias("_npi_inv")
    .Inputs({"A"})
    .Shape(SquareShape)
    .Type(SameType)
    .Gradient(LaGradient<kBackwardInverse, true>);

COOPER_REGISTER_OP(_backward_linalg_inverse)
    .Describe("Gradient of linalg_inverse.")
    .Inputs({"ograd", "output"})
    .Shape(GradientShape)
    .Type(SameType);

constexpr char kBackwardDet[] = "_backward_linalg_det";

COOPER_REGISTER_OP(_linalg_det)
    .Describe("The determinant of each matrix.")
    .Alias("linalg_det")
    .Alias("_npi_det")
    .Inputs({"A"})
    .Outputs({"output0"})
    .Shape(NumberShape)
    .Type(SameType)
    .Gradient(LaGradient<kBackwardDet, false>);

COOPER_REGISTER_OP(_backward_linalg_det)
    .Describe("Gradient of linalg_det; 0 for a singular matrix.")
    .Inputs({"ograd", "A"})
    .Shape(GradientShape)
    .Type(SameType);

// The sign is constant except where the determinant is 0: no gradient flows through it.
COOPER_REGISTER_OP(_linalg_slogdet)
    .Describe("Sign and logarithm of the magnitude of each matrix' determinant.")
    .Alias("linalg_slogdet")
    .Alias("_npi_slogdet")
    .Inputs({"A"})
    .Outputs({"output0", "output1"})
    .Shape(NumberShape)
    .Type(SameType)
    .Gradient([](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
      if (!c.has_head(1)) return std::vector<NodeEntry>(1);
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(1));
      return c.Backward("_backward_linalg_slogdet", {head, c.input(0)});
    });

COOPER_REGISTER_OP(_backward_linalg_slogdet)
    .Describe("Gradient of linalg_slogdet; 0 for a singular matrix.")
    .Inputs({"ograd", "A"})
    .Shape(GradientShape)
    .Type(SameType);

}  // namespace
}  // namespace cooper
