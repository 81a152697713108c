#include "symbol/param_schema.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"

namespace cooper {
namespace {

bool IsHidden(const std::string& key) {
  return key.size() > 4 && absl::StartsWith(key, "__") && absl::EndsWith(key, "__");
}

}  // namespace

absl::StatusOr<std::shared_ptr<const void>> ParamSchema::Parse(const AttrMap& attrs) const {
  std::shared_ptr<void> params = make_();
  for (const ParamField& field : fields_) {
    auto it = attrs.find(field.name);
    if (it == attrs.end()) {
      if (!field.required) continue;
      return absl::InvalidArgumentError(absl::StrCat("attribute '", field.name, "' is required"));
    }
    absl::Status status = field.parse(it->second, params.get());
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("attribute ", field.name, "='", it->second, "': ", status.message()));
    }
  }
  for (const auto& [key, text] : attrs) {
    const std::string& name = key;
    const bool known = std::any_of(fields_.begin(), fields_.end(),
                                   [&](const ParamField& f) { return f.name == name; });
    if (known || IsHidden(key)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "unknown attribute ", key, "='", text, "'; known are ",
        absl::StrJoin(fields_, ", ",
                      [](std::string* out, const ParamField& f) { out->append(f.name); })));
  }
  return std::shared_ptr<const void>(std::move(params));
}

AttrMap ParamSchema::Print(const void* params) const {
  AttrMap attrs;
  for (const ParamField& field : fields_) attrs[field.name] = field.print(params);
  return attrs;
}

}  // namespace cooper
