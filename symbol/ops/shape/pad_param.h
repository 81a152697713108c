#ifndef COOPER_SYMBOL_OPS_SHAPE_PAD_PARAM_H_
#define COOPER_SYMBOL_OPS_SHAPE_PAD_PARAM_H_

// Parameters of Pad, and the mapping of indices that its kernels share. The schema is in pad.cc.
// MXNet: src/operator/pad-inl.h, which supports ranks 4 and 5 only and does not pad the first two
// axes.

#include <cstdint>
#include <vector>

#include "ndarray/base/host_device.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// The output has data's extents plus pad_width: two numbers, before and after, for each axis in
// turn. New elements are constant_value, the nearest element of data (edge), or data mirrored at
// its first and last element, which are not repeated (reflect): 1 2 3 padded by 2 is 3 2 1 2 3 2 1.
// The gradient of an element is the sum of ograd over the elements that have its value; constants
// have none. On a padded axis edge needs an extent of at least 1, reflect an extent above both
// widths.
//
// Shape inference fails with kInvalidArgument for negative widths and for widths above 2^40.
struct PadParam {
  enum Mode { kConstant, kEdge, kReflect };

  Mode mode = kConstant;
  std::vector<int64_t> pad_width;  // before and after, axis by axis
  double constant_value = 0;

  static void Declare(ParamDeclaration<PadParam>& d) {
    d.Enum("mode", &PadParam::mode,
           {{"constant", kConstant}, {"edge", kEdge}, {"reflect", kReflect}})
        .Required()
        .Doc("what the new elements are: constant_value, the nearest of data, or data mirrored");
    d.Field("pad_width", &PadParam::pad_width)
        .Required()
        .Doc("number of new elements before and after, for each axis in turn");
    d.Field("constant_value", &PadParam::constant_value).Doc("value of mode constant");
  }

  // Returns the index on data's axis, of extent `len`, whose value the output has at index `i`; -1
  // for constant_value.
  int64_t source(int axis, int64_t i, int64_t len) const {
    return SourceOf(mode, i - pad_width[2 * axis], len);
  }
  // Returns the same index as source() does, for an `i` that counts from data's first element: it
  // is negative in the padding before data. Requires the widths that the shape rule allows: one
  // reflection is then enough.
  COOPER_HOST_DEVICE static int64_t SourceOf(Mode mode, int64_t i, int64_t len) {
    if (i >= 0 && i < len) return i;
    if (mode == kConstant) return -1;
    if (mode == kEdge) return i < 0 ? 0 : len - 1;
    return i < 0 ? -i : 2 * (len - 1) - i;
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_SHAPE_PAD_PARAM_H_
