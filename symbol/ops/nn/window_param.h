#ifndef COOPER_SYMBOL_OPS_NN_WINDOW_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_WINDOW_PARAM_H_

// Parameters shared by Convolution, Pooling and their relatives: a window that moves over one, two
// or three spatial axes, and the order of axes ("layout"). Shape rules and kernels read tuples
// through the functions of this file.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "symbol/schema/param_schema.h"
#include "symbol/schema/param_text.h"

namespace cooper {

// One number per spatial axis, (w,), (h, w) or (d, h, w); empty if the attribute is absent.
using WindowTuple = std::vector<int64_t>;

// Returns value `axis`, a spatial axis, of an optional tuple; `absent` if the tuple is empty. The
// tuple must have been checked.
inline int64_t WindowValue(const WindowTuple& tuple, int axis, int64_t absent) {
  return tuple.empty() ? absent : tuple[axis];
}

// The order of axes: N is the batch, C the channels, the others are spatial.
enum class Layout : uint8_t { kDefault, kNCW, kNCHW, kNCDHW, kNWC, kNHWC, kNDHWC };

// MXNet's names of the layouts: the values of an operator's `layout` parameter.
inline constexpr EnumNames<Layout> kLayoutNames = {
    {"None", Layout::kDefault}, {"NCW", Layout::kNCW}, {"NCHW", Layout::kNCHW},
    {"NCDHW", Layout::kNCDHW},  {"NWC", Layout::kNWC}, {"NHWC", Layout::kNHWC},
    {"NDHWC", Layout::kNDHWC}};

// Returns whether channels are the last axis instead of axis 1. kDefault means channels first.
// Relies on the order of the enumeration.
inline bool ChannelsLast(Layout layout) { return layout >= Layout::kNWC; }

// The greatest value of a tuple: larger than any image, and small enough that sums and products of
// two values fit int64.
inline constexpr int64_t kMaxWindowValue = int64_t{1} << 30;

// Fails with kInvalidArgument if `tuple` is neither empty nor as long as kernel, or has a value
// below `min` or above kMaxWindowValue.
inline absl::Status CheckWindowTuple(const char* name, const WindowTuple& tuple,
                                     const WindowTuple& kernel, int64_t min) {
  if (!tuple.empty() && tuple.size() != kernel.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " has ", tuple.size(), " values, expected as many as kernel: ", kernel.size()));
  }
  for (int64_t value : tuple) {
    if (value < min) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " has a value ", value, ", expected at least ", min));
    }
    if (value > kMaxWindowValue) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " has a value ", value, ", expected at most ", kMaxWindowValue));
    }
  }
  return absl::OkStatus();
}

// Returns the extent of a dilated kernel: the distance from its first to its last element, plus 1.
// Does not overflow for checked tuples.
inline int64_t DilatedExtent(int64_t kernel, int64_t dilate) { return dilate * (kernel - 1) + 1; }

// Returns "5x5/1" for a kernel and stride, printed: the summary of an operator in drawings. An
// absent tuple is "1", a text that is no tuple is returned as it is. `params` gets empty texts for
// missing keys.
inline std::string WindowSummary(AttrMap& params) {
  const auto extents = [&params](const char* name) -> std::string {
    std::vector<std::string> elements;
    if (!SplitParamTuple(params[name], &elements).ok()) return params[name];
    return elements.empty() ? "1" : absl::StrJoin(elements, "x");
  };
  return absl::StrCat(extents("kernel"), "/", extents("stride"));
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_WINDOW_PARAM_H_
