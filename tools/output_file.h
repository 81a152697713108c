#ifndef COOPER_TOOLS_OUTPUT_FILE_H_
#define COOPER_TOOLS_OUTPUT_FILE_H_

// Whether a program can write the files that it is told to, found out before it has worked for
// them. What is written takes its name when it is whole (ndarray/base/atomic_file.h), in place of
// whatever has the name: of a device too, which such a program must not replace.

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cooper {

// kInvalidArgument if a file cannot be put at `path`: its folder is none or cannot be written to,
// or there is something other than a regular file, a link too. A file that is there stays as it is.
// Messages begin with `before` and the path: "--json=" and what the flag says. An empty path is no
// file, and fine.
absl::Status CheckOutputFile(absl::string_view before, const std::string& path);

// The same for a prefix of files: of its folder alone.
absl::Status CheckOutputFolder(absl::string_view before, const std::string& prefix);

}  // namespace cooper

#endif  // COOPER_TOOLS_OUTPUT_FILE_H_
