#include "module/kwargs/json_kwargs.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ndarray/base/status_macros.h"
#include "nlohmann/json.hpp"

namespace cooper {
namespace {

using Json = nlohmann::json;

Json Parse(absl::string_view text) {
  return Json::parse(text.begin(), text.end(), /*cb=*/nullptr, /*allow_exceptions=*/false);
}

std::string ToText(const Json& value) {
  if (value.is_null()) return "None";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array() && std::none_of(value.begin(), value.end(),
                                       [](const Json& element) { return element.is_object(); })) {
    return absl::StrCat(
        "(",
        absl::StrJoin(value, ", ",
                      [](std::string* out, const Json& element) { out->append(ToText(element)); }),
        value.size() == 1 ? ",)" : ")");
  }
  return value.dump();
}

absl::StatusOr<Kwargs> FromObject(const Json& object, absl::string_view text) {
  if (!object.is_object()) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a JSON object"));
  }
  Kwargs kwargs;
  for (const auto& [name, value] : object.items()) kwargs[name] = ToText(value);
  return kwargs;
}

}  // namespace

absl::StatusOr<Kwargs> KwargsFromJson(absl::string_view json) {
  return FromObject(Parse(json), json);
}

absl::StatusOr<std::pair<std::string, Kwargs>> NameAndKwargsFromJson(absl::string_view json) {
  const Json parsed = Parse(json);
  if (!parsed.is_array() || parsed.size() != 2 || !parsed[0].is_string()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", json, "' is not a JSON list of a name and an object"));
  }
  COOPER_ASSIGN_OR_RETURN(Kwargs kwargs, FromObject(parsed[1], json));
  return std::make_pair(parsed[0].get<std::string>(), std::move(kwargs));
}

}  // namespace cooper
