#ifndef COOPER_SYMBOL_OPS_SHAPE_PAD_PARAM_H_
#define COOPER_SYMBOL_OPS_SHAPE_PAD_PARAM_H_

// Parameters of Pad, and the mapping of indices that its kernels share. The schema is in pad.cc.
// MXNet: src/operator/pad-inl.h, which supports ranks 4 and 5 only and does not pad the first two
// axes.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "ndarray/base/host_device.h"
#include "ndarray/base/status_macros.h"
#include "symbol/schema/param_schema.h"
#include "symbol/schema/param_text.h"

namespace cooper {

// Widths of a padding: two numbers, before and after, for each axis in turn.
struct PadWidths : std::vector<int64_t> {
  using vector::vector;
};

// Parses "(1, 2, 0, 3)", or pairs as NumPy writes them, "((1, 2), (0, 3))". Fails with
// kInvalidArgument for other texts. After a failure `widths` may hold some of the numbers. The
// number of widths is not compared with any rank here.
inline absl::Status ParseParamText(const std::string& text, PadWidths* widths) {
  widths->clear();
  if (!absl::StartsWith(text, "((") && !absl::StartsWith(text, "[[")) {
    return ParseParamText(text, static_cast<std::vector<int64_t>*>(widths));
  }
  for (size_t begin = 1; begin < text.size();) {
    const size_t end = text.find_first_of(")]", begin);
    std::vector<int64_t> pair;
    if (end == std::string::npos) return absl::InvalidArgumentError("expected pairs in brackets");
    COOPER_RETURN_IF_ERROR(ParseParamText(text.substr(begin, end + 1 - begin), &pair));
    if (pair.size() != 2) return absl::InvalidArgumentError("expected pairs of widths");
    widths->insert(widths->end(), pair.begin(), pair.end());
    begin = text.find_first_not_of(", ", end + 1);
    const bool is_last = begin + 1 == text.size();
    if (is_last && (text[begin] == ')' || text[begin] == ']')) return absl::OkStatus();
  }
  return absl::InvalidArgumentError("expected pairs in brackets");
}
// Messages call the type what they call other lists of integers.
inline std::string ParamTypeName(const PadWidths* widths) {
  return ParamTypeName(static_cast<const std::vector<int64_t>*>(widths));
}

// The output has data's extents plus pad_width: two numbers, before and after, for each axis in
// turn. New elements are constant_value, the nearest element of data (edge), or data mirrored at
// its first and last element, which are not repeated (reflect): 1 2 3 padded by 2 is 3 2 1 2 3 2 1.
// In mode symmetric, which only _npi_pad has, they are repeated: 2 1 1 2 3 3 2. The gradient of an
// element is the sum of ograd over the elements that have its value; constants have none. On a
// padded axis edge needs an extent of at least 1, reflect an extent above both widths.
//
// Shape inference fails with kInvalidArgument for negative widths and for widths above 2^40.
struct PadParam {
  enum Mode { kConstant, kEdge, kReflect, kSymmetric };

  Mode mode = kConstant;
  PadWidths pad_width;  // before and after, axis by axis
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
    const int64_t mirrored = i < 0 ? -i : 2 * (len - 1) - i;
    if (mode == kReflect) return mirrored;
    return i < 0 ? mirrored - 1 : mirrored + 1;
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_SHAPE_PAD_PARAM_H_
