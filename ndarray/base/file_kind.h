#ifndef COOPER_NDARRAY_BASE_FILE_KIND_H_
#define COOPER_NDARRAY_BASE_FILE_KIND_H_

// Recognises files that are not what a reader expects: Git LFS pointers, web pages, archives,
// pickles, models of other libraries. Readers ask once their own format has failed, so that a
// message says what the file is and what to do, not which number its first bytes make.

#include <string>

#include "absl/strings/string_view.h"

namespace cooper {

// What a reader expects. A file of that kind is never described as something else.
enum class FileKind { kParams, kSymbol, kRecords, kText };

// Returns ": the file is a web page (HTML) ...; download ...", to put behind what a reader says of
// a file that begins with `bytes`. Empty if the file is not recognised. Looks at the first 600
// bytes. For kText only files that are no text a person would train on are recognised (a web page
// may well be one).
std::string DescribeForeignFile(absl::string_view bytes, FileKind expected);

}  // namespace cooper

#endif  // COOPER_NDARRAY_BASE_FILE_KIND_H_
