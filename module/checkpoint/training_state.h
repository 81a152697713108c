#ifndef COOPER_MODULE_CHECKPOINT_TRAINING_STATE_H_
#define COOPER_MODULE_CHECKPOINT_TRAINING_STATE_H_

// Everything a training run needs to go on where it was stopped, bit for bit: parameters, auxiliary
// and carried states, optimizer states with their counters and schedule, the iterator's position
// and permutation, the random stream, the metric's sums, and how far the run had come.
//
// On disk it is one file, replaced as a whole or not at all: a `.params` list
// (ndarray/files/params_file.h) whose first array, "cooper:training_state", is the version (int64),
// whose last one, "cooper:crc32", is a checksum of all others, and whose others are called
//
//   arg:NAME  aux:NAME  state:NAME     as in a module
//   grad:NAME                          sums of gradients that go on over updates (WriteReq::kAdd)
//   opt:KEY                            as Updater::GetStates
//   kvstore:KEY                        as KVStore::GetState
//   callback:NAME:KEY                  as StatefulCallback::SaveState
//   replica:I:WHAT:NAME                the same of the I-th further context, where it differs
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
// read. A Checkpointer (checkpointer.h) saves and restores states beside a training; by hand:
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

// What a state is taken from and put back into. Nothing is owned, and all must outlive the calls.
struct TrainingRun {
  BaseModule* module = nullptr;
  DataIter* iter = nullptr;
  EvalMetric* metric = nullptr;  // may be null
  // Callbacks whose state is part of the run's, under names of the caller's choice without ':'. A
  // run goes on with the same names: a callback that the state does not know stays as it is, and
  // what the state has under another name is ignored.
  std::map<std::string, StatefulCallback*> callbacks;
};

struct TrainingState : SavedParameters {
  int epoch = 0;       // the epoch that goes on
  int64_t nbatch = 0;  // its batches that are done
  RandomState random;  // its `replica` does not count
  std::string iterator;
  std::string metric;
  // Of all buckets that were bound: to bind them again before the first batch (PrepareAll).
  std::vector<BucketKey> buckets;
  // How good it is (Checkpointer::Save). It is in the file of the state, so that a run that is
  // killed cannot leave the best state with the score of another one.
  std::optional<double> score;
  std::map<std::string, ArrayMap> callbacks;  // by the names in TrainingRun::callbacks

  // Where it stands in the training: processes that train together have the same position after the
  // same update, whatever data each has; that of one process is epoch and batches.
  StatePosition position() const { return {epoch, updates.value_or(nbatch)}; }
};

// Copies the state out of a module and the objects that train it. For the end of an epoch, call it
// after the iterator's Reset with the next epoch and nbatch 0, or before it, and before the
// validation, with the batches of the epoch: both go on alike. kUnimplemented for a module of
// several groups (BaseModule::group), such as a SequentialModule; kInvalidArgument for a callback
// whose name has a ':'.
absl::StatusOr<TrainingState> CaptureTraining(const TrainingRun& run, int epoch, int64_t nbatch);

// Puts a state back: the module must be bound; its parameters and optimizer are overwritten, the
// optimizer being made by `optimizer` first if there is none; `params` says how parameters that
// only later buckets bring get their values. The iterator must be over the same data with the same
// options. kInvalidArgument, naming it, if the state lacks a parameter of the module or has one of
// another shape, or if a callback does not take its state; kUnimplemented as CaptureTraining.
absl::Status RestoreTraining(const TrainingState& state, const TrainingRun& run,
                             const InitOptimizerOptions& optimizer,
                             const InitParamsOptions& params = {});

// Loading fails with kInvalidArgument, saying which, if the version, an entry or the checksum is
// not as it should be.
absl::Status SaveTrainingState(const std::string& path, const TrainingState& state);
absl::StatusOr<TrainingState> LoadTrainingState(const std::string& path);

}  // namespace cooper

#endif  // COOPER_MODULE_CHECKPOINT_TRAINING_STATE_H_
