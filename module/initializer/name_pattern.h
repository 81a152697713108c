#ifndef COOPER_MODULE_INITIALIZER_NAME_PATTERN_H_
#define COOPER_MODULE_INITIALIZER_NAME_PATTERN_H_

// A regular expression that selects arrays by name, with the rules of Python's re.match.

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace cooper {

// Copies share the compiled expression. Thread-safe.
class NamePattern {
 public:
  // Compiles an ECMAScript expression. kInvalidArgument, with the text, for a bad one.
  static absl::StatusOr<NamePattern> Create(const std::string& text);

  // Whether the expression matches from the first character on; it need not reach the last. Time
  // and stack are those of std::regex: keep expressions from untrusted files short.
  bool Matches(const std::string& name) const;

 private:
  struct Compiled;  // keeps <regex> out of this header

  explicit NamePattern(std::shared_ptr<const Compiled> compiled);

  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_INITIALIZER_NAME_PATTERN_H_
