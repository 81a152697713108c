#include "module/pickle/pickle_text.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace cooper {
namespace {

void AppendUtf8(uint32_t c, std::string* out) {
  const auto continuation = [&](int shift) {
    out->push_back(static_cast<char>(0x80 | ((c >> shift) & 0x3F)));
  };
  if (c < 0x80) {
    out->push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out->push_back(static_cast<char>(0xC0 | (c >> 6)));
    continuation(0);
  } else if (c < 0x10000) {
    out->push_back(static_cast<char>(0xE0 | (c >> 12)));
    continuation(6);
    continuation(0);
  } else {
    out->push_back(static_cast<char>(0xF0 | (c >> 18)));
    continuation(12);
    continuation(6);
    continuation(0);
  }
}

// Reads exactly `digits` hexadecimal digits from the front of `text`.
bool TakeHex(size_t digits, absl::string_view* text, uint32_t* value) {
  if (text->size() < digits) return false;
  for (const char c : text->substr(0, digits)) {
    if (!absl::ascii_isxdigit(static_cast<unsigned char>(c))) return false;
  }
  const bool parsed = absl::SimpleHexAtoi(text->substr(0, digits), value);
  text->remove_prefix(digits);
  return parsed;
}

absl::Status BadEscape(absl::string_view kind) {
  return absl::InvalidArgumentError(absl::StrCat("a text has the invalid escape \\", kind));
}

}  // namespace

absl::StatusOr<std::string> DecodeRawUnicodeEscape(absl::string_view raw) {
  std::string text;
  while (!raw.empty()) {
    const auto c = static_cast<unsigned char>(raw[0]);
    const char kind = c == '\\' && raw.size() > 1 ? raw[1] : '\0';
    if (kind != 'u' && kind != 'U') {
      AppendUtf8(c, &text);
      raw.remove_prefix(1);
      continue;
    }
    raw.remove_prefix(2);
    uint32_t character = 0;
    if (!TakeHex(kind == 'u' ? 4 : 8, &raw, &character) || character > 0x10FFFF) {
      return BadEscape(absl::string_view(&kind, 1));
    }
    AppendUtf8(character, &text);
  }
  return text;
}

absl::StatusOr<std::string> DecodeStringLiteral(absl::string_view literal) {
  if (literal.size() < 2 || literal.front() != literal.back() ||
      (literal.front() != '\'' && literal.front() != '"')) {
    return absl::InvalidArgumentError("a string is not in quotes");
  }
  literal = literal.substr(1, literal.size() - 2);
  std::string bytes;
  while (!literal.empty()) {
    const char c = literal[0];
    literal.remove_prefix(1);
    if (c != '\\') {
      bytes.push_back(c);
      continue;
    }
    if (literal.empty()) return absl::InvalidArgumentError("a string ends within an escape");
    const char kind = literal[0];
    literal.remove_prefix(1);
    constexpr absl::string_view kKinds = "\\'\"nrt", kMeanings = "\\'\"\n\r\t";
    const size_t known = kKinds.find(kind);
    uint32_t byte = 0;
    if (known != absl::string_view::npos) {
      bytes.push_back(kMeanings[known]);
    } else if (kind == 'x' && TakeHex(2, &literal, &byte)) {
      bytes.push_back(static_cast<char>(byte));
    } else {
      return BadEscape(absl::string_view(&kind, 1));
    }
  }
  return bytes;
}

absl::StatusOr<std::string> EncodeLatin1(absl::string_view utf8) {
  std::string bytes;
  bytes.reserve(utf8.size());
  for (size_t i = 0; i < utf8.size(); ++i) {
    const auto c = static_cast<unsigned char>(utf8[i]);
    if (c < 0x80) {
      bytes.push_back(utf8[i]);
      continue;
    }
    const auto next = i + 1 < utf8.size() ? static_cast<unsigned char>(utf8[i + 1]) : 0;
    if ((c != 0xC2 && c != 0xC3) || (next & 0xC0) != 0x80) {
      return absl::InvalidArgumentError("a text of bytes has a character that is not in Latin-1");
    }
    bytes.push_back(static_cast<char>(((c & 0x03) << 6) | (next & 0x3F)));
    ++i;
  }
  return bytes;
}

}  // namespace cooper
