#ifndef COOPER_MODULE_CHECKPOINT_RNN_CHECKPOINT_H_
#define COOPER_MODULE_CHECKPOINT_RNN_CHECKPOINT_H_

// Checkpoints of networks with recurrent cells in which each gate has an array of its own
// (l0_i2h_i_weight), not the cells' packed weights (l0_i2h_weight): the same file then does for
// fused and unfused cells. MXNet: mx.rnn.save_rnn_checkpoint, load_rnn_checkpoint and
// do_rnn_checkpoint, whose files these are.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "module/callback/callback.h"
#include "module/callback/log_line.h"
#include "module/parameters/checkpoint.h"
#include "ndarray/array/array_map.h"
#include "symbol/graph/symbol.h"
#include "symbol/json/load_limits.h"
#include "symbol/rnn/base_rnn_cell.h"

namespace cooper {

// SaveCheckpoint of the arrays as UnpackWeights of each cell gives them. `cells` are those that are
// unrolled: a SequentialRNNCell, not the cells in it beside it. Errors: those of UnpackWeights, for
// weights that `args` lacks or that have another shape, and those of SaveCheckpoint.
absl::Status SaveRnnCheckpoint(const std::vector<RNNCellPtr>& cells, const std::string& prefix,
                               int epoch, const Symbol& symbol, const ArrayMap& args,
                               const ArrayMap& auxs);

// The checkpoint with packed weights, as modules with these cells have them. Errors: those of
// LoadCheckpoint, and those of PackWeights with the path of the file.
absl::StatusOr<Checkpoint> LoadRnnCheckpoint(const std::vector<RNNCellPtr>& cells,
                                             const std::string& prefix, int epoch,
                                             const LoadLimits& limits = {});

// Saves at the end of every `period`-th epoch, numbered and with errors as by DoCheckpoint
// (module/checkpoint/do_checkpoint.h). prefix-symbol.json has the module's symbol: of a
// BucketingModule that of the bucket which ran last, as in MXNet.
EpochEndCallback DoRnnCheckpoint(std::vector<RNNCellPtr> cells, const std::string& prefix,
                                 int period = 1, LogLine on_error = {});

}  // namespace cooper

#endif  // COOPER_MODULE_CHECKPOINT_RNN_CHECKPOINT_H_
