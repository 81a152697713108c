#include "symbol/schema/param_schema.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "ndarray/base/near_names.h"

namespace cooper {
namespace {

bool IsHidden(const std::string& key) {
  return key.size() > 4 && absl::StartsWith(key, "__") && absl::EndsWith(key, "__");
}

}  // namespace

absl::StatusOr<std::shared_ptr<const void>> ParamSchema::Parse(const AttrMap& attrs) const {
  // Reports unknown keys before missing ones: a missing key may have been misspelt.
  for (const auto& [key, text] : attrs) {
    if (IsKnown(key) || IsHidden(key)) continue;
    return absl::InvalidArgumentError(absl::StrCat("unknown attribute ", key, "='", text,
                                                   "'; known are ", FieldNames(), Suggestion(key)));
  }
  std::shared_ptr<void> params = make_();
  for (const ParamField& field : fields_) {
    auto it = attrs.find(field.name);
    if (it == attrs.end()) {
      if (!field.required) continue;
      return absl::InvalidArgumentError(absl::StrCat("attribute '", field.name, "' is required"));
    }
    COOPER_RETURN_IF_ERROR(AddContext(field.parse(it->second, params.get()), "attribute ",
                                      field.name, "='", it->second, "'"));
  }
  return std::shared_ptr<const void>(std::move(params));
}

absl::Status ParamSchema::Read(const AttrMap& texts, absl::string_view what, void* options) const {
  // Reports unknown names before missing ones, as in Parse.
  for (const auto& [name, text] : texts) {
    if (IsKnown(name)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        what, ": unknown argument '", name, "', expected one of ", FieldNames(), Suggestion(name)));
  }
  for (const ParamField& field : fields_) {
    const auto it = texts.find(field.name);
    if (it == texts.end()) {
      if (!field.required) continue;
      return absl::InvalidArgumentError(absl::StrCat(what, ": ", field.name, " is missing"));
    }
    COOPER_RETURN_IF_ERROR(AddContext(field.parse(it->second, options), what, ": ", field.name,
                                      " is '", it->second, "'"));
  }
  return absl::OkStatus();
}

bool ParamSchema::IsKnown(const std::string& name) const {
  return std::any_of(fields_.begin(), fields_.end(),
                     [&](const ParamField& field) { return field.name == name; });
}

std::string ParamSchema::FieldNames() const {
  return absl::StrJoin(fields_, ", ",
                       [](std::string* out, const ParamField& field) { out->append(field.name); });
}

std::string ParamSchema::Suggestion(const std::string& name) const {
  std::vector<absl::string_view> known;
  for (const ParamField& field : fields_) known.push_back(field.name);
  return DidYouMean(name, known);
}

AttrMap ParamSchema::Print(const void* params) const {
  AttrMap attrs;
  for (const ParamField& field : fields_) attrs[field.name] = field.print(params);
  return attrs;
}

}  // namespace cooper
