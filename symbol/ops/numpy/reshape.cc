// NumPy operators that give the elements of an array another shape. MXNet:
// src/operator/numpy/np_matrix_op.cc.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/shape.h"
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

struct NumpyReshapeParam {
  Dims newshape;
  std::string order = "C";

  static void Declare(ParamDeclaration<NumpyReshapeParam>& d) {
    d.Field("newshape", &NumpyReshapeParam::newshape)
        .Required()
        .Doc("the new extents; one may be -1 and is inferred");
    d.Field("order", &NumpyReshapeParam::order).Doc("the order of elements, which must be C");
  }
};

// The codes of newshape of _npx_reshape.
enum Code : int64_t {
  kInfer = -1,      // from the number of elements
  kCopy = -2,       // the input's extent
  kSkip = -3,       // skips an extent of 1 of the input
  kCopyRest = -4,   // all further extents of the input
  kMerge = -5,      // the product of two extents
  kSplitInto = -6,  // splits an extent into the two that follow, of which one may be -1
};

struct NumpyXReshapeParam {
  Dims newshape;
  bool reverse = false;
  std::string order = "C";

  static void Declare(ParamDeclaration<NumpyXReshapeParam>& d) {
    d.Field("newshape", &NumpyXReshapeParam::newshape)
        .Required()
        .Doc(
            "the new extents; -1 is inferred, -2 copies one, -3 skips a 1, -4 copies the rest, -5 "
            "merges two, -6 splits one into the two that follow");
    d.Field("reverse", &NumpyXReshapeParam::reverse)
        .Doc("whether the codes are matched from the last axis on");
    d.Field("order", &NumpyXReshapeParam::order).Doc("the order of elements, which must be C");
  }
};

absl::Status Contradicts(const Dims& newshape, const PartialShape& a, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      "newshape ", PrintParamText(newshape), " does not fit input 'a' ", a.ToString(), ": ", why));
}

// Sets the output's extents to `out`. One of them may be kInfer; it follows from the number of
// elements.
absl::Status SetReshaped(ShapeContext& c, const Dims& newshape, Dims out) {
  const PartialShape& a = c.input(0);
  int64_t rest = 1;
  int inferred = -1;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] >= 0) {
      rest = ExtentProduct(rest, out[i]);
    } else if (inferred >= 0) {
      return Contradicts(newshape, a, "more than one extent is unknown");
    } else {
      inferred = static_cast<int>(i);
    }
  }
  const int64_t total = a.rank_known() ? a.num_elements() : kUnknownDim;
  if (total != kUnknownDim) {
    const bool fits = inferred < 0 ? total == rest : rest > 0 && total % rest == 0;
    if (!fits) return Contradicts(newshape, a, absl::StrCat("it has ", total, " elements"));
    if (inferred >= 0) out[inferred] = total / rest;
  }
  return c.SetOutput(0, PartialShape(out), "the attribute newshape");
}

absl::Status ReshapeShape(ShapeContext& c) {
  const Dims& newshape = c.param<NumpyReshapeParam>().newshape;
  for (int64_t extent : newshape) {
    if (extent < kInfer) {
      return Contradicts(newshape, c.input(0), "expected extents and at most one -1");
    }
  }
  return SetReshaped(c, newshape, newshape);
}

// Returns the output's extents from the codes, -1 for one that is inferred.
absl::StatusOr<Dims> Decode(const Dims& newshape, const Dims& codes, const Dims& source,
                            const PartialShape& a) {
  Dims out;
  size_t at = 0;  // the next extent of source
  for (size_t i = 0; i < codes.size(); ++i) {
    const int64_t code = codes[i];
    const size_t used = code == kMerge                                     ? 2
                        : code == kInfer || code >= 0 || code == kCopyRest ? 0
                                                                           : 1;
    if (used > 0 && source.size() < at + used) {
      return Contradicts(newshape, a, "it has too few axes");
    }
    if (code == kCopy) {
      out.push_back(source[at++]);
    } else if (code == kSkip) {
      if (source[at++] != 1) return Contradicts(newshape, a, "-3 skips extents of 1 only");
    } else if (code == kCopyRest) {
      while (at < source.size()) out.push_back(source[at++]);
    } else if (code == kMerge) {
      out.push_back(ExtentProduct(source[at], source[at + 1]));
      at += 2;
    } else if (code == kSplitInto) {
      if (i + 2 >= codes.size()) return Contradicts(newshape, a, "-6 needs two extents behind it");
      const int64_t whole = source[at++];
      int64_t first = codes[++i], second = codes[++i];
      if (first == kInfer && second > 0) first = whole / second;
      if (second == kInfer && first > 0) second = whole / first;
      if (first < 0 || second < 0 || ExtentProduct(first, second) != whole) {
        return Contradicts(newshape, a, absl::StrCat("-6 cannot split ", whole));
      }
      out.insert(out.end(), {first, second});
    } else if (code >= kInfer) {
      out.push_back(code);
      ++at;
    } else {
      return Contradicts(newshape, a, absl::StrCat("there is no code ", code));
    }
  }
  return out;
}

