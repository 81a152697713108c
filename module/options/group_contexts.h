#ifndef COOPER_MODULE_OPTIONS_GROUP_CONTEXTS_H_
#define COOPER_MODULE_OPTIONS_GROUP_CONTEXTS_H_

// Where the parts of a graph are placed (MXNet's group2ctxs): a context for each value of the
// attribute `ctx_group`, in any of the three forms that MXNet accepts:
//
//   using Map = GroupContexts::Map;
//   // One map for every context of the module.
//   GroupContexts(Map{{"encoder", gpu0}, {"decoder", gpu1}})
//   // For each group a list with one context for each context of the module.
//   GroupContexts(ListMap{{"encoder", {gpu0, gpu2}}, ...})
//   // One map for each context of the module.
//   GroupContexts(std::vector<Map>{map0, map1})

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ndarray/base/context.h"

namespace cooper {

// Holds any of the three forms.
class GroupContexts {
 public:
  using Map = std::map<std::string, Context>;
  using ListMap = std::map<std::string, std::vector<Context>>;

  GroupContexts() = default;
  GroupContexts(Map groups) : maps_({std::move(groups)}) {}             // NOLINT: as in MXNet
  GroupContexts(ListMap groups) : lists_(std::move(groups)) {}          // NOLINT
  GroupContexts(std::vector<Map> groups) : maps_(std::move(groups)) {}  // NOLINT

  bool empty() const { return maps_.empty() && lists_.empty(); }

  // Returns a map for each of the module's `num_contexts` contexts; an empty vector if nothing is
  // placed. A list of one context, and a single map, apply to all. kInvalidArgument, naming the
  // group, for any other number of contexts.
  absl::StatusOr<std::vector<Map>> For(size_t num_contexts) const;

 private:
  std::vector<Map> maps_;
  ListMap lists_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_OPTIONS_GROUP_CONTEXTS_H_
