#include "module/kwargs/kwargs.h"

#include <algorithm>

#include "absl/strings/str_join.h"

namespace cooper {

void KwargReader::Fail(const std::string& name, const std::string& text, const absl::Status& why) {
  status_.Update(absl::InvalidArgumentError(
      absl::StrCat(what_, ": ", name, " is '", text, "': ", why.message())));
}

void KwargReader::Require(const std::string& name) {
  if (kwargs_.count(name) > 0) return;
  status_.Update(absl::InvalidArgumentError(absl::StrCat(what_, ": ", name, " is missing")));
}

absl::Status KwargReader::Finish() const {
  if (!status_.ok()) return status_;
  for (const auto& [name, value] : kwargs_) {
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        what_, ": unknown argument '", name, "', expected one of ", absl::StrJoin(known_, ", ")));
  }
  return absl::OkStatus();
}

}  // namespace cooper
