// The positions of all elements of an array. MXNet: src/operator/contrib/index_array.cc.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/index/index_array_param.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

absl::Status IndexArrayShape(ShapeContext& c) {
  const PartialShape& data = c.input(0);
  if (!data.rank_known()) return absl::OkStatus();
  const auto& axes = c.param<IndexArrayParam>().axes;
  std::vector<int64_t> extents(data.dims().begin(), data.dims().end());
  extents.push_back(axes.has_value() ? static_cast<int64_t>(axes->size()) : data.rank());
  if (axes.has_value()) {
    for (int64_t axis : *axes) COOPER_RETURN_IF_ERROR(NormalizeAxis(axis, data.rank()).status());
  }
  return c.SetOutput(0, PartialShape(extents), "(data's shape, number of axes)");
}

COOPER_REGISTER_OP(_contrib_index_array)
    .Describe("The positions of data's elements on its axes, as int64.")
    .Param<IndexArrayParam>()
    .Inputs({"data"})
    .Shape(IndexArrayShape)
    .Type([](TypeContext& c) { return c.SetOutput(0, DType::kInt64); })
    .ReadsShapesAlone();

}  // namespace
}  // namespace cooper
