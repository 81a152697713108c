#ifndef COOPER_NDARRAY_BASE_OUTPUT_FILE_H_
#define COOPER_NDARRAY_BASE_OUTPUT_FILE_H_

// Checks in advance whether a program can write its output files. A file gets its name when it is
// complete (ndarray/base/atomic_file.h) and replaces whatever has that name. That could be a
// device, so other kinds of files are refused.

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cooper {

// Fails with kInvalidArgument if no file can be put at `path`: its folder does not exist or is not
// writable, or the path is anything but a regular file, such as a link. An existing file is not
// changed. Messages begin with `before` and the path: "--json=" and the flag's value. An empty path
// means no file and is valid.
absl::Status CheckOutputFile(absl::string_view before, const std::string& path);

// Checks only the folder of a prefix of files in the same way.
absl::Status CheckOutputFolder(absl::string_view before, const std::string& prefix);

}  // namespace cooper

#endif  // COOPER_NDARRAY_BASE_OUTPUT_FILE_H_
