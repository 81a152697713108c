#include "io/batch/data_desc.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cooper {

std::string DataDesc::ToString() const {
  return absl::StrCat(name, " ", shape.ToString(), " ", DTypeName(dtype), " ", layout);
}

std::ostream& operator<<(std::ostream& os, const DataDesc& desc) { return os << desc.ToString(); }

int BatchAxis(absl::string_view layout) {
  if (layout.empty()) return 0;
  const size_t axis = layout.find('N');
  return axis == absl::string_view::npos ? -1 : static_cast<int>(axis);
}

int64_t BatchSizeOf(const std::vector<DataDesc>& descs) {
  if (descs.empty()) return 1;
  const int axis = std::max(0, BatchAxis(descs[0].layout));
  return axis < descs[0].shape.rank() ? descs[0].shape[axis] : 1;
}

std::string DescsToString(const std::vector<DataDesc>& descs) {
  return absl::StrJoin(descs, ", ", [](std::string* out, const DataDesc& desc) {
    absl::StrAppend(out, desc.ToString());
  });
}

}  // namespace cooper
