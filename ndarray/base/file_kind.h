#ifndef COOPER_NDARRAY_BASE_FILE_KIND_H_
#define COOPER_NDARRAY_BASE_FILE_KIND_H_

// Recognises files that are not what a reader expects: Git LFS pointers, web pages, archives,
// pickles, models of other libraries. Readers call it after their own format has failed, so that a
// message says what the file is and what to do instead of quoting its first bytes.

#include <string>

#include "absl/strings/string_view.h"

namespace cooper {

// The kind of file that a reader expects. A file of that kind is never described as something else.
enum class FileKind { kParams, kSymbol, kRecords, kText, kNpy, kNpz };

// Returns ": the file is a web page (HTML) ...; download ...", to append to a reader's error for a
// file that begins with `bytes`; empty if the file is not recognised. Looks at the first 600 bytes.
// For kText web pages and other texts are not recognised, since they may be training text.
std::string DescribeForeignFile(absl::string_view bytes, FileKind expected);

}  // namespace cooper

#endif  // COOPER_NDARRAY_BASE_FILE_KIND_H_
