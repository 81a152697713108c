#include "tools/onnx/dims_flag.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

bool IsName(absl::string_view text) {
  return !text.empty() && !absl::ascii_isdigit(text[0]) &&
         absl::c_all_of(text, [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

bool ParseExtent(absl::string_view text, int64_t* extent) {
  return absl::SimpleAtoi(text, extent) && *extent > 0;
}

absl::StatusOr<InputDim> ParseDim(const std::string& part, absl::string_view text) {
  InputDim dim;
  if (ParseExtent(text, &dim.extent)) return dim;
  const std::pair<absl::string_view, absl::string_view> name_and_value = absl::StrSplit(text, '=');
  dim.symbol = std::string(name_and_value.first);
  const bool has_value = absl::StrContains(text, '=');
  dim.extent = 0;
  if (IsName(dim.symbol) && (!has_value || ParseExtent(name_and_value.second, &dim.extent))) {
    return dim;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", part, "': extent '", text,
                   "', expected a number above 0, a name, or both: 32, batch or length=60"));
}

}  // namespace

absl::StatusOr<InputDims> ParseDimsFlag(const std::string& text) {
  InputDims inputs;
  const std::vector<std::string> parts = absl::StrSplit(text, ';', absl::SkipWhitespace());
  for (const std::string& part : parts) {
    const size_t colon = part.rfind(':');
    if (colon == std::string::npos || colon == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", part, "': expected a name, a colon and extents, such as data:batch,3,224,224"));
    }
    std::vector<InputDim> dims;
    const std::string extents = part.substr(colon + 1);
    for (absl::string_view extent : absl::StrSplit(extents, ',')) {
      COOPER_ASSIGN_OR_RETURN(dims.emplace_back(), ParseDim(part, extent));
    }
    if (!inputs.emplace(part.substr(0, colon), std::move(dims)).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", part, "': the input has a shape already"));
    }
  }
  return inputs;
}

}  // namespace cooper
