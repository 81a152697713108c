#ifndef COOPER_MODULE_PARAMETERS_SAVED_PARAMETERS_H_
#define COOPER_MODULE_PARAMETERS_SAVED_PARAMETERS_H_

// The parameters of a training run as copies in CPU memory: plain data that Learner captures
// and restores, and that a training state writes to a file.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ndarray/array/array_map.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// The state of one context: parameters, auxiliary and carried states by name, gradients that
// accumulate over updates (WriteReq::kAdd, without ZeroGrads in between), and optimizer states
// (Updater::GetStates).
struct ReplicaState {
  ArrayMap args;
  ArrayMap auxs;
  ArrayMap states;
  ArrayMap grads;
  std::vector<std::pair<std::string, NDArray>> optimizer;
};

// The state of the first context, and the differences of the others.
struct SavedParameters : ReplicaState {
  // The contexts after the first, by index from 1 on: auxiliary and carried states and, without a
  // key-value store to keep them equal, parameters and optimizer states.
  std::map<int, ReplicaState> replicas;
  // The state of the key-value store itself (KVStore::GetState).
  std::vector<std::pair<std::string, NDArray>> kvstore;
  // With several processes, the number of their updates so far, the same on all; absent for one
  // process.
  std::optional<int64_t> updates;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PARAMETERS_SAVED_PARAMETERS_H_
