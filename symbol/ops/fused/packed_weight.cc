// Reorders a weight for the kernels of convolutions. Not in symbol files: a graph pass inserts it
// for constant weights.

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/fused/packed_weight_param.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

// Limits for any convolution: with larger blocks a text could request far more memory than the
// weight has.
constexpr int64_t kMaxBlockElements = 4096;
constexpr size_t kMaxAxes = 6;

absl::Status CheckPacking(const PackedWeightParam& param) {
  const auto axes = static_cast<int64_t>(param.shape.size());
  if (axes == 0 || param.shape.size() > kMaxAxes ||
      absl::c_any_of(param.shape, [](int64_t extent) { return extent < 1; })) {
    return absl::InvalidArgumentError(absl::StrCat("shape (", absl::StrJoin(param.shape, ", "),
                                                   "), expected 1 to ", kMaxAxes,
                                                   " extents above 0"));
  }
  std::vector<int64_t> sorted = param.outer;
  absl::c_sort(sorted);
  bool is_order = sorted.size() == param.shape.size();
  for (int64_t i = 0; is_order && i < axes; ++i) is_order = sorted[i] == i;
  if (!is_order) {
    return absl::InvalidArgumentError(absl::StrCat("outer (", absl::StrJoin(param.outer, ", "),
                                                   ") is not an order of ", axes, " axes"));
  }
  int64_t block = 1;
  bool fits = param.block_axes.size() == param.block_sizes.size();
  for (size_t i = 0; fits && i < param.block_axes.size(); ++i) {
    fits = param.block_axes[i] >= 0 && param.block_axes[i] < axes && param.block_sizes[i] >= 1;
    if (fits) block = ExtentProduct(block, param.block_sizes[i]);
    fits = fits && block <= kMaxBlockElements;
  }
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("block_axes (", absl::StrJoin(param.block_axes, ", "), ") and block_sizes (",
                   absl::StrJoin(param.block_sizes, ", "), "), expected as many axes as sizes, of ",
                   "which ", kMaxBlockElements, " is the greatest product"));
}

absl::Status PackedWeightShape(ShapeContext& c) {
  const auto& param = c.param<PackedWeightParam>();
  COOPER_RETURN_IF_ERROR(CheckPacking(param));
  int64_t elements = 1;
  for (const int64_t extent : param.shape) elements = ExtentProduct(elements, extent);
  // The size after rounding up to blocks, slices and alignment must fit int64.
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  if (ExtentProduct(elements, 32 * kMaxBlockElements) == kMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("shape (", absl::StrJoin(param.shape, ", "), ") has too many elements"));
  }
  if (c.input(0).IsFull() && c.input(0).ToShape().num_elements() != elements) {
    return absl::InvalidArgumentError(absl::StrCat("input 'weight' ", c.input(0).ToString(),
                                                   " has other elements than shape (",
                                                   absl::StrJoin(param.shape, ", "), ")"));
  }
  return c.SetOutput(0, {param.num_elements()});
}

COOPER_REGISTER_OP(_packed_weight)
    .Describe("A weight in the order that convolutions read it in.")
    .Param<PackedWeightParam>()
    .Inputs({"weight"})
    .Shape(PackedWeightShape)
    .Type(SameType);

COOPER_OP_EXAMPLE(_packed_weight,
                  {{"shape", "(16, 8, 3, 3)"},
                   {"slice", "16"},
                   {"outer", "(0, 1, 2, 3)"},
                   {"block_axes", "(1, 0)"},
                   {"block_sizes", "(8, 8)"}},
                  {{16, 8, 3, 3}});

}  // namespace
}  // namespace cooper
