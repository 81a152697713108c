#ifndef COOPER_MODULE_CHECKPOINT_DO_CHECKPOINT_H_
#define COOPER_MODULE_CHECKPOINT_DO_CHECKPOINT_H_

// Callbacks that save the module at the ends of epochs. MXNet: mx.callback.do_checkpoint and
// module_checkpoint.
//
//   fit.epoch_end_callbacks = {DoCheckpoint("lstm", /*period=*/5)};  // lstm-0005.params, ...

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "module/callback/callback.h"
#include "module/callback/log_line.h"

namespace cooper {

// Writes the files of the checkpoint with this number.
using SaveCheckpointFunction = std::function<absl::Status(int number, BaseModule& module)>;

// Saves at the end of every `period`-th epoch (values below 1 mean every epoch). The number is that
// of completed epochs: 1 after epoch 0. An error ends the training. With an `on_error` the error is
// passed to it instead and the training continues, as with a Checkpointer (checkpointer.h).
EpochEndCallback DoCheckpoint(SaveCheckpointFunction save, int period = 1, LogLine on_error = {});

// Saves with BaseModule::SaveCheckpoint of the module being trained: prefix-0003.params and the
// symbol, or the symbols of all buckets. Period and errors are as above.
EpochEndCallback DoCheckpoint(const std::string& prefix, int period = 1, LogLine on_error = {});

// Saves with SaveCheckpoint of `module`, whichever module is trained, and with
// save_optimizer_states also prefix-0003.states. `module` is not owned and must outlive the
// callback. Period and errors are as above.
EpochEndCallback ModuleCheckpoint(const BaseModule& module, const std::string& prefix,
                                  int period = 1, bool save_optimizer_states = false,
                                  LogLine on_error = {});

}  // namespace cooper

#endif  // COOPER_MODULE_CHECKPOINT_DO_CHECKPOINT_H_
