// Decompositions of batches of matrices into orthogonal factors. MXNet: src/operator/tensor/la_op.h
// and la_op-inl.h.

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using Entries = absl::StatusOr<std::vector<NodeEntry>>;

// Returns the shape of A (..., m, n), merged with that of output 0, which is equal. Fails if it
// has no matrices.
absl::StatusOr<PartialShape> MatricesOf(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetInput(0, c.output(0), "the shape of the first output"));
  const PartialShape& a = c.input(0);
  if (a.rank_known() && a.rank() < 2) {
    return absl::InvalidArgumentError(absl::StrCat("input 'A' ", a.ToString(), " has no matrices"));
  }
  return a;
}

// Shape rule: A and Q (..., m, n), L (..., m, m) with m <= n.
absl::Status GelqfShape(ShapeContext& c) {
  COOPER_ASSIGN_OR_RETURN(const PartialShape a, MatricesOf(c));
  if (!a.rank_known()) return absl::OkStatus();
  const int last = a.rank() - 1;
  if (a.dim_known(last) && a.dim_known(last - 1) && a[last - 1] > a[last]) {
    return absl::InvalidArgumentError(
        absl::StrCat("input 'A' ", a.ToString(), " has matrices with more rows than columns"));
  }
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, a, "A's"));
  PartialShape l = a;
  l[last] = a[last - 1];
  return c.SetOutput(1, l, "a square for each matrix");
}

// Shape rule: A and U (..., n, n), L (..., n).
absl::Status SyevdShape(ShapeContext& c) {
  COOPER_ASSIGN_OR_RETURN(PartialShape a, MatricesOf(c));
  if (!a.rank_known()) return absl::OkStatus();
  const int last = a.rank() - 1;
  a[last] = a[last - 1] = a.dim_known(last) ? a[last] : a[last - 1];
  COOPER_RETURN_IF_ERROR(c.SetInput(0, a, "square matrices"));
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, a, "A's"));
  return c.SetOutput(1, PartialShape(a.dims().first(last)), "a vector for each matrix");
}

template <const char* kBackward>
Entries FromOutputs(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(const NodeEntry first, c.head(0));
  COOPER_ASSIGN_OR_RETURN(const NodeEntry second, c.head(1));
  return c.Backward(kBackward, {first, second, c.output(0), c.output(1)});
}

constexpr char kBackwardGelqf[] = "_backward_linalg_gelqf";
constexpr char kBackwardSyevd[] = "_backward_linalg_syevd";

COOPER_REGISTER_OP(_linalg_gelqf)
    .Describe("Q with orthonormal rows and lower triangles L, whose product L * Q is A.")
    .Alias("linalg_gelqf")
    .Inputs({"A"})
    .Outputs({"output0", "output1"})
    .Shape(GelqfShape)
    .Type(SameType)
    .Gradient(FromOutputs<kBackwardGelqf>);

COOPER_REGISTER_OP(_backward_linalg_gelqf)
    .Describe("Gradient of linalg_gelqf.")
    .Inputs({"ograd_q", "ograd_l", "q", "l"})
    .Shape(GradientShape)
    .Type(SameType);

COOPER_REGISTER_OP(_linalg_syevd)
    .Describe("Eigenvectors, as rows, and eigenvalues, in ascending order, of symmetric matrices.")
    .Alias("linalg_syevd")
    .Inputs({"A"})
    .Outputs({"output0", "output1"})
    .Shape(SyevdShape)
    .Type(SameType)
    .Gradient(FromOutputs<kBackwardSyevd>);

COOPER_REGISTER_OP(_backward_linalg_syevd)
    .Describe("Gradient of linalg_syevd.")
    .Inputs({"ograd_u", "ograd_l", "u", "l"})
    .Shape(GradientShape)
    .Type(SameType);

COOPER_OP_EXAMPLE(_linalg_gelqf, {}, {{2, 3}});
COOPER_OP_EXAMPLE(_linalg_syevd, {}, {{3, 3}});

}  // namespace
}  // namespace cooper
