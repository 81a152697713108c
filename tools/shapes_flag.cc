#include "tools/shapes_flag.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

absl::Status PartError(const std::string& part, const std::string& expected) {
  return absl::InvalidArgumentError(absl::StrCat("'", part, "': expected ", expected));
}

absl::StatusOr<PartialShape> ParseExtents(const std::string& part, const std::string& text) {
  std::vector<int64_t> dims;
  for (absl::string_view extent : absl::StrSplit(text, ',')) {
    int64_t& dim = dims.emplace_back(kUnknownDim);
    if (absl::StripAsciiWhitespace(extent) == "?") continue;
    if (!absl::SimpleAtoi(extent, &dim) || dim < kUnknownDim) {
      return PartError(part, "a name, a colon and extents with commas between, such as data:32,10");
    }
  }
  return PartialShape(dims);
}

}  // namespace

absl::StatusOr<KnownShapes> ParseShapesFlag(const std::string& text) {
  KnownShapes shapes;
  const std::vector<std::string> parts = absl::StrSplit(text, ';', absl::SkipWhitespace());
  for (const std::string& part : parts) {
    const size_t colon = part.rfind(':');
    const std::string name(
        absl::StripAsciiWhitespace(colon != std::string::npos ? part.substr(0, colon) : ""));
    COOPER_ASSIGN_OR_RETURN(PartialShape shape,
                            ParseExtents(part, name.empty() ? "" : part.substr(colon + 1)));
    if (!shapes.emplace(name, std::move(shape)).second) {
      return PartError(part, absl::StrCat("one shape only for '", name, "'"));
    }
  }
  return shapes;
}

}  // namespace cooper
