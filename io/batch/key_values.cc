#include "io/batch/key_values.h"

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// 17 significant digits determine a double exactly.
std::string Print(double value) { return absl::StrFormat("%.17g", value); }
bool ParseOne(absl::string_view text, double* value) { return absl::SimpleAtod(text, value); }
bool ParseOne(absl::string_view text, int64_t* value) { return absl::SimpleAtoi(text, value); }
bool ParseOne(absl::string_view text, uint64_t* value) { return absl::SimpleAtoi(text, value); }

absl::Status Bad(absl::string_view key, absl::string_view value, absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("state '", key, "' is '", value, "', expected ", expected));
}

template <typename T>
absl::StatusOr<T> ParseScalar(absl::string_view key, absl::StatusOr<absl::string_view> text) {
  if (!text.ok()) return text.status();
  T value;
  if (!ParseOne(*text, &value)) return Bad(key, *text, "a number");
  return value;
}

template <typename T>
absl::StatusOr<std::vector<T>> ParseList(absl::string_view key,
                                         absl::StatusOr<absl::string_view> text) {
  if (!text.ok()) return text.status();
  std::vector<T> values;
  for (absl::string_view element : absl::StrSplit(*text, ',', absl::SkipEmpty())) {
    T value;
    if (!ParseOne(element, &value)) return Bad(key, *text, "numbers with commas between");
    values.push_back(value);
  }
  return values;
}

}  // namespace

void KeyValues::SetInt(absl::string_view key, int64_t value) {
  values_[std::string{key}] = absl::StrCat(value);
}

void KeyValues::SetUint(absl::string_view key, uint64_t value) {
  values_[std::string{key}] = absl::StrCat(value);
}

void KeyValues::SetDouble(absl::string_view key, double value) {
  values_[std::string{key}] = Print(value);
}

void KeyValues::SetString(absl::string_view key, absl::string_view value) {
  values_[std::string{key}] = absl::CEscape(value);
}

void KeyValues::SetInts(absl::string_view key, absl::Span<const int64_t> values) {
  values_[std::string{key}] = absl::StrJoin(values, ",");
}

void KeyValues::SetDoubles(absl::string_view key, absl::Span<const double> values) {
  values_[std::string{key}] =
      absl::StrJoin(values, ",", [](std::string* out, double v) { out->append(Print(v)); });
}

bool KeyValues::Has(absl::string_view key) const { return values_.contains(key); }

absl::StatusOr<absl::string_view> KeyValues::Find(absl::string_view key) const {
  const auto it = values_.find(key);
  if (it == values_.end()) {
    return absl::InvalidArgumentError(absl::StrCat("state has no '", key, "'"));
  }
  return it->second;
}

absl::StatusOr<int64_t> KeyValues::GetInt(absl::string_view key) const {
  return ParseScalar<int64_t>(key, Find(key));
}

absl::StatusOr<uint64_t> KeyValues::GetUint(absl::string_view key) const {
  return ParseScalar<uint64_t>(key, Find(key));
}

absl::StatusOr<double> KeyValues::GetDouble(absl::string_view key) const {
  return ParseScalar<double>(key, Find(key));
}

absl::StatusOr<std::string> KeyValues::GetString(absl::string_view key) const {
  COOPER_ASSIGN_OR_RETURN(const absl::string_view text, Find(key));
  std::string value;
  if (!absl::CUnescape(text, &value)) return Bad(key, text, "an escaped string");
  return value;
}

absl::StatusOr<std::vector<int64_t>> KeyValues::GetInts(absl::string_view key) const {
  return ParseList<int64_t>(key, Find(key));
}

absl::StatusOr<std::vector<double>> KeyValues::GetDoubles(absl::string_view key) const {
  return ParseList<double>(key, Find(key));
}

absl::Status KeyValues::Expect(absl::string_view key, absl::string_view expected) const {
  COOPER_ASSIGN_OR_RETURN(const std::string value, GetString(key));
  if (value != expected) return Bad(key, value, absl::StrCat("'", expected, "'"));
  return absl::OkStatus();
}

absl::Status KeyValues::ExpectOption(absl::string_view key, int64_t expected) const {
  if (!Has(key)) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const int64_t value, GetInt(key));
  if (value == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the state is of ", key, " ", value, ", this object has ", expected));
}

std::string KeyValues::ToString() const {
  std::string text;
  for (const auto& [key, value] : values_) absl::StrAppend(&text, key, " ", value, "\n");
  return text;
}

absl::StatusOr<KeyValues> KeyValues::Parse(absl::string_view text) {
  KeyValues parsed;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(' ', 1));
    if (parts.first.empty() || parts.first.size() == line.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("state line '", line.substr(0, 80), "', expected a key and a value"));
    }
    if (!parsed.values_.emplace(parts.first, parts.second).second) {
      return absl::InvalidArgumentError(absl::StrCat("state has '", parts.first, "' twice"));
    }
  }
  return parsed;
}

}  // namespace cooper
