#include "symbol/visualization/printable_text.h"

#include <cstddef>
#include <cstdint>

namespace cooper {
namespace {

constexpr char kReplacement[] = "\xEF\xBF\xBD";  // U+FFFD

bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

// Returns the number of bytes of the first character of `text`, which must not be empty; 0 if it is
// malformed or unprintable.
size_t PrintableLength(absl::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7F ? 1 : 0;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  uint32_t code = lead & (0xFF >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(text[i])) return 0;
    code = code << 6 | (static_cast<uint8_t>(text[i]) & 0x3F);
  }
  constexpr uint32_t kMin[] = {0, 0, 0x80, 0x800, 0x10000};  // less is an overlong form
  if (code < kMin[length] || code > 0x10FFFF) return 0;
  const bool control = code < 0xA0;
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  const bool separator = code == 0x2028 || code == 0x2029;
  const bool not_in_xml = code == 0xFFFE || code == 0xFFFF;
  return control || surrogate || separator || not_in_xml ? 0 : length;
}

}  // namespace

std::string PrintableText(absl::string_view text) {
  std::string result;
  while (!text.empty()) {
    size_t length = PrintableLength(text);
    if (length > 0) {
      result.append(text.data(), length);
    } else {
      result.append(kReplacement);
      length = 1;
    }
    text.remove_prefix(length);
  }
  return result;
}

int NumCharacters(absl::string_view text) {
  int count = 0;
  for (char c : text) count += !IsContinuation(c);
  return count;
}

absl::string_view FirstCharacters(absl::string_view text, int count) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (!IsContinuation(text[i]) && count-- == 0) return text.substr(0, i);
  }
  return text;
}

}  // namespace cooper
