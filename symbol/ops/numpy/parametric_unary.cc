// NumPy functions of one array with parameters. MXNet:
// src/operator/numpy/np_elemwise_unary_op_basic.cc.

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/parametric_unary_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

// Type rule: powers of ten need not fit the dtypes of integers.
absl::Status AroundType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(SameType(c));
  const TypeContext::Type x = c.input(0);
  const int decimals = c.param<AroundParam>().decimals;
  if (!x.has_value() || IsFloating(*x) || decimals >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("input 'x' is ", DTypeName(*x), " and decimals ",
                                                 decimals, ", expected floats: cast it first"));
}

COOPER_REGISTER_OP(_npi_around)
    .Describe("x rounded to decimals digits, halves to the even digit.")
    .Param<AroundParam>()
    .Inputs({"x"})
    .Shape(SameShape)
    .Type(AroundType)
    .InPlace({{0, 0}})
    .Elementwise();

COOPER_REGISTER_OP(_npi_nan_to_num)
    .Describe("data with numbers for NaN and infinities.")
    .Param<NanToNumParam>()
    .Inputs({"data"})
    .Shape(SameShape)
    .Type(SameType)
    .Gradient([](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
      COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(0));
      return c.Backward("_backward_npi_nan_to_num", {head, c.input(NanToNumArrays::kData)});
    })
    .InPlace({{NanToNumArrays::kData, 0}})
    .Elementwise();

COOPER_REGISTER_OP(_backward_npi_nan_to_num)
    .Describe("ograd where data is finite, else 0.")
    .Param<NanToNumParam>()
    .Inputs({"ograd", "data"})
    .Shape(SameShape)
    .Type(SameType)
    .InPlace({{NanToNumGradientArrays::kOgrad, 0}, {NanToNumGradientArrays::kData, 0}})
    .Elementwise();

}  // namespace
}  // namespace cooper
