#ifndef COOPER_MODULE_CHECKPOINT_RNN_CHECKPOINT_H_
#define COOPER_MODULE_CHECKPOINT_RNN_CHECKPOINT_H_

// Checkpoints of recurrent networks in which each gate has an array of its own (l0_i2h_i_weight)
// instead of the cells' packed weights (l0_i2h_weight), so that one file serves fused and unfused
// cells. The files are those of MXNet's mx.rnn.save_rnn_checkpoint, load_rnn_checkpoint and
// do_rnn_checkpoint.

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

// Calls SaveCheckpoint with the arrays after UnpackWeights of each cell. `cells` are the cells that
// are unrolled: a SequentialRNNCell, without the cells inside it. Errors: those of UnpackWeights,
// for weights that `args` lacks or that have another shape, and those of SaveCheckpoint.
absl::Status SaveRnnCheckpoint(const std::vector<RNNCellPtr>& cells, const std::string& prefix,
                               int epoch, const Symbol& symbol, const ArrayMap& args,
                               const ArrayMap& auxs);

// Returns the checkpoint with packed weights, for modules with these cells. Errors: those of
// LoadCheckpoint, and those of PackWeights with the path of the file.
absl::StatusOr<Checkpoint> LoadRnnCheckpoint(const std::vector<RNNCellPtr>& cells,
                                             const std::string& prefix, int epoch,
                                             const LoadLimits& limits = {});

// Saves at the end of every `period`-th epoch, with the numbers and errors of DoCheckpoint
// (module/checkpoint/do_checkpoint.h). prefix-symbol.json has the module's symbol; for a
// BucketingModule it is the symbol of the bucket that ran last, as in MXNet.
EpochEndCallback DoRnnCheckpoint(std::vector<RNNCellPtr> cells, const std::string& prefix,
                                 int period = 1, LogLine on_error = {});

}  // namespace cooper

#endif  // COOPER_MODULE_CHECKPOINT_RNN_CHECKPOINT_H_
