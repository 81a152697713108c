#ifndef COOPER_IO_ITERATORS_INPUT_FILES_H_
#define COOPER_IO_ITERATORS_INPUT_FILES_H_

// Finds the files that an iterator reads, from MXNet's notation for several files.

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace cooper {

// Returns the paths that `files` names: a file, a folder, or several of them separated by ';'. In
// place of a folder come its files that are not empty, without those in its subfolders, in order of
// their names (MXNet: in the order of the file system). A name that exists as a whole is not split.
// Files need not exist. kInvalidArgument, with the name, if a folder has no such file, or a name is
// empty; kPermissionDenied or kUnknown if a folder cannot be read.
absl::StatusOr<std::vector<std::string>> ListInputFiles(const std::string& files);

}  // namespace cooper

#endif  // COOPER_IO_ITERATORS_INPUT_FILES_H_
