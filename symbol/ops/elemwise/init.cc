// Operators that create arrays without inputs. MXNet: src/operator/tensor/init_op.cc.

#include <cmath>

#include "absl/strings/str_cat.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/elemwise/init_param.h"
#include "symbol/ops/rules/attribute_shape.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

template <typename P>
absl::Status InitShape(ShapeContext& c) {
  return ShapeOfAttribute(c, c.param<P>().shape);
}

template <typename P>
absl::Status InitType(TypeContext& c) {
  return c.SetOutput(0, c.param<P>().dtype);
}

absl::Status ArangeShape(ShapeContext& c) {
  const auto& param = c.param<ArangeParam>();
  if (param.infer_range && !param.stop.has_value()) {
    return c.SetOutput(0, PartialShape::OfRank(1), "(size,)");
  }
  const double first = param.first();
  const double stop = param.stop.value_or(param.start);
  constexpr double kMaxElements = int64_t{1} << 59;  // their bytes fit int64
  const double values = std::ceil((stop - first) / param.step);
  const double size = values * static_cast<double>(param.repeat);
  if (param.step == 0 || !(size >= 0 && size <= kMaxElements)) {
    return absl::InvalidArgumentError(absl::StrCat("no range from ", first, " to ", stop,
                                                   " in steps of ", param.step, ", each repeated ",
                                                   param.repeat, " times"));
  }
  return c.SetOutput(0, {static_cast<int64_t>(values) * param.repeat},
                     "(ceil((stop - start) / step) * repeat,)");
}

absl::Status ArangeLikeShape(ShapeContext& c) {
  const auto& param = c.param<ArangeLikeParam>();
  if (!param.axis.has_value()) return SameShape(c);
  if (!c.input(0).rank_known()) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(*param.axis, c.input(0).rank()));
  return c.SetOutput(0, {c.input(0)[axis]}, "(extent of the axis,)");
}

absl::Status LinspaceShape(ShapeContext& c) {
  return c.SetOutput(0, {c.param<LinspaceParam>().num}, "(num,)");
}

absl::Status EyeShape(ShapeContext& c) {
  const auto& param = c.param<EyeParam>();
  return c.SetOutput(0, {param.rows, param.columns > 0 ? param.columns : param.rows}, "(N, M)");
}

COOPER_REGISTER_OP(_zeros)
    .Describe("An array of zeros.")
    .Param<InitParam>()
    .Inputs(NoInputs)
    .Shape(InitShape<InitParam>)
    .Type(InitType<InitParam>)
    .Elementwise();

COOPER_REGISTER_OP(_ones)
    .Describe("An array of ones.")
    .Param<InitParam>()
    .Inputs(NoInputs)
    .Shape(InitShape<InitParam>)
    .Type(InitType<InitParam>)
    .Elementwise();

COOPER_REGISTER_OP(_full)
    .Describe("An array of one value.")
    .Param<FullParam>()
    .Inputs(NoInputs)
    .Shape(InitShape<FullParam>)
    .Type(InitType<FullParam>);

COOPER_REGISTER_OP(_arange)
    .Describe("start, start + step, ... before stop, each repeated.")
    .Param<ArangeParam>()
    .Inputs(NoInputs)
    .Shape(ArangeShape)
    .Type(InitType<ArangeParam>);

COOPER_REGISTER_OP(_contrib_arange_like)
    .Describe("start, start + step, ... as many as the input or one of its axes has.")
    .Param<ArangeLikeParam>()
    .Shape(ArangeLikeShape)
    .Type(SameType)
    .ReadsShapesAlone();

COOPER_REGISTER_OP(_linspace)
    .Describe("num values from start to stop, evenly spaced.")
    .Param<LinspaceParam>()
    .Inputs(NoInputs)
    .Shape(LinspaceShape)
    .Type(InitType<LinspaceParam>);

COOPER_REGISTER_OP(_eye)
    .Describe("Ones on a diagonal, else zeros.")
    .Param<EyeParam>()
    .Inputs(NoInputs)
    .Shape(EyeShape)
    .Type(InitType<EyeParam>);

COOPER_REGISTER_OP(zeros_like)
    .Describe("Zeros of the input's shape and dtype.")
    .Shape(SameShape)
    .Type(SameType)
    .Elementwise()
    .ReadsShapesAlone();

COOPER_REGISTER_OP(ones_like)
    .Describe("Ones of the input's shape and dtype.")
    .Shape(SameShape)
    .Type(SameType)
    .Elementwise()
    .ReadsShapesAlone();

absl::Status Int64Type(TypeContext& c) { return c.SetOutput(0, DType::kInt64); }

COOPER_REGISTER_OP(shape_array)
    .Describe("The input's extents.")
    .Shape([](ShapeContext& c) -> absl::Status {
      if (!c.input(0).rank_known()) return absl::OkStatus();
      return c.SetOutput(0, {c.input(0).rank()}, "(rank,)");
    })
    .Type(Int64Type)
    .ReadsShapesAlone();

COOPER_REGISTER_OP(size_array)
    .Describe("The input's number of elements.")
    .Shape([](ShapeContext& c) { return c.SetOutput(0, {1}, "(1,)"); })
    .Type(Int64Type)
    .ReadsShapesAlone();

COOPER_OP_EXAMPLE(_full, {{"shape", "(2, 3)"}, {"value", "7"}}, {});

}  // namespace
}  // namespace cooper
