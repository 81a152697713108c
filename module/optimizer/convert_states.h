#ifndef COOPER_MODULE_OPTIMIZER_CONVERT_STATES_H_
#define COOPER_MODULE_OPTIMIZER_CONVERT_STATES_H_

// Converts the optimizer states of a file of MXNet (module/pickle/mxnet_states.h) to those of
// Updater::GetStates.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "module/optimizer/optimizer.h"
#include "module/pickle/mxnet_states.h"
#include "ndarray/array/array_map.h"
#include "ndarray/files/params_file.h"

namespace cooper {

// The names of the parameters that MXNet's files identify by position. If the list that applies to
// a file is empty, the position itself becomes the name, "3".
struct MxnetPositions {
  // In files of Module: the parameters in the order of the network's arguments, and those of them
  // that have gradients. If no key-value store updates them on n contexts, parameter i has the
  // positions [i * n, (i + 1) * n).
  std::vector<std::string> module, trained;
  // In files of Gluon's Trainer: parameters and auxiliary states in alphabetical order.
  std::vector<std::string> trainer;
  // From a file of num_contexts contexts, the states of this context are read; from other files,
  // those of the first context.
  int context = 0, num_contexts = 1;
};

// Returns the states under the names of Updater::GetStates. `count_of` returns the update count of
// a parameter; it is used where the file has no optimizer, as MXNet continues its own counts then.
// Hyperparameters of the file, such as the momentum, are not read: those of `optimizer` stay.
//
// Errors: kInvalidArgument if the file is of another kind of optimizer, a position stands for no
// parameter, or, naming the parameter, a state has another number of arrays; kUnimplemented for a
// sparse state of a parameter that `weights` lacks.
absl::StatusOr<NamedArrays> ConvertMxnetStates(
    const MxnetStates& states, const Optimizer& optimizer, const MxnetPositions& positions,
    const ArrayMap& weights, const std::function<int64_t(const std::string& name)>& count_of);

}  // namespace cooper

#endif  // COOPER_MODULE_OPTIMIZER_CONVERT_STATES_H_
