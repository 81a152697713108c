#ifndef COOPER_MODULE_MODULE_GROUP_H_
#define COOPER_MODULE_MODULE_GROUP_H_

// What modules that train together share, by name and never by position: parameters with their
// gradients, auxiliary states, states carried from batch to batch, the optimizer with its states,
// one arena, one random stream. The buckets of a BucketingModule are modules of one group.

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "executor/arena.h"
#include "executor/executor.h"
#include "module/initializer/initializer.h"
#include "module/optimizer/updater.h"
#include "ndarray/context.h"

namespace cooper {

struct ModuleGroup {
  explicit ModuleGroup(Context context)
      : arena(std::make_shared<Arena>(context)), random(std::make_shared<RandomState>()) {}

  // Device arrays by name: the union over all modules of the group.
  ArrayMap args;
  ArrayMap grads;
  ArrayMap auxs;
  ArrayMap states;

  std::shared_ptr<Arena> arena;
  std::shared_ptr<RandomState> random;

  // Null until InitOptimizer.
  std::shared_ptr<Updater> updater;

  // Attributes of the variables behind args and auxs, of all symbols.
  std::map<std::string, AttrMap> attrs;

  // How parameters get their first values, for those that a later bucket brings. Null before
  // InitParams, or if it was called without an initializer.
  std::shared_ptr<const Initializer> initializer;
  uint64_t init_seed = 0;
  // Values that wait for a parameter of their name.
  ArrayMap given_args;
  ArrayMap given_auxs;
  bool have_given_args = false;
  bool have_given_auxs = false;
  bool allow_missing = false;
  bool params_initialized = false;
  std::set<std::string> initialized;  // names of parameters and auxiliary states that have values
};

}  // namespace cooper

#endif  // COOPER_MODULE_MODULE_GROUP_H_
