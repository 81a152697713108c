#ifndef COOPER_MODULE_CHECKPOINT_DO_CHECKPOINT_H_
#define COOPER_MODULE_CHECKPOINT_DO_CHECKPOINT_H_

// Saves the module at the ends of epochs. MXNet: mx.callback.do_checkpoint and module_checkpoint.
//
//   fit.epoch_end_callbacks = {DoCheckpoint("lstm", /*period=*/5)};  // lstm-0005.params, ...

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "module/callback/callback.h"
#include "module/callback/log_line.h"

namespace cooper {

// Writes the files of a checkpoint with this number.
using SaveCheckpointFunction = std::function<absl::Status(int number, BaseModule& module)>;

// Saves at the end of every `period`-th epoch (at least every one). The number is that of epochs
// that are done: after epoch 0 it is 1. An error ends the training, unless there is an `on_error`:
// then that is told, and the training goes on, as after a state that could not be saved
// (checkpointer.h).
EpochEndCallback DoCheckpoint(SaveCheckpointFunction save, int period = 1, LogLine on_error = {});

// The same with BaseModule::SaveCheckpoint of the module that is trained: prefix-0003.params and
// the symbol, or the symbols of all buckets.
EpochEndCallback DoCheckpoint(const std::string& prefix, int period = 1, LogLine on_error = {});

// The same with SaveCheckpoint of `module`, which is not owned, whichever module is trained, and if
// asked with optimizer states (prefix-0003.states).
EpochEndCallback ModuleCheckpoint(const BaseModule& module, const std::string& prefix,
                                  int period = 1, bool save_optimizer_states = false,
                                  LogLine on_error = {});

}  // namespace cooper

#endif  // COOPER_MODULE_CHECKPOINT_DO_CHECKPOINT_H_
