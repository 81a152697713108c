#include "module/checkpoint/do_checkpoint.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "module/interface/base_module.h"

namespace cooper {

EpochEndCallback DoCheckpoint(SaveCheckpointFunction save, int period, LogLine on_error) {
  return [save = std::move(save), period = std::max(period, 1), on_error = std::move(on_error)](
             int epoch, BaseModule& module) -> absl::StatusOr<bool> {
    if ((epoch + 1) % period != 0) return true;
    const absl::Status status = save(epoch + 1, module);
    if (!status.ok() && !on_error) return status;
    if (!status.ok()) {
      on_error(absl::StrCat("checkpoint of epoch ", epoch + 1, ": ", status.message()));
    }
    return true;
  };
}

EpochEndCallback DoCheckpoint(const std::string& prefix, int period, LogLine on_error) {
  return DoCheckpoint(
      [prefix](int number, BaseModule& module) { return module.SaveCheckpoint(prefix, number); },
      period, std::move(on_error));
}

EpochEndCallback ModuleCheckpoint(const BaseModule& module, const std::string& prefix, int period,
                                  bool save_optimizer_states, LogLine on_error) {
  return DoCheckpoint(
      [&module, prefix, save_optimizer_states](int number, BaseModule&) {
        return module.SaveCheckpoint(prefix, number, save_optimizer_states);
      },
      period, std::move(on_error));
}

}  // namespace cooper
