// Gives the elements of an array another shape. MXNet: src/operator/tensor/matrix_op-inl.h.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/shape/reshape_gradient.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/param_schema.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using Dims = std::vector<int64_t>;

struct ReshapeParam {
  Dims shape;
  bool reverse = false;
  Dims target_shape;
  bool keep_highest = false;

  static void Declare(ParamDeclaration<ReshapeParam>& d) {
    d.Field("shape", &ReshapeParam::shape)
        .Doc(
            "the new extents; 0 keeps the input's, -1 is inferred, -2 copies the rest, -3 merges "
            "two, -4 splits one into the two that follow");
    d.Field("reverse", &ReshapeParam::reverse)
        .Doc("whether the codes are matched from the last axis on");
    d.Field("target_shape", &ReshapeParam::target_shape)
        .Doc("an older way to write shape, in which 0 is inferred");
    d.Field("keep_highest", &ReshapeParam::keep_highest)
        .Doc("whether the first extent of target_shape is the input's");
  }
};

absl::Status NoExtentLeft(int64_t code, const ReshapeParam& param, const PartialShape& data) {
  return absl::InvalidArgumentError(
      absl::StrCat("code ", code, " of shape ", PrintParamText(param.shape),
                   " has no extent of input 'data' ", data.ToString(), " left to work on"));
}

// Divides an extent that may be unknown. An extent of 0 divides only 0.
bool Divide(int64_t total, int64_t by, int64_t* quotient) {
  if (by == 0) {
    *quotient = 0;
    return total == 0;
  }
  *quotient = total / by;
  return total % by == 0;
}

// Returns the output's extents from `shape` and its codes, as far as those of `data` are known.
absl::StatusOr<PartialShape> DecodeShape(const ReshapeParam& param, const PartialShape& data) {
  Dims source(data.dims().begin(), data.dims().end());
  Dims codes = param.shape;
  if (param.reverse) {
    std::reverse(source.begin(), source.end());
    std::reverse(codes.begin(), codes.end());
  }
  Dims out;
  size_t at = 0;      // the next extent of source
  int inferred = -1;  // where in out a code of -1 stands
  for (size_t i = 0; i < codes.size(); ++i) {
    const int64_t code = codes[i];
    if (code == 0) {
      if (at >= source.size()) return NoExtentLeft(code, param, data);
      out.push_back(source[at++]);
    } else if (code == -1) {
      if (inferred >= 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("shape ", PrintParamText(param.shape), " has more than one -1"));
      }
      inferred = static_cast<int>(out.size());
      out.push_back(1);
      ++at;
    } else if (code == -2) {
      while (at < source.size()) out.push_back(source[at++]);
    } else if (code == -3) {
      if (at + 1 >= source.size()) return NoExtentLeft(code, param, data);
      const int64_t a = source[at++], b = source[at++];
      out.push_back(b == kUnknownDim ? kUnknownDim : ExtentProduct(a, b));
    } else if (code == -4) {
      if (at >= source.size()) return NoExtentLeft(code, param, data);
      if (i + 2 >= codes.size()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "code -4 of shape ", PrintParamText(param.shape), " needs two extents behind it"));
      }
      const int64_t whole = source[at++];
      int64_t a = codes[++i], b = codes[++i];
      bool fits = a >= -1 && b >= -1 && (a != -1 || b != -1);
      if (fits && whole != kUnknownDim) {
        if (a == -1) {
          fits = Divide(whole, b, &a);
        } else if (b == -1) {
          fits = Divide(whole, a, &b);
        } else {
          fits = ExtentProduct(a, b) == whole;
        }
      }
      if (!fits) {
        return absl::InvalidArgumentError(
            absl::StrCat("code -4 of shape ", PrintParamText(param.shape), " cannot split extent ",
                         whole, " of input 'data' ", data.ToString(), " into ", a, " and ", b));
      }
      out.push_back(a);
      out.push_back(b);
    } else if (code < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("shape ", PrintParamText(param.shape), " has the unknown code ", code));
    } else {
      out.push_back(code);
      ++at;
    }
  }
  if (inferred >= 0) {
    const int64_t rest = PartialShape(out).num_elements();
    const int64_t total = data.num_elements();
    if (rest == kUnknownDim || total == kUnknownDim) {
      out[inferred] = kUnknownDim;
    } else if (!Divide(total, rest, &out[inferred])) {
      return absl::InvalidArgumentError(
          absl::StrCat("shape ", PrintParamText(param.shape), " does not divide the ", total,
                       " elements of input 'data' ", data.ToString()));
    }
  }
  if (param.reverse) std::reverse(out.begin(), out.end());
  return PartialShape(out);
}

// Returns the output's extents from `target_shape`. As in MXNet, -1 is inferred from the others.
absl::StatusOr<PartialShape> DecodeTargetShape(const ReshapeParam& param,
                                               const PartialShape& data) {
  PartialShape out(param.target_shape);
  int inferred = -1, count = 0;
  for (int i = 0; i < out.rank(); ++i) {
    if (i == 0 && param.keep_highest) {
      if (data.rank() == 0) return absl::InvalidArgumentError("input 'data' is a scalar");
      out[0] = data[0];
    } else if (out[i] == 0) {
      inferred = i;
      ++count;
    } else if (out[i] < kUnknownDim) {
      return absl::InvalidArgumentError(
          absl::StrCat("target_shape ", PrintParamText(param.target_shape), " has the extent ",
                       out[i], ", expected 0, which is inferred, -1, which is unknown, or more"));
    }
  }
  if (count > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "target_shape ", PrintParamText(param.target_shape), " has more than one 0 to infer"));
  }
  if (count == 1) {
    out[inferred] = 1;
    const int64_t total = data.num_elements(), rest = out.num_elements();
    if (total == kUnknownDim || rest == kUnknownDim) {
      out[inferred] = kUnknownDim;
    } else if (!Divide(total, rest, &out[inferred])) {
      return absl::InvalidArgumentError(absl::StrCat(
          "target_shape ", PrintParamText(param.target_shape), " does not divide the ", total,
          " elements of "
          "input 'data' ",
          data.ToString()));
    }
  }
  return out;
}

