#ifndef COOPER_MODULE_PARAMETERS_SAVED_PARAMETERS_H_
#define COOPER_MODULE_PARAMETERS_SAVED_PARAMETERS_H_

// What has to be kept of the parameters of a training run, as copies in CPU memory: plain data that
// ParameterStore makes and takes, and that a training state writes to a file.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ndarray/array/array_map.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// What one context has: parameters, auxiliary and carried states by name, gradients that add up
// over updates (WriteReq::kAdd, and nobody zeroes them), and optimizer states (Updater::GetStates).
struct ReplicaState {
  ArrayMap args;
  ArrayMap auxs;
  ArrayMap states;
  ArrayMap grads;
  std::vector<std::pair<std::string, NDArray>> optimizer;
};

// The first context's, and what differs from it.
struct SavedParameters : ReplicaState {
  // Of the contexts after the first, by index from 1 on: auxiliary and carried states, and, where
  // no key-value store keeps them equal, parameters and optimizer states.
  std::map<int, ReplicaState> replicas;
  // What the key-value store keeps for itself.
  std::vector<std::pair<std::string, NDArray>> kvstore;
  // Where several processes train together: their updates so far, the same number on all. Absent
  // for one process.
  std::optional<int64_t> updates;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PARAMETERS_SAVED_PARAMETERS_H_
