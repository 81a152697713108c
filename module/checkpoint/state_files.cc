#include "module/checkpoint/state_files.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "ndarray/base/near_names.h"

namespace cooper {
namespace {

constexpr char kSuffix[] = ".state";

// Returns folder and file name of a prefix.
std::pair<std::filesystem::path, std::string> Split(const std::string& prefix) {
  const std::filesystem::path path(prefix);
  return {path.has_parent_path() ? path.parent_path() : std::filesystem::path("."),
          path.filename().string()};
}

// Returns the position in a name EEEE-BBBBBBBB.state; nullopt for another name.
std::optional<StatePosition> PositionOf(absl::string_view name) {
  StatePosition position;
  const size_t dash = name.find('-');
  if (!absl::ConsumeSuffix(&name, kSuffix) || dash == absl::string_view::npos ||
      dash > name.size() || !absl::SimpleAtoi(name.substr(0, dash), &position.first) ||
      !absl::SimpleAtoi(name.substr(dash + 1), &position.second) || position.first < 0 ||
      position.second < 0) {
    return std::nullopt;
  }
  return position;
}

}  // namespace

absl::Status RequireFolder(const std::string& prefix, bool create) {
  const std::string folder = Split(prefix).first.string();
  std::error_code error;
  if (create) std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::UnknownError(
        absl::StrCat("cannot make the folder '", folder, "': ", error.message()));
  }
  const std::filesystem::file_status status = std::filesystem::status(folder, error);
  if (!std::filesystem::exists(status)) {
    return absl::NotFoundError(
        absl::StrCat("there is no folder '", folder, "': make it, or set create_folder"));
  }
  if (!std::filesystem::is_directory(status)) {
    return absl::FailedPreconditionError(absl::StrCat("'", folder, "' is no folder"));
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    return absl::PermissionDeniedError(
        absl::StrCat("cannot write files into the folder '", folder, "': ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

std::string StatePath(const std::string& prefix, StatePosition position) {
  return absl::StrFormat("%s-%04d-%08d%s", prefix, position.first, position.second, kSuffix);
}

absl::StatusOr<StateFiles> FindStateFiles(const std::string& prefix) {
  const auto [folder, name] = Split(prefix);
  StateFiles states;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  // A range-for would throw when its increment fails.
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string file = entry->path().filename().string();
    absl::string_view rest = file;
    if (!absl::ConsumePrefix(&rest, name) || !absl::ConsumePrefix(&rest, "-")) continue;
    const std::optional<StatePosition> position = PositionOf(rest);
    if (position.has_value()) states.emplace_back(*position, entry->path().string());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return absl::UnknownError(
        absl::StrCat("cannot list the folder '", folder.string(), "': ", error.message()));
  }
  std::sort(states.begin(), states.end());
  return states;
}

absl::Status NoStateCanBeRead(const StateFiles& states, const absl::Status& reason) {
  std::vector<std::string> files;
  for (const auto& [position, path] : states) files.push_back(absl::StrCat("'", path, "'"));
  return absl::DataLossError(
      absl::StrCat("none of the states ", JoinNames(files),
                   " can be read; move them away to begin anew: ", reason.message()));
}

}  // namespace cooper
