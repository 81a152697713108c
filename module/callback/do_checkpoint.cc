#include "module/callback/do_checkpoint.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "ndarray/status_macros.h"

namespace cooper {

EpochEndCallback DoCheckpoint(SaveCheckpointFunction save, int period) {
  return [save = std::move(save), period = std::max(period, 1)](
             int epoch, BaseModule& module) -> absl::StatusOr<bool> {
    if ((epoch + 1) % period == 0) COOPER_RETURN_IF_ERROR(save(epoch + 1, module));
    return true;
  };
}

}  // namespace cooper
