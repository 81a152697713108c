// Packs diagonals and triangles of batches of square matrices into vectors and unpacks them. MXNet:
// src/operator/tensor/la_op.h.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>
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

// Returns the length of a vector with the diagonal or triangle, `offset` away from the main
// diagonal, of a matrix with `side` rows.
int64_t PackedSize(int64_t side, int64_t offset, bool triangle) {
  const int64_t n = side - std::abs(offset);
  return triangle ? n * (n + 1) / 2 : n;
}

// Inverse of PackedSize; -1 if no matrix has that packed size.
int64_t SideOf(int64_t size, int64_t offset, bool triangle) {
  if (!triangle) return size > kMaxDiagonal ? -1 : size + std::abs(offset);
  const int64_t n = std::llround((std::sqrt(8.0 * static_cast<double>(size) + 1) - 1) / 2);
  if (n > kMaxDiagonal) return -1;
  return n * (n + 1) / 2 == size ? n + std::abs(offset) : -1;
}

// Shape rule: input (..., side, side), output (..., packed size).
absl::Status ExtractShape(ShapeContext& c, int64_t offset, bool triangle) {
  PartialShape a = c.input(0);
  if (!a.rank_known()) return absl::OkStatus();
  if (a.rank() < 2) {
    return absl::InvalidArgumentError(absl::StrCat("input 'A' ", a.ToString(), " has no matrices"));
  }
  const int last = a.rank() - 1;
  const int64_t side = a.dim_known(last) ? a[last] : a[last - 1];
  a[last] = a[last - 1] = side;
  COOPER_RETURN_IF_ERROR(c.SetInput(0, a, "square matrices"));
  std::vector<int64_t> out(a.dims().begin(), a.dims().end() - 1);
  if (side != kUnknownDim) {
    if (side > kMaxDiagonal) {
      return absl::InvalidArgumentError(
          absl::StrCat("matrices of input 'A' ", a.ToString(), " have too many elements"));
    }
    if (side <= std::abs(offset)) {
      return absl::InvalidArgumentError(
          absl::StrCat("offset ", offset, " is outside the matrices of input 'A' ", a.ToString()));
    }
    out.back() = PackedSize(side, offset, triangle);
  }
  return c.SetOutput(0, PartialShape(out), "a vector for each matrix");
}

// Shape rule: input (..., packed size), output (..., side, side).
absl::Status MakeShape(ShapeContext& c, int64_t offset, bool triangle) {
  const PartialShape a = c.input(0);
  if (!a.rank_known()) return absl::OkStatus();
  if (a.rank() < 1) return absl::InvalidArgumentError("input 'A' is a scalar");
  const int last = a.rank() - 1;
  int64_t side = kUnknownDim;
  if (a.dim_known(last)) {
    side = SideOf(a[last], offset, triangle);
    if (side < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "extent ", a[last], " of axis ", last, " of input 'A' ", a.ToString(),
          triangle ? " is not the size of a triangle" : " is too large for a diagonal"));
    }
  }
  std::vector<int64_t> out(a.dims().begin(), a.dims().end());
  out.back() = side;
  out.push_back(side);
  return c.SetOutput(0, PartialShape(out), "a matrix for each vector");
}

absl::StatusOr<std::vector<NodeEntry>> InverseCall(GradientContext& c, const char* op,
                                                   AttrMap attrs) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  COOPER_ASSIGN_OR_RETURN(NodeEntry gradient, c.Call(op, {head}, std::move(attrs)));
  return std::vector<NodeEntry>{gradient};
}

AttrMap DiagAttrs(const GradientContext& c) {
  return {{"offset", PrintParamText(c.param<LaDiagParam>().offset)}};
}

AttrMap TrianAttrs(const GradientContext& c) {
  return {{"offset", PrintParamText(c.param<LaTrianParam>().offset)},
          {"lower", PrintParamText(c.param<LaTrianParam>().lower)}};
}

COOPER_REGISTER_OP(_linalg_extractdiag)
    .Describe("A diagonal of each matrix.")
    .Alias("linalg_extractdiag")
    .Param<LaDiagParam>()
    .Inputs({"A"})
    .Shape([](ShapeContext& c) { return ExtractShape(c, c.param<LaDiagParam>().offset, false); })
    .Type(SameType)
    .Gradient([](GradientContext& c) { return InverseCall(c, "_linalg_makediag", DiagAttrs(c)); });

COOPER_REGISTER_OP(_linalg_makediag)
    .Describe("Zeros with each vector as a diagonal.")
    .Alias("linalg_makediag")
    .Param<LaDiagParam>()
    .Inputs({"A"})
    .Shape([](ShapeContext& c) { return MakeShape(c, c.param<LaDiagParam>().offset, false); })
    .Type(SameType)
    .Gradient([](GradientContext& c) {
      return InverseCall(c, "_linalg_extractdiag", DiagAttrs(c));
    });

COOPER_REGISTER_OP(_linalg_extracttrian)
    .Describe("A triangle of each matrix.")
    .Alias("linalg_extracttrian")
    .Param<LaTrianParam>()
    .Inputs({"A"})
    .Shape([](ShapeContext& c) { return ExtractShape(c, c.param<LaTrianParam>().offset, true); })
    .Type(SameType)
    .Gradient([](GradientContext& c) {
      return InverseCall(c, "_linalg_maketrian", TrianAttrs(c));
    });

COOPER_REGISTER_OP(_linalg_maketrian)
    .Describe("Zeros with each vector as a triangle.")
    .Alias("linalg_maketrian")
    .Param<LaTrianParam>()
    .Inputs({"A"})
    .Shape([](ShapeContext& c) { return MakeShape(c, c.param<LaTrianParam>().offset, true); })
    .Type(SameType)
    .Gradient([](GradientContext& c) {
      return InverseCall(c, "_linalg_extracttrian", TrianAttrs(c));
    });

}  // namespace
}  // namespace cooper
