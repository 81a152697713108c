#ifndef COOPER_MODULE_OPTIMIZER_EXPORT_STATES_H_
#define COOPER_MODULE_OPTIMIZER_EXPORT_STATES_H_

// Converts the states of cooper's optimizers to those of MXNet: the reverse of convert_states.h.

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "module/optimizer/optimizer.h"
#include "module/pickle/mxnet_states_writer.h"
#include "ndarray/array/named_arrays.h"

namespace cooper {

// Writes the state of each parameter in `states` (Updater::GetStates of `optimizer`) in the form
// that MXNet's optimizer of that kind has, under each of the keys that `keys_of` returns for it.
// Update counts are not written. Errors: those of `keys_of` and of the writer.
absl::Status WriteMxnetStates(
    const NamedArrays& states, const Optimizer& optimizer,
    const std::function<absl::StatusOr<std::vector<MxnetKey>>(const std::string& name)>& keys_of,
    MxnetStatesWriter* writer);

}  // namespace cooper

#endif  // COOPER_MODULE_OPTIMIZER_EXPORT_STATES_H_
