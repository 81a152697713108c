#ifndef COOPER_SYMBOL_VISUALIZATION_PRINTABLE_TEXT_H_
#define COOPER_SYMBOL_VISUALIZATION_PRINTABLE_TEXT_H_

// Names of nodes as they may stand in a table or a DOT file. A name is any string of bytes, while
// Graphviz takes no malformed UTF-8, and a column is as wide as its characters, not as their bytes.

#include <string>

#include "absl/strings/string_view.h"

namespace cooper {

// `text` on one line in well-formed UTF-8: each control character and each byte that belongs to no
// character becomes U+FFFD. Other characters stay: those with a meaning are the writer's to escape.
std::string PrintableText(absl::string_view text);

// Characters in `text`, which is well-formed UTF-8.
int NumCharacters(absl::string_view text);

// The first `count` characters of well-formed UTF-8; all of it if there are fewer.
absl::string_view FirstCharacters(absl::string_view text, int count);

}  // namespace cooper

#endif  // COOPER_SYMBOL_VISUALIZATION_PRINTABLE_TEXT_H_