// Returns `shape` with its single unknown extent, if there is just one, set so that it has as many
// elements as `other`.
PartialShape FillByCount(PartialShape shape, const PartialShape& other) {
  const int64_t total = other.num_elements();
  if (!shape.rank_known() || total == kUnknownDim) return shape;
  int unknown = -1;
  int64_t rest = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape.dim_known(i)) {
      rest = ExtentProduct(shape[i], rest);
    } else if (unknown >= 0) {
      return shape;
    } else {
      unknown = i;
    }
  }
  if (unknown >= 0 && rest > 0 && total % rest == 0) shape[unknown] = total / rest;
  return shape;
}

absl::Status SameCount(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetInput(0, FillByCount(c.input(0), c.output(0))));
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, FillByCount(c.output(0), c.input(0))));
  const int64_t in = c.input(0).num_elements(), out = c.output(0).num_elements();
  if (in == kUnknownDim || out == kUnknownDim || in == out) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("input 'data' ", c.input(0).ToString(), " has ",
                                                 in, " elements, the new shape ",
                                                 c.output(0).ToString(), " has ", out));
}

absl::Status ReshapeShape(ShapeContext& c) {
  const auto& param = c.param<ReshapeParam>();
  const PartialShape data = c.input(0);
  if (!data.rank_known()) return absl::OkStatus();
  if (!param.shape.empty()) {
    COOPER_ASSIGN_OR_RETURN(PartialShape out, DecodeShape(param, data));
    COOPER_RETURN_IF_ERROR(c.SetOutput(0, out, "what shape says"));
  } else if (!param.target_shape.empty()) {
    COOPER_ASSIGN_OR_RETURN(PartialShape out, DecodeTargetShape(param, data));
    COOPER_RETURN_IF_ERROR(c.SetOutput(0, out, "what target_shape says"));
  }
  return SameCount(c);
}

COOPER_REGISTER_OP(Reshape)
    .Describe("The same elements under another shape.")
    .Alias("reshape")
    .Param<ReshapeParam>()
    .Inputs({"data"})
    .Shape(ReshapeShape)
    .Type(SameType)
    .Gradient(ReshapeGradient)
    .View()
    .Summary("shape");

struct ReshapeLikeParam {
  std::optional<int64_t> lhs_begin, lhs_end, rhs_begin, rhs_end;

  static void Declare(ParamDeclaration<ReshapeLikeParam>& d) {
    d.Field("lhs_begin", &ReshapeLikeParam::lhs_begin).Doc("first axis of lhs that is replaced");
    d.Field("lhs_end", &ReshapeLikeParam::lhs_end).Doc("axis behind the last that is replaced");
    d.Field("rhs_begin", &ReshapeLikeParam::rhs_begin).Doc("first axis of rhs that is taken");
    d.Field("rhs_end", &ReshapeLikeParam::rhs_end).Doc("axis behind the last that is taken");
  }
};

// Sets the axes [begin, end) of an input of that rank.
absl::Status AxisRange(const char* name, const std::optional<int64_t>& first,
                       const std::optional<int64_t>& last, int rank, int* begin, int* end) {
  int64_t b = first.value_or(0), e = last.value_or(rank);
  if (b < 0) b += rank;
  if (e < 0) e += rank;
  if (b < 0 || e > rank || b > e) {
    return absl::InvalidArgumentError(
        absl::StrCat("axes [", b, ", ", e, ") of input '", name, "' are outside its rank ", rank));
  }
  *begin = static_cast<int>(b);
  *end = static_cast<int>(e);
  return absl::OkStatus();
}

absl::Status ReshapeLikeShape(ShapeContext& c) {
  const auto& param = c.param<ReshapeLikeParam>();
  const PartialShape lhs = c.input(0), rhs = c.input(1);
  if (!lhs.rank_known() || !rhs.rank_known()) return absl::OkStatus();
  int lhs_begin, lhs_end, rhs_begin, rhs_end;
  COOPER_RETURN_IF_ERROR(
      AxisRange("lhs", param.lhs_begin, param.lhs_end, lhs.rank(), &lhs_begin, &lhs_end));
  COOPER_RETURN_IF_ERROR(
      AxisRange("rhs", param.rhs_begin, param.rhs_end, rhs.rank(), &rhs_begin, &rhs_end));
  Dims out(lhs.dims().begin(), lhs.dims().begin() + lhs_begin);
  out.insert(out.end(), rhs.dims().begin() + rhs_begin, rhs.dims().begin() + rhs_end);
  out.insert(out.end(), lhs.dims().begin() + lhs_end, lhs.dims().end());
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, PartialShape(out), "lhs with axes of rhs"));
  return SameCount(c);
}

// Type rule: the dtypes of the two inputs are independent: only the shape of rhs is used.
absl::Status FirstInputType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(0)));
  return c.SetInput(0, c.output(0));
}

COOPER_REGISTER_OP(reshape_like)
    .Describe("lhs under the shape of rhs.")
    .Alias("_npx_reshape_like")
    .Param<ReshapeLikeParam>()
    .Inputs({"lhs", "rhs"})
    .Shape(ReshapeLikeShape)
    .Type(FirstInputType)
    .Gradient(ReshapeGradient)
    .View();

COOPER_OP_EXAMPLE(Reshape, {{"shape", "(-1, 0)"}}, {{2, 3}});

}  // namespace
}  // namespace cooper
