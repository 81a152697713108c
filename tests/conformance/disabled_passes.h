#ifndef COOPER_TESTS_CONFORMANCE_DISABLED_PASSES_H_
#define COOPER_TESTS_CONFORMANCE_DISABLED_PASSES_H_

#include <set>
#include <string>

namespace cooper::conformance {

// Returns the passes that are disabled when graphs of cases are bound.
inline std::set<std::string>& DisabledPasses() {
  static auto* passes = new std::set<std::string>;
  return *passes;
}

}  // namespace cooper::conformance

#endif  // COOPER_TESTS_CONFORMANCE_DISABLED_PASSES_H_
