// NumPy operators that create arrays. MXNet: src/operator/numpy/np_init_op.cc.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/elemwise/init_param.h"
#include "symbol/ops/numpy/creation_param.h"
#include "symbol/ops/rules/attribute_shape.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

absl::Status InitShape(ShapeContext& c) {
  return c.SetOutput(0, PartialShape(c.param<NumpyInitParam>().shape), "the attribute shape");
}

absl::Status InitType(TypeContext& c) { return c.SetOutput(0, c.param<NumpyInitParam>().dtype); }

// Shape rule: unlike that of _arange it gives no element if stop is not beyond start.
absl::Status ArangeShape(ShapeContext& c) {
  const auto& param = c.param<ArangeParam>();
  const double first = param.first();
  const double stop = param.stop.value_or(param.start);
  constexpr double kMaxElements = int64_t{1} << 59;  // their bytes fit int64
  const double size = std::max(std::ceil((stop - first) / param.step), 0.0);
  if (param.step == 0 || param.repeat != 1 || param.infer_range || !(size <= kMaxElements)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no range from ", first, " to ", stop, " in steps of ", param.step, " with repeat ",
        param.repeat, ": expected steps other than 0, a repeat of 1 ", "and no infer_range"));
  }
  return c.SetOutput(0, {static_cast<int64_t>(size)}, "(ceil((stop - start) / step),)");
}

absl::Status ArangeType(TypeContext& c) { return c.SetOutput(0, c.param<ArangeParam>().dtype); }

absl::Status FullLikeType(TypeContext& c) {
  const auto& dtype = c.param<NumpyFullLikeParam>().dtype;
  return dtype.has_value() ? c.SetOutput(0, dtype) : SameType(c);
}

COOPER_REGISTER_OP(_npi_zeros)
    .Describe("An array of zeros.")
    .Param<NumpyInitParam>()
    .Inputs(NoInputs)
    .Shape(InitShape)
    .Type(InitType)
    .Elementwise();

COOPER_REGISTER_OP(_npi_ones)
    .Describe("An array of ones.")
    .Param<NumpyInitParam>()
    .Inputs(NoInputs)
    .Shape(InitShape)
    .Type(InitType)
    .Elementwise();

COOPER_REGISTER_OP(_npi_arange)
    .Describe("start, start + step, ... before stop.")
    .Param<ArangeParam>()
    .Inputs(NoInputs)
    .Shape(ArangeShape)
    .Type(ArangeType);

COOPER_REGISTER_OP(_npi_full_like)
    .Describe("One value in every element of an array of the input's shape.")
    .Param<NumpyFullLikeParam>()
    .Inputs({"a"})
    .Shape(SameShape)
    .Type(FullLikeType)
    .ReadsShapesAlone();

COOPER_OP_EXAMPLE(_npi_full_like, {{"fill_value", "7"}}, {{2, 3}});

}  // namespace
}  // namespace cooper
