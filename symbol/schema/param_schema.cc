#include "symbol/schema/param_schema.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ndarray/base/near_names.h"

namespace cooper {
namespace {

bool IsHidden(const std::string& key) {
  return key.size() > 4 && absl::StartsWith(key, "__") && absl::EndsWith(key, "__");
}

// Calls fn with a value of the integer type of `size` bytes.
template <typename Fn>
auto WithInteger(size_t size, const Fn& fn) {
  switch (size) {
    case sizeof(int8_t):
      return fn(int8_t{});
    case sizeof(int16_t):
      return fn(int16_t{});
    case sizeof(int32_t):
      return fn(int32_t{});
    default:
      return fn(int64_t{});
  }
}

absl::Status ParseEnum(const ParamField& field, const std::string& text, void* value) {
  for (size_t i = 0; i < field.allowed.size(); ++i) {
    if (text != field.allowed[i]) continue;
    WithInteger(field.size, [&](auto integer) {
      integer = static_cast<decltype(integer)>(field.values[i]);
      std::memcpy(value, &integer, sizeof(integer));
    });
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("expected one of ", absl::StrJoin(field.allowed, ", ")));
}

std::string PrintEnum(const ParamField& field, const void* value) {
  for (size_t i = 0; i < field.values.size(); ++i) {
    const bool is_equal = WithInteger(field.size, [&](auto integer) {
      const auto known = static_cast<decltype(integer)>(field.values[i]);
      return std::memcmp(value, &known, sizeof(known)) == 0;
    });
    if (is_equal) return field.allowed[i];
  }
  return "";
}

}  // namespace

namespace internal_param_schema {

ParamField EnumField(size_t size) {
  return {.name = {},
          .doc = {},
          .type = "enum",
          .allowed = {},
          .parse = ParseEnum,
          .print = PrintEnum,
          .values = {},
          .size = size};
}

template ParamField FieldOfType<int>();
template ParamField FieldOfType<int64_t>();
template ParamField FieldOfType<bool>();
template ParamField FieldOfType<double>();
template ParamField FieldOfType<float>();
template ParamField FieldOfType<std::string>();
template ParamField FieldOfType<DType>();
template ParamField FieldOfType<std::vector<int64_t>>();
template ParamField FieldOfType<std::vector<double>>();
template ParamField FieldOfType<std::vector<float>>();
template ParamField FieldOfType<std::optional<int>>();
template ParamField FieldOfType<std::optional<int64_t>>();
template ParamField FieldOfType<std::optional<bool>>();
template ParamField FieldOfType<std::optional<double>>();
template ParamField FieldOfType<std::optional<float>>();
template ParamField FieldOfType<std::optional<DType>>();
template ParamField FieldOfType<std::optional<std::string>>();
template ParamField FieldOfType<std::optional<std::vector<int64_t>>>();

}  // namespace internal_param_schema

FieldDeclaration& FieldDeclaration::Required() {
  field_->required = true;
  return *this;
}

FieldDeclaration& FieldDeclaration::Doc(absl::string_view doc) {
  field_->doc = std::string{doc};
  return *this;
}

FieldDeclaration& FieldDeclaration::Min(double min) {
  field_->min = min;
  return *this;
}

FieldDeclaration& FieldDeclaration::Max(double max) {
  field_->max = max;
  return *this;
}

FieldDeclaration ParamSchema::Add(absl::string_view name, ParamField (*make)(), size_t offset) {
  return Add(name, make(), offset);
}

FieldDeclaration ParamSchema::Add(absl::string_view name, ParamField field, size_t offset) {
  field.name = std::string{name};
  field.offset = offset;
  fields_.push_back(std::move(field));
  return FieldDeclaration(&fields_.back());
}

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
    COOPER_RETURN_IF_ERROR(AddContext(field.Parse(it->second, params.get()), "attribute ",
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
    COOPER_RETURN_IF_ERROR(AddContext(field.Parse(it->second, options), what, ": ", field.name,
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
  for (const ParamField& field : fields_) attrs[field.name] = field.Print(params);
  return attrs;
}

}  // namespace cooper
