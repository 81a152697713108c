// Puts the rows of an array into a random order. MXNet: src/operator/random/shuffle_op.cc.

#include "absl/status/status.h"
#include "ndarray/base/status_macros.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

COOPER_REGISTER_OP(_shuffle)
    .Describe("The rows of data in a random order; no gradient, as in MXNet.")
    .Alias("shuffle")
    .Alias("_npi_shuffle")
    .Inputs({"data"})
    .Shape([](ShapeContext& c) -> absl::Status {
      COOPER_RETURN_IF_ERROR(SameShape(c));
      if (!c.input(0).rank_known() || c.input(0).rank() > 0) return absl::OkStatus();
      return absl::InvalidArgumentError("input 'data' () has no rows");
    })
    .Type(SameType)
    .Random();

}  // namespace
}  // namespace cooper
