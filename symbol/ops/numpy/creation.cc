// NumPy operators that create arrays. MXNet: src/operator/numpy/np_init_op.cc.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

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

// Shape rule: unlike that of _arange it gives no element if stop is not beyond start, and ignores
// infer_range.
absl::Status ArangeShape(ShapeContext& c) {
  const auto& param = c.param<ArangeParam>();
  const double first = param.first();
  const double stop = param.stop.value_or(param.start);
  constexpr double kMaxElements = int64_t{1} << 59;  // their bytes fit int64
  const double size = std::max(std::ceil((stop - first) / param.step), 0.0);
  if (param.step == 0 || param.repeat != 1 || !(size <= kMaxElements)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no range from ", first, " to ", stop, " in steps of ", param.step, " with repeat ",
        param.repeat, ": expected steps other than 0 and a repeat of 1"));
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

absl::Status IdentityShape(ShapeContext& c) {
  const auto& shape = c.param<NumpyInitParam>().shape;
  if (shape.size() == 2) return InitShape(c);
  return absl::InvalidArgumentError(
      absl::StrCat("shape is ", PrintParamText(shape), ", expected that of a matrix"));
}

absl::Status EyeShape(ShapeContext& c) {
  const auto& param = c.param<NumpyEyeParam>();
  return c.SetOutput(0, {param.rows, param.columns.value_or(param.rows)}, "(N, M)");
}

absl::Status IndicesShape(ShapeContext& c) {
  const auto& dimensions = c.param<IndicesParam>().dimensions;
  std::vector<int64_t> extents = {static_cast<int64_t>(dimensions.size())};
  extents.insert(extents.end(), dimensions.begin(), dimensions.end());
  for (int64_t extent : dimensions) {
    if (extent >= 0) continue;
    return absl::InvalidArgumentError(absl::StrCat("dimensions has the extent ", extent));
  }
  return c.SetOutput(0, PartialShape(extents), "(number of dimensions, dimensions)");
}

absl::Status LogspaceShape(ShapeContext& c) {
  return c.SetOutput(0, {c.param<LogspaceParam>().num}, "(num,)");
}

absl::Status WindowShape(ShapeContext& c) {
  const int64_t points = c.param<WindowParam>().points.value_or(0);
  return c.SetOutput(0, {std::max<int64_t>(points, 0)}, "(M,)");
}

template <typename Param>
absl::Status AttributeType(TypeContext& c) {
  return c.SetOutput(0, c.param<Param>().dtype);
}

template <typename Param>
OpBuilder Creation(const char* name, const char* doc, OpSchema::ShapeFn shape) {
  OpBuilder builder(name);
  std::move(builder)
      .Describe(doc)
      .Param<Param>()
      .Inputs(NoInputs)
      .Shape(std::move(shape))
      .Type(AttributeType<Param>);
  return builder;
}

const OpRegistrar kIdentity =
    Creation<NumpyInitParam>("_npi_identity", "Ones on the main diagonal.", IdentityShape);
const OpRegistrar kEye =
    Creation<NumpyEyeParam>("_npi_eye", "Ones on a diagonal, else zeros.", EyeShape);
const OpRegistrar kIndices = Creation<IndicesParam>(
    "_npi_indices", "The positions along each axis of a grid.", IndicesShape);
const OpRegistrar kLogspace = Creation<LogspaceParam>(
    "_npi_logspace", "num numbers whose logarithms are evenly spaced.", LogspaceShape);
const OpRegistrar kHanning =
    Creation<WindowParam>("_npi_hanning", "The Hanning window.", WindowShape);
const OpRegistrar kHamming =
    Creation<WindowParam>("_npi_hamming", "The Hamming window.", WindowShape);
const OpRegistrar kBlackman =
    Creation<WindowParam>("_npi_blackman", "The Blackman window.", WindowShape);

COOPER_OP_EXAMPLE(_npi_identity, {{"shape", "(3, 3)"}}, {});
COOPER_OP_EXAMPLE(_npi_eye, {{"N", "3"}}, {});
COOPER_OP_EXAMPLE(_npi_indices, {{"dimensions", "(2, 3)"}}, {});
COOPER_OP_EXAMPLE(_npi_logspace, {{"start", "0"}, {"stop", "2"}, {"num", "5"}}, {});
COOPER_OP_EXAMPLE(_npi_hanning, {{"M", "5"}}, {});
COOPER_OP_EXAMPLE(_npi_hamming, {{"M", "5"}}, {});
COOPER_OP_EXAMPLE(_npi_blackman, {{"M", "5"}}, {});

}  // namespace
}  // namespace cooper
