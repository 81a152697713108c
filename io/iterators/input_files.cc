#include "io/iterators/input_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<std::vector<std::string>> FilesIn(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  // A range-based for would throw in its increment.
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    const fs::path& path = entry->path();
    if (fs::is_regular_file(path, ignored) && fs::file_size(path, ignored) > 0) {
      paths.push_back(path.string());
    }
  }
  if (error) {
    const std::string message = absl::StrCat("cannot list '", folder, "': ", error.message());
    return error == std::errc::permission_denied ? absl::PermissionDeniedError(message)
                                                 : absl::UnknownError(message);
  }
  if (paths.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the folder '", folder, "' has no file that is not empty"));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ListInputFiles(const std::string& files) {
  std::error_code ignored;
  std::vector<std::string> names = {files};
  if (!fs::exists(files, ignored)) names = absl::StrSplit(files, ';');
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    if (name.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("'", files, "' has an empty name of a file"));
    }
    if (!fs::is_directory(name, ignored)) {
      paths.push_back(name);
      continue;
    }
    COOPER_ASSIGN_OR_RETURN(const std::vector<std::string> found, FilesIn(name));
    paths.insert(paths.end(), found.begin(), found.end());
  }
  return paths;
}

}  // namespace cooper
