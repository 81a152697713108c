#ifndef COOPER_MODULE_CALLBACK_DO_CHECKPOINT_H_
#define COOPER_MODULE_CALLBACK_DO_CHECKPOINT_H_

// Saves the module at the ends of epochs.

#include <functional>

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

}  // namespace cooper

#endif  // COOPER_MODULE_CALLBACK_DO_CHECKPOINT_H_
