#include "module/checkpoint/rnn_checkpoint.h"

#include <utility>

#include "module/checkpoint/do_checkpoint.h"
#include "module/interface/base_module.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::Status SaveRnnCheckpoint(const std::vector<RNNCellPtr>& cells, const std::string& prefix,
                               int epoch, const Symbol& symbol, const ArrayMap& args,
                               const ArrayMap& auxs) {
  COOPER_ASSIGN_OR_RETURN(const ArrayMap gates, UnpackWeights(cells, args));
  return SaveCheckpoint(prefix, epoch, symbol, gates, auxs);
}

absl::StatusOr<Checkpoint> LoadRnnCheckpoint(const std::vector<RNNCellPtr>& cells,
                                             const std::string& prefix, int epoch,
                                             const LoadLimits& limits) {
  COOPER_ASSIGN_OR_RETURN(Checkpoint checkpoint, LoadCheckpoint(prefix, epoch, limits));
  COOPER_ASSIGN_OR_RETURN(
      checkpoint.args,
      AddContext(PackWeights(cells, std::move(checkpoint.args)), ParamsPath(prefix, epoch)));
  return checkpoint;
}

EpochEndCallback DoRnnCheckpoint(std::vector<RNNCellPtr> cells, const std::string& prefix,
                                 int period, LogLine on_error) {
  return DoCheckpoint(
      [cells = std::move(cells), prefix](int number, BaseModule& module) -> absl::Status {
        COOPER_ASSIGN_OR_RETURN(const Symbol symbol, module.symbol());
        COOPER_ASSIGN_OR_RETURN(const ModuleParams params, module.GetParams());
        return SaveRnnCheckpoint(cells, prefix, number, symbol, params.args, params.auxs);
      },
      period, std::move(on_error));
}

}  // namespace cooper
