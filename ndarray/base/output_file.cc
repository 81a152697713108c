#include "ndarray/base/output_file.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::Status CheckOutputFile(absl::string_view before, const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  std::error_code error;
  // Does not follow links: writing would replace the link itself, such as /dev/stdout.
  const std::filesystem::file_status there = std::filesystem::symlink_status(path, error);
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there)) {
    return absl::InvalidArgumentError(absl::StrCat(before, path, ": it is no regular file"));
  }
  COOPER_RETURN_IF_ERROR(CheckOutputFolder(before, path));
  // The temporary file is removed at once.
  absl::Status status = AtomicFile::Create(path).status();
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat(before, path, ": ", status.message()));
}

absl::Status CheckOutputFolder(absl::string_view before, const std::string& prefix) {
  if (prefix.empty()) return absl::OkStatus();
  std::filesystem::path folder = std::filesystem::path(prefix).parent_path();
  if (folder.empty()) folder = ".";
  std::error_code error;
  if (std::filesystem::is_directory(folder, error) && access(folder.c_str(), W_OK) == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(before, prefix, ": ", folder.string(), " is no folder that can be written to"));
}

}  // namespace cooper