absl::Status XReshapeShape(ShapeContext& c) {
  const auto& param = c.param<NumpyXReshapeParam>();
  const PartialShape& a = c.input(0);
  if (!a.IsFull()) return absl::OkStatus();
  Dims codes = param.newshape;
  Dims source(a.dims().begin(), a.dims().end());
  if (param.reverse) {
    std::reverse(codes.begin(), codes.end());
    std::reverse(source.begin(), source.end());
  }
  COOPER_ASSIGN_OR_RETURN(Dims out, Decode(param.newshape, codes, source, a));
  if (param.reverse) std::reverse(out.begin(), out.end());
  return SetReshaped(c, param.newshape, std::move(out));
}

struct NumpySqueezeParam {
  std::optional<Dims> axis;

  static void Declare(ParamDeclaration<NumpySqueezeParam>& d) {
    d.Field("axis", &NumpySqueezeParam::axis).Doc("axes to remove; None: all of extent 1");
  }
};

absl::Status SqueezeShape(ShapeContext& c) {
  const PartialShape& a = c.input(0);
  if (!a.IsFull()) return absl::OkStatus();
  const auto& axes = c.param<NumpySqueezeParam>().axis;
  std::vector<bool> removed(a.rank());
  for (int i = 0; !axes.has_value() && i < a.rank(); ++i) removed[i] = a[i] == 1;
  for (size_t k = 0; axes.has_value() && a.rank() > 0 && k < axes->size(); ++k) {
    COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis((*axes)[k], a.rank()));
    if (a[axis] != 1 || removed[axis]) {
      return absl::InvalidArgumentError(absl::StrCat("cannot remove axis ", (*axes)[k],
                                                     " of input 'a' ", a.ToString(),
                                                     ": expected different axes of extent 1"));
    }
    removed[axis] = true;
  }
  Dims out;
  for (int i = 0; i < a.rank(); ++i) {
    if (!removed[i]) out.push_back(a[i]);
  }
  return c.SetOutput(0, PartialShape(out), "a without the axes");
}

COOPER_REGISTER_OP(_np_reshape)
    .Describe("The same elements under another shape.")
    .Param<NumpyReshapeParam>()
    .Inputs({"a"})
    .Shape(ReshapeShape)
    .Type(SameType)
    .Gradient(ReshapeGradient)
    .View();

COOPER_REGISTER_OP(_npx_reshape)
    .Alias("_npi_reshape")
    .Describe("The same elements under another shape, which codes may take from the input's.")
    .Param<NumpyXReshapeParam>()
    .Inputs({"a"})
    .Shape(XReshapeShape)
    .Type(SameType)
    .Gradient(ReshapeGradient)
    .View();

COOPER_REGISTER_OP(_np_squeeze)
    .Describe("a without axes of extent 1.")
    .Param<NumpySqueezeParam>()
    .Inputs({"a"})
    .Shape(SqueezeShape)
    .Type(SameType)
    .Gradient(ReshapeGradient)
    .View();

COOPER_OP_EXAMPLE(_np_reshape, {{"newshape", "(3, -1)"}}, {{2, 3}});
COOPER_OP_EXAMPLE(_npx_reshape, {{"newshape", "(-5,)"}}, {{2, 3}});

}  // namespace
}  // namespace cooper
