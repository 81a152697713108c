#ifndef COOPER_MODULE_MODULE_GROUP_H_
#define COOPER_MODULE_MODULE_GROUP_H_

// What modules that train together share, by name and never by position: parameters with their
// gradients, auxiliary states, states carried from batch to batch, the optimizer with its states,
// and on each context one arena and one random stream. The buckets of a BucketingModule are modules
// of one group.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/executor.h"
#include "executor/run/arena.h"
#include "io/bucket_key.h"
#include "module/device_threads.h"
#include "module/initializer/initializer.h"
#include "module/kvstore/kvstore.h"
#include "module/optimizer/updater.h"
#include "ndarray/context.h"
#include "ndarray/ndarray.h"

namespace cooper {

// What a group has on one of its contexts.
struct ModuleReplica {
  explicit ModuleReplica(Context context)
      : arena(std::make_shared<Arena>(context)), random(std::make_shared<RandomState>()) {}

  // By name: the union over all modules of the group.
  ArrayMap args;
  ArrayMap grads;
  ArrayMap auxs;
  ArrayMap states;

  std::shared_ptr<Arena> arena;
  // On the contexts on which parts of graphs are placed.
  std::map<Context, std::shared_ptr<Arena>> group_arenas;
  std::shared_ptr<RandomState> random;
  // Updates this replica's parameters, and with a store the others' too; null where nothing does,
  // and until InitOptimizer.
  std::shared_ptr<Updater> updater;
  // Of a state that was put back: arrays of this replica's own, after the first, that wait for
  // their bucket.
  ArrayMap waiting_args;
  ArrayMap waiting_auxs;
};

struct ModuleGroup {
  // `contexts` must not be empty.
  explicit ModuleGroup(const std::vector<Context>& contexts);

  ModuleReplica& first() { return replicas.front(); }
  const ModuleReplica& first() const { return replicas.front(); }

  // Null until InitOptimizer: the first replica's updater, or the store's.
  std::shared_ptr<Updater> updater() const {
    return update_on_kvstore ? kvstore->updater() : first().updater;
  }

  // Makes large parameters of all replicas that are in one memory the first one's own array, so
  // that an update reaches all of them; or, with `share` false, gives each replica its own again.
  // With a store all have the same values.
  absl::Status ShareArgs(bool share);
  // Copies a parameter of the first replica to the others.
  absl::Status CopyArg(const std::string& name);
  // Gives arrays what waits for them.
  absl::Status TakeWaiting();
  // Give each replica, and the store, the first replica's value of a parameter or auxiliary state.
  absl::Status BroadcastArg(const std::string& name);
  absl::Status BroadcastAux(const std::string& name);
  // Copies on the CPU: the mean over the replicas. A key-value store keeps parameters equal;
  // auxiliary states are each replica's own.
  absl::StatusOr<NDArray> MeanArg(const std::string& name) const;
  absl::StatusOr<NDArray> MeanAux(const std::string& name) const;
  absl::Status ZeroGrads();
  // Forgets arrays of all replicas, so that the next Bind makes them anew.
  void DropArg(const std::string& name);
  void DropAux(const std::string& name);
  // Bytes of all arenas.
  int64_t arena_bytes() const;

  std::vector<ModuleReplica> replicas;  // one per context, in their order
  DeviceThreads threads;

  // Sums gradients over replicas and processes. Null: nothing is summed.
  std::shared_ptr<KVStore> kvstore;
  // Whether the store updates the parameters, or only sums gradients.
  bool update_on_kvstore = false;

  bool share_args = false;  // ShareArgs
  // Changes whenever arrays of parameters are replaced: bound executors then take the new ones.
  int64_t args_generation = 0;

  double clip_global_norm = 0;                // 0: gradients are not clipped
  std::vector<Updater::Parameter> to_update;  // of one update; kept for its memory
  // Scratch for the norm.
  std::vector<NDArray> clipped_grads;
  std::vector<double> norm_blocks;
  // Parameters that have gradients added up since the last update, with grad_req kAdd.
  std::set<std::string> pending;

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
  // Keys of all buckets that were ever bound.
  std::set<BucketKey> buckets;
  std::set<std::string> initialized;  // names of parameters and auxiliary states that have values
};

}  // namespace cooper

#endif  // COOPER_MODULE_MODULE_GROUP_H_
