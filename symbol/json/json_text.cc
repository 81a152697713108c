#include "symbol/json/json_text.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "ndarray/base/file_kind.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Checks the text before it is parsed: deep nesting would overflow the parser's stack, and each
// value takes memory. A value begins the text or follows a comma, a colon or a bracket.
absl::Status CheckText(absl::string_view text, const LoadLimits& limits) {
  if (static_cast<int64_t>(text.size()) > limits.text_bytes) {
    return ExceedsLimit("bytes", limits.text_bytes, "text_bytes");
  }
  int64_t depth = 0, values = 1;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      ++values;
      if (++depth > limits.nesting) {
        return MalformedSymbol("the text",
                               absl::StrCat("is nested deeper than ", limits.nesting, " levels"));
      }
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' || c == ':') {
      ++values;
    }
  }
  return values > limits.values ? ExceedsLimit("values", limits.values, "values")
                                : absl::OkStatus();
}

// Returns the text as valid JSON: MXNet's files have unescaped control characters in strings. Line
// ends in strings stay invalid; MXNet's reader refuses them too.
std::string EscapeControlCharacters(absl::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool ends_line = c == '\n' || c == '\r';
    if (in_string && static_cast<unsigned char>(c) < 0x20 && !ends_line) {
      absl::StrAppend(&escaped, "\\u", absl::Hex(static_cast<int>(c), absl::kZeroPad4));
      continue;
    }
    escaped.push_back(c);
    if (in_string && c == '\\' && i + 1 < text.size()) {
      escaped.push_back(text[++i]);
    } else if (c == '"') {
      in_string = !in_string;
    }
  }
  return escaped;
}

}  // namespace

absl::Status MalformedSymbol(absl::string_view what, absl::string_view problem) {
  return absl::InvalidArgumentError(absl::StrCat("symbol file: ", what, " ", problem));
}

absl::Status ExceedsLimit(absl::string_view what, int64_t limit, absl::string_view of) {
  return absl::ResourceExhaustedError(
      absl::StrCat("symbol file: more than ", limit, " ", what, ": LoadLimits::", of));
}

absl::StatusOr<nlohmann::json> ParseSymbolText(absl::string_view text, const LoadLimits& limits) {
  const std::string foreign = DescribeForeignFile(text, FileKind::kSymbol);
  if (!foreign.empty()) return MalformedSymbol("the text", absl::StrCat("is not JSON", foreign));
  COOPER_RETURN_IF_ERROR(CheckText(text, limits));
  const bool has_control = std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r';
  });
  std::string escaped;
  if (has_control) {
    escaped = EscapeControlCharacters(text);
    text = escaped;
  }
  // The exception does not leave this function; the parser reports the place of an error in no
  // other way.
  try {
    return nlohmann::json::parse(text.begin(), text.end());
  } catch (const nlohmann::json::exception& e) {
    // The message quotes the last token, which may be the whole text.
    return MalformedSymbol(
        "the text", absl::StrCat("is not JSON: ", absl::string_view(e.what()).substr(0, 300)));
  }
}

}  // namespace cooper
