#include "module/metric/watched_value.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cooper {

absl::StatusOr<NamedValue> FindValue(const EvalMetric& metric, const std::string& name) {
  const std::vector<NamedValue> values = metric.GetGlobalNameValue();
  std::vector<std::string> names;
  for (const NamedValue& value : values) {
    if (name.empty() || value.first == name) return value;
    names.push_back(absl::StrCat("'", value.first, "'"));
  }
  return absl::NotFoundError(
      absl::StrCat("the metric has no value '", name, "', but ",
                   names.empty() ? "none at all" : absl::StrJoin(names, ", ")));
}

bool LargerIsBetter(const std::string& name) {
  const std::string lower = absl::AsciiStrToLower(name);
  for (const char* part :
       {"acc", "f1", "mcc", "pcc", "pearson", "correlation", "recall", "precision"}) {
    if (absl::StrContains(lower, part)) return true;
  }
  return absl::EndsWith(lower, "map");
}

}  // namespace cooper
