#include "io/data_desc.h"

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

std::string DescsToString(const std::vector<DataDesc>& descs) {
  return absl::StrJoin(descs, ", ", [](std::string* out, const DataDesc& desc) {
    absl::StrAppend(out, desc.ToString());
  });
}

}  // namespace cooper
