#include "tests/conformance/expected_failures.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace cooper::conformance {

std::set<std::string> ParseExpectedFailures(absl::string_view text) {
  std::set<std::string> names;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::string_view name = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    if (!name.empty()) names.emplace(name.data(), name.size());
  }
  return names;
}

std::string OperatorWithoutKernel(absl::string_view reason) {
  // FindKernel puts the operator's name between these texts.
  constexpr absl::string_view kBefore = "no kernel of operator ", kAfter = " for gpu is linked";
  const size_t before = reason.find(kBefore);
  if (before == absl::string_view::npos) return "";
  const absl::string_view rest = reason.substr(before + kBefore.size());
  const size_t after = rest.find(kAfter);
  return after == absl::string_view::npos ? "" : std::string(rest.substr(0, after));
}

Judgement Judge(const std::vector<CaseResult>& results, const std::set<std::string>& expected) {
  Judgement judgement;
  std::set<std::string> categories, names;
  for (const CaseResult& result : results) {
    categories.insert(result.category);
    names.insert(result.name);
    const bool listed = expected.contains(result.name);
    if (result.passed && listed) {
      judgement.problems.push_back(
          absl::StrCat(result.name, " passes, but is listed as a failure: take it off the list"));
    } else if (result.passed) {
      ++judgement.passed;
    } else if (listed) {
      ++judgement.known;
    } else if (result.quirk) {
      ++judgement.quirks;
    } else {
      judgement.problems.push_back(absl::StrCat(result.name, " fails: ", result.reason));
    }
  }
  for (const std::string& name : expected) {
    if (categories.contains(name.substr(0, name.find('/'))) && !names.contains(name)) {
      judgement.problems.push_back(absl::StrCat(name, " is listed as a failure, but is no case"));
    }
  }
  return judgement;
}

}  // namespace cooper::conformance
