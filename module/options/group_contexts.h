#ifndef COOPER_MODULE_OPTIONS_GROUP_CONTEXTS_H_
#define COOPER_MODULE_OPTIONS_GROUP_CONTEXTS_H_

// Where the parts of a graph are placed (MXNet's group2ctxs): a context for each value of the
// attribute `ctx_group`, in any of the three ways in which MXNet takes it:
//
//   using Map = GroupContexts::Map;
//   GroupContexts(Map{{"encoder", gpu0}, {"decoder", gpu1}})    // every context of the module
//   alike GroupContexts(ListMap{{"encoder", {gpu0, gpu2}}, ...})      // one for each of them
//   GroupContexts(std::vector<Map>{map0, map1})                 // a map for each of them

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ndarray/base/context.h"

namespace cooper {

class GroupContexts {
 public:
  using Map = std::map<std::string, Context>;
  using ListMap = std::map<std::string, std::vector<Context>>;

  GroupContexts() = default;
  GroupContexts(Map groups) : maps_({std::move(groups)}) {}             // NOLINT: as in MXNet
  GroupContexts(ListMap groups) : lists_(std::move(groups)) {}          // NOLINT
  GroupContexts(std::vector<Map> groups) : maps_(std::move(groups)) {}  // NOLINT

  bool empty() const { return maps_.empty() && lists_.empty(); }

  // A map for each of `num_contexts` contexts of a module; none if nothing is placed. A list of one
  // context, and a single map, count for all. kInvalidArgument, naming the group, if a number of
  // contexts is another.
  absl::StatusOr<std::vector<Map>> For(size_t num_contexts) const;

 private:
  std::vector<Map> maps_;
  ListMap lists_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_OPTIONS_GROUP_CONTEXTS_H_
