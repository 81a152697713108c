#ifndef COOPER_SYMBOL_VISUALIZATION_PRINTABLE_TEXT_H_
#define COOPER_SYMBOL_VISUALIZATION_PRINTABLE_TEXT_H_

// Makes names of nodes printable for tables and DOT files. A name is any string of bytes, but
// Graphviz accepts only well-formed UTF-8, and the width of a column is counted in characters, not
// in bytes.

#include <string>

#include "absl/strings/string_view.h"

namespace cooper {

// Returns `text` on one line in well-formed UTF-8: each control character and each malformed byte
// becomes U+FFFD. Does not escape characters with a meaning in the output format.
std::string PrintableText(absl::string_view text);

// Returns the number of characters in `text`, which must be well-formed UTF-8.
int NumCharacters(absl::string_view text);

// Returns the first `count` characters of well-formed UTF-8; all of it if there are fewer.
absl::string_view FirstCharacters(absl::string_view text, int count);

}  // namespace cooper

#endif  // COOPER_SYMBOL_VISUALIZATION_PRINTABLE_TEXT_H_
