#include "executor/passes/graph/replacement_nodes.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::StatusOr<NodeEntry> ReplacementNodes::Make(absl::string_view op, const std::string& suffix,
                                                 std::vector<NodeEntry> inputs,
                                                 AttrMap attrs) const {
  for (const auto& [key, value] : node_.attrs()) {
    if (absl::StartsWith(key, "__")) attrs.emplace(key, value);
  }
  return MakeEntry(op, absl::StrCat(node_.name(), suffix), std::move(inputs), std::move(attrs));
}

absl::StatusOr<NodeEntry> ReplacementNodes::Stack(const std::string& suffix,
                                                  std::vector<NodeEntry> values) const {
  for (size_t t = 0; t < values.size(); ++t) {
    COOPER_ASSIGN_OR_RETURN(values[t], Make("expand_dims", absl::StrCat(suffix, "_t", t),
                                            {values[t]}, {{"axis", "0"}}));
  }
  const std::string count = absl::StrCat(values.size());
  return Make("Concat", suffix, std::move(values), {{"dim", "0"}, {"num_args", count}});
}

absl::StatusOr<NodeEntry> ReplacementNodes::Split(const std::string& suffix, const NodeEntry& whole,
                                                  int64_t count, bool keep_axis) const {
  return Make("SliceChannel", suffix, {whole},
              {{"num_outputs", absl::StrCat(count)},
               {"axis", "0"},
               {"squeeze_axis", keep_axis ? "False" : "True"}});
}

}  // namespace cooper
