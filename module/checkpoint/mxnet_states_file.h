#ifndef COOPER_MODULE_CHECKPOINT_MXNET_STATES_FILE_H_
#define COOPER_MODULE_CHECKPOINT_MXNET_STATES_FILE_H_

// Writes optimizer states for MXNet. BaseModule::LoadOptimizerStates reads them too, as well as
// those that MXNet writes.

#include <string>

#include "absl/status/status.h"
#include "module/interface/base_module.h"

namespace cooper {

// Writes the file that Module.load_optimizer_states of MXNet 1.9.1 reads, for a module of MXNet
// with as many contexts and a store of the same kind: a pickled dictionary with the state of each
// parameter, by position among the network's arguments, or by name if a key-value store updates.
//
// As in MXNet's own files, counts, rate and hyperparameters are not in it: give the optimizer of
// MXNet begin_num_update. Nadam's product of momenta begins anew.
//
// Errors: kFailedPrecondition without an optimizer; kUnimplemented for a module of several parts
// with parameters, and for several contexts without a key-value store, each of which trains
// parameters of its own; kInvalidArgument, naming it, for the state of a parameter that is no
// argument of the network; those of writing files.
absl::Status SaveMxnetOptimizerStates(const BaseModule& module, const std::string& path);

}  // namespace cooper

#endif  // COOPER_MODULE_CHECKPOINT_MXNET_STATES_FILE_H_
