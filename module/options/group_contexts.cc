#include "module/options/group_contexts.h"

#include "absl/strings/str_cat.h"

namespace cooper {

absl::StatusOr<std::vector<GroupContexts::Map>> GroupContexts::For(size_t num_contexts) const {
  std::vector<Map> maps;
  if (empty()) return maps;
  if (!maps_.empty()) {
    if (maps_.size() == 1) return std::vector<Map>(num_contexts, maps_[0]);
    if (maps_.size() == num_contexts) return maps_;
    return absl::InvalidArgumentError(
        absl::StrCat("group2ctxs: ", maps_.size(), " maps for ", num_contexts, " contexts"));
  }
  maps.resize(num_contexts);
  for (const auto& [group, contexts] : lists_) {
    if (contexts.size() != 1 && contexts.size() != num_contexts) {
      return absl::InvalidArgumentError(absl::StrCat("group2ctxs: group '", group, "' has ",
                                                     contexts.size(), " contexts, the module ",
                                                     num_contexts));
    }
    for (size_t i = 0; i < num_contexts; ++i) {
      maps[i][group] = contexts[contexts.size() == 1 ? 0 : i];
    }
  }
  return maps;
}

}  // namespace cooper
