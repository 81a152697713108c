// NumPy's pad. MXNet: src/operator/numpy/np_pad_op.cc.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/pad_param.h"
#include "symbol/ops/numpy/same_as.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

absl::Status NumpyPadShape(ShapeContext& c) {
  const std::string& type = c.param<NumpyPadParam>().reflect_type;
  if (type == "even") return ShapeOf("Pad")(c);
  return absl::InvalidArgumentError(absl::StrCat("reflect_type is '", type, "', expected 'even'"));
}

COOPER_REGISTER_OP(_npi_pad)
    .Describe("data with new elements around it.")
    .Param<NumpyPadParam>()
    .Inputs({"data"})
    .Shape(NumpyPadShape)
    .Type(SameType)
    .Gradient(GradientOf("Pad"));

COOPER_OP_EXAMPLE(_npi_pad, {{"pad_width", "((1, 1), (2, 0))"}}, {{2, 3}});

}  // namespace
}  // namespace cooper
