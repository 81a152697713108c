// Encodes indices as vectors. MXNet: src/operator/tensor/indexing_op.h.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/index/one_hot_param.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

// Shape rule: indices (...), output (..., depth).
absl::Status OneHotShape(ShapeContext& c) {
  if (c.input(0).rank_known()) {
    std::vector<int64_t> dims(c.input(0).dims().begin(), c.input(0).dims().end());
    dims.push_back(c.param<OneHotParam>().depth);
    return c.SetOutput(0, PartialShape(dims), "(..., depth)");
  }
  if (c.output(0).rank() == 0) return absl::OkStatus();
  return c.SetInput(0, PartialShape(c.output(0).dims().first(c.output(0).rank() - 1)),
                    "the output's shape without depth");
}

COOPER_REGISTER_OP(one_hot)
    .Describe("on_value at each index of a new last axis, off_value elsewhere.")
    .Alias("_npx_one_hot")
    .Param<OneHotParam>()
    .Inputs({"indices"})
    .Shape(OneHotShape)
    .Type([](TypeContext& c) { return c.SetOutput(0, c.param<OneHotParam>().dtype); });

}  // namespace
}  // namespace cooper
