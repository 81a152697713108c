#ifndef COOPER_MODULE_CHECKPOINT_TRAINING_STATE_H_
#define COOPER_MODULE_CHECKPOINT_TRAINING_STATE_H_

// Everything that a training run needs to continue bit for bit where it was stopped: parameters,
// auxiliary and carried states, optimizer states with their counters and schedule, the iterator's
// position and permutation, the random stream, the metric's sums, and the run's progress.
//
// On disk it is one file, replaced as a whole or not at all: a `.params` list
// (ndarray/files/params_file.h) whose first array, "cooper:training_state", is the version (int64),
// whose last one, "cooper:crc32", is a checksum of all others, and whose others are called
//
//   arg:NAME  aux:NAME  state:NAME     as in a module
//   grad:NAME                          gradients that accumulate over updates (WriteReq::kAdd)
//   opt:KEY                            as Updater::GetStates
//   kvstore:KEY                        as KVStore::GetState
//   callback:NAME:KEY                  as StatefulCallback::SaveState
//   replica:I:WHAT:NAME                an entry WHAT:NAME of further context I, if it differs
//   text:iterator  text:metric         SaveState of each (uint8)
//   text:buckets                       the keys of all buckets bound so far, one a line
//                                      (BucketKey::ToString; uint8)
//   position                           epoch, batch, seed and runs of the random stream (int64)
//   updates                            of several processes: updates of all so far (int64)
//   score                              what Checkpointer::Save was given, if anything (float64)
//
// The checksum is the CRC-32 of zlib over, for each array, its name, a zero, its dtype's name, a
// zero, its extents (int64), and its elements. Version 3 has neither grad nor updates nor callback,
// version 2 no score, version 1 no checksum and no entries kvstore, replica and buckets. All can be
// read. A Checkpointer (checkpointer.h) saves and restores states during a training. To restore one
// by hand:
//
//   COOPER_ASSIGN_OR_RETURN(TrainingState state, LoadTrainingState(path));
//   COOPER_RETURN_IF_ERROR(RestoreTraining(state, {.module = model, .iter = iter}, fit.optimizer,
//                                          fit.params));
//   fit.begin_epoch = state.epoch;
//   fit.begin_batch = state.nbatch;
//   COOPER_RETURN_IF_ERROR(model->Fit(*iter, fit));

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/executor.h"
#include "io/batch/bucket_key.h"
#include "io/batch/data_iter.h"
#include "module/callback/callback.h"
#include "module/checkpoint/state_files.h"
#include "module/interface/base_module.h"
#include "module/metric/eval_metric.h"
#include "module/options/parameter_options.h"
#include "module/parameters/saved_parameters.h"
#include "ndarray/array/array_map.h"

namespace cooper {

// The objects whose state is captured and restored. Nothing is owned, and all must outlive the
// calls.
struct TrainingRun {
  BaseModule* module = nullptr;
  DataIter* iter = nullptr;
  EvalMetric* metric = nullptr;  // may be null
  // Callbacks whose state belongs to the run, under names of the caller's choice without ':'. A
  // resumed run must use the same names: a callback that the state does not know stays unchanged,
  // and states of other names are ignored.
  std::map<std::string, StatefulCallback*> callbacks;
};

// The contents of a state file.
struct TrainingState : SavedParameters {
  int epoch = 0;       // the epoch to continue
  int64_t nbatch = 0;  // batches of it that are done
  RandomState random;  // its `replica` is ignored
  std::string iterator;
  std::string metric;
  // The keys of all buckets that were bound, to bind them again before the first batch
  // (PrepareAll).
  std::vector<BucketKey> buckets;
  // The score of Checkpointer::Save. It is in the file of the state, so that a killed run cannot
  // leave the best state with the score of another one.
  std::optional<double> score;
  std::map<std::string, ArrayMap> callbacks;  // by the names in TrainingRun::callbacks

  // The position in the training. Processes that train together have the same position after the
  // same update, whatever data each has; for one process it is epoch and batches.
  StatePosition position() const { return {epoch, updates.value_or(nbatch)}; }
};

// Copies the state of a module and of the objects that train it. At the end of an epoch, call it
// either after the iterator's Reset with the next epoch and nbatch 0, or before Reset and the
// validation with the number of the epoch's batches: both states continue alike. Errors:
// kUnimplemented for a module of several groups (BaseModule::group), such as a SequentialModule;
// kInvalidArgument for a callback whose name has a ':'.
absl::StatusOr<TrainingState> CaptureTraining(const TrainingRun& run, int epoch, int64_t nbatch);

// Restores a state into a bound module, whose parameters and optimizer are overwritten; `optimizer`
// creates the optimizer first if there is none, and `params` says how parameters that only buckets
// bound later have get their values. The iterator must have the same data and options.
//
// Errors: kInvalidArgument, naming it, if the state lacks a parameter of the module or has it with
// another shape, or if a callback does not accept its state; kUnimplemented as for CaptureTraining.
absl::Status RestoreTraining(const TrainingState& state, const TrainingRun& run,
                             const InitOptimizerOptions& optimizer,
                             const InitParamsOptions& params = {});

// SaveTrainingState writes the file as a whole or not at all. LoadTrainingState fails with the
// errors of LoadNamedArrays, and with kInvalidArgument, naming the cause, if the version, an entry
// or the checksum is wrong.
absl::Status SaveTrainingState(const std::string& path, const TrainingState& state);
absl::StatusOr<TrainingState> LoadTrainingState(const std::string& path);

}  // namespace cooper

#endif  // COOPER_MODULE_CHECKPOINT_TRAINING_STATE_H_
