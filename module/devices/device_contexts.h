#ifndef COOPER_MODULE_DEVICES_DEVICE_CONTEXTS_H_
#define COOPER_MODULE_DEVICES_DEVICE_CONTEXTS_H_

// Holds the resources of each context that modules which train together share: an arena for
// activations, random streams, a thread. Parameters are in parameters.h.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "executor/run/arena.h"
#include "executor/run/random_state.h"
#include "module/devices/device_threads.h"
#include "ndarray/base/context.h"

namespace cooper {

// Not thread-safe, but for the accessors.
class DeviceContexts {
 public:
  using ArenaMap = std::map<Context, std::shared_ptr<Arena>>;

  // `contexts` must not be empty. The same context may be there several times.
  explicit DeviceContexts(const std::vector<Context>& contexts);

  int size() const { return static_cast<int>(devices_.size()); }
  Context context(int i) const { return devices_[i].arena->context(); }

  // Executors of context `i` share it, one at a time.
  const std::shared_ptr<Arena>& arena(int i) const { return devices_[i].arena; }
  // On the contexts on which parts of graphs are placed (BindOptions::group2ctx), as far as
  // MakeGroupArenas has made them.
  const ArenaMap& group_arenas(int i) const { return devices_[i].group_arenas; }
  void MakeGroupArenas(int i, const std::map<std::string, Context>& group2ctx);
  // The size of all arenas together.
  int64_t arena_bytes() const;

  // The random stream of context `i`'s operators. Each context draws different numbers.
  const std::shared_ptr<RandomState>& random(int i) const { return devices_[i].random; }
  // The random stream for evaluation, kept apart so that evaluation does not change the numbers
  // that training draws. It is not saved with a run.
  const std::shared_ptr<RandomState>& evaluation_random(int i) const {
    return devices_[i].evaluation_random;
  }
  // Restarts the streams from `seed`.
  void SetSeed(uint64_t seed) { SetRandomPosition({.seed = seed}); }
  // Seed and position of the streams, of which all contexts have the first one's.
  const RandomState& random_position() const { return *devices_[0].random; }
  // Takes seed and runs, and begins the streams of evaluation anew. Which device draws stays as it
  // is.
  void SetRandomPosition(const RandomState& position);
  // Sets all streams to the first one's position. Called before all contexts run.
  void AlignRandom();
  // Sets the process's rank, so that devices of all processes draw different numbers.
  void SetRank(int rank);

  // Calls fn(i) for every context at the same time (DeviceThreads::Run).
  absl::Status Run(absl::FunctionRef<absl::Status(int)> fn) { return threads_.Run(fn); }

 private:
  struct Device {
    std::shared_ptr<Arena> arena;
    ArenaMap group_arenas;
    std::shared_ptr<RandomState> random;
    std::shared_ptr<RandomState> evaluation_random;
  };

  std::vector<Device> devices_;
  DeviceThreads threads_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_DEVICES_DEVICE_CONTEXTS_H_
