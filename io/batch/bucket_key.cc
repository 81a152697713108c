#include "io/batch/bucket_key.h"

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace cooper {
namespace {

bool ParseTuple(absl::string_view text, BucketKey::Tuple* tuple) {
  text = absl::StripAsciiWhitespace(text);
  if (text.empty()) return true;
  if (!absl::ConsumeSuffix(&text, ",") && !absl::StrContains(text, ",")) return false;
  for (absl::string_view element : absl::StrSplit(text, ',')) {
    int64_t value;
    if (!absl::SimpleAtoi(element, &value)) return false;
    tuple->push_back(value);
  }
  return true;
}

}  // namespace

std::string BucketKey::ToString() const {
  if (is_int()) return absl::StrCat(int_value());
  if (is_string()) return absl::StrCat("'", absl::Utf8SafeCEscape(string_value()), "'");
  const absl::Span<const int64_t> values = tuple_value();
  return absl::StrCat("(", absl::StrJoin(values, ", "), values.size() == 1 ? ",)" : ")");
}

absl::StatusOr<BucketKey> BucketKey::Parse(absl::string_view text) {
  const absl::string_view trimmed = absl::StripAsciiWhitespace(text);
  int64_t value;
  if (absl::SimpleAtoi(trimmed, &value)) return BucketKey(value);
  if (trimmed.size() >= 2) {
    const char first = trimmed.front();
    const absl::string_view inner = trimmed.substr(1, trimmed.size() - 2);
    std::string unescaped;
    if ((first == '\'' || first == '"') && trimmed.back() == first &&
        absl::CUnescape(inner, &unescaped)) {
      return BucketKey(std::move(unescaped));
    }
    Tuple tuple;
    if (first == '(' && trimmed.back() == ')' && ParseTuple(inner, &tuple)) {
      return BucketKey(std::move(tuple));
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "bucket key '", text, "': expected an integer, a quoted string or a tuple of integers"));
}

}  // namespace cooper
