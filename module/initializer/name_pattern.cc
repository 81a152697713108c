#include "module/initializer/name_pattern.h"

#include <regex>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cooper {

struct NamePattern::Compiled {
  std::regex regex;
};

absl::StatusOr<NamePattern> NamePattern::Create(const std::string& text) {
  // std::regex reports a bad expression only by an exception.
  try {
    return NamePattern(std::make_shared<const Compiled>(
        Compiled{std::regex(text, std::regex::ECMAScript | std::regex::optimize)}));
  } catch (const std::regex_error& error) {
    return absl::InvalidArgumentError(absl::StrCat("pattern '", text, "': ", error.what()));
  }
}

NamePattern::NamePattern(std::shared_ptr<const Compiled> compiled)
    : compiled_(std::move(compiled)) {}

bool NamePattern::Matches(const std::string& name) const {
  return std::regex_search(name, compiled_->regex, std::regex_constants::match_continuous);
}

}  // namespace cooper
