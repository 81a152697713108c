#ifndef COOPER_MODULE_SAVED_PARAMETERS_H_
#define COOPER_MODULE_SAVED_PARAMETERS_H_

// What has to be kept of the parameters of a training run, as copies in CPU memory: plain data that
// ParameterStore makes and takes, and that a training state writes to a file.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ndarray/array_map.h"
#include "ndarray/ndarray.h"

namespace cooper {

// What one context has: parameters, auxiliary and carried states by name, and optimizer states
// (Updater::GetStates).
struct ReplicaState {
  ArrayMap args;
  ArrayMap auxs;
  ArrayMap states;
  std::vector<std::pair<std::string, NDArray>> optimizer;
};

// The first context's, and what differs from it.
struct SavedParameters : ReplicaState {
  // Of the contexts after the first, by index from 1 on: auxiliary and carried states, and, where
  // no key-value store keeps them equal, parameters and optimizer states.
  std::map<int, ReplicaState> replicas;
  // What the key-value store keeps for itself.
  std::vector<std::pair<std::string, NDArray>> kvstore;
};

}  // namespace cooper

#endif  // COOPER_MODULE_SAVED_PARAMETERS_H_
