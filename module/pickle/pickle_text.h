#ifndef COOPER_MODULE_PICKLE_PICKLE_TEXT_H_
#define COOPER_MODULE_PICKLE_PICKLE_TEXT_H_

// The encodings of texts in pickles.

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cooper {

// Returns the UTF-8 of a text of opcode UNICODE: each byte is a character of Latin-1, and \uXXXX
// and \UXXXXXXXX are characters by number. At most twice as long as `raw`. kInvalidArgument for an
// escape that is no character.
absl::StatusOr<std::string> DecodeRawUnicodeEscape(absl::string_view raw);

// Returns the bytes of a string of opcode STRING: a literal of Python 2 in single or double quotes.
// kInvalidArgument if it is none.
absl::StatusOr<std::string> DecodeStringLiteral(absl::string_view literal);

// Returns the bytes whose Latin-1 text is `utf8`. kInvalidArgument if a character is above 255 or
// the text is not UTF-8.
absl::StatusOr<std::string> EncodeLatin1(absl::string_view utf8);

}  // namespace cooper

#endif  // COOPER_MODULE_PICKLE_PICKLE_TEXT_H_
