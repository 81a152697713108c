#ifndef COOPER_MODULE_CHECKPOINTER_H_
#define COOPER_MODULE_CHECKPOINTER_H_

// Keeps the state of a run on the disk: written beside the training, the last few and the best, and
// found again after a crash.
//
//   COOPER_ASSIGN_OR_RETURN(auto checkpointer, Checkpointer::Create({.prefix = "run/lm"}));
//   COOPER_ASSIGN_OR_RETURN(const bool resumed, checkpointer->Resume(run, &fit));
//   fit.capture_point = checkpointer->Every(100, run);
//   COOPER_RETURN_IF_ERROR(model->Fit(*data, fit));
//   COOPER_RETURN_IF_ERROR(checkpointer->Wait());
//
// A state is in PREFIX-EEEE-BBBBBBBB.state, by epoch and batches done, and the best one in
// PREFIX-best.state (training_state.h describes the file). A file gets its name when it is whole
// and on the disk, and none is removed before a newer one has its name: whenever the process or the
// machine stops, and if the disk is full, the states before are usable.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/data_iter.h"
#include "module/base_module.h"
#include "module/callback/log_line.h"
#include "module/metric/eval_metric.h"
#include "module/training_state.h"

namespace cooper {

struct CheckpointerOptions {
  std::string prefix;  // required; its folder must exist
  // So many of the newest states stay. At least 1.
  int keep_last = 2;
  // Whether a larger score is better (accuracy) or a smaller one (perplexity).
  bool larger_is_better = false;
  // Write in a thread of its own, while the training goes on: a state is copied, and waits only for
  // the one before to be written.
  bool background = true;
  LogLine log = LogInfo;  // of what could not be written or read
};

// What a state is taken from and put back into. Nothing is owned, and all must outlive the calls;
// `metric` may be null.
struct TrainingRun {
  BaseModule* module = nullptr;
  DataIter* iter = nullptr;
  EvalMetric* metric = nullptr;
};

class Checkpointer {
 public:
  // Removes what killed runs have left half written of any file of this prefix, symbols and
  // parameters too. At a time, one run should use a prefix: two remove each other's older states,
  // though every file that is there is whole. kInvalidArgument without a prefix or for keep_last
  // below 1.
  static absl::StatusOr<std::unique_ptr<Checkpointer>> Create(CheckpointerOptions options);

  // Waits until everything is written; what fails then is logged.
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  // Writes a state; with a `score` that no state before had, or none better, also as the best one.
  // With `background` it returns once the state before is written, with the error of that one. An
  // error names the file and the newest state that can still be used.
  absl::Status Save(TrainingState state, std::optional<double> score = std::nullopt);
  // Returns when everything is written, with the error of what was written last.
  absl::Status Wait();

  // For FitOptions::capture_point: saves when `batches` batches or more were done since the last
  // state that it saved or Resume put back, in however many epochs. What could not be saved is
  // logged, and the training goes on; Wait tells at the end.
  std::function<absl::Status(int epoch, int64_t batches_done)> Every(int64_t batches,
                                                                     const TrainingRun& run);

  // For FitOptions::stop_point: saves, and returns once that is on the disk.
  std::function<absl::Status(int epoch, int64_t batches_done)> AtStop(const TrainingRun& run);

  // The newest state that can be read; those that cannot are logged. kNotFound if there is no file
  // of a state, kDataLoss, naming the files and a reason, if there are some but none can be read.
  // The best score is that of the run before from then on; a run that begins anew forgets it, and
  // removes the states of the run before with its first one.
  absl::StatusOr<TrainingState> LoadLatest();

  // Binds the module as Fit does (BindToFit), puts the newest state back and sets begin_epoch and
  // begin_batch, and takes `seed` and what begins anew (force_init, force_rebind) out; false,
  // having done nothing, if there is no state. The optimizer and the rest of `fit` must be those of
  // the run before. States of which none can be read are kDataLoss: a run that begins anew would
  // remove them. With a store over several processes all of them call it, take the newest state
  // that all have, and fail alike: kDataLoss, naming the rank, if one can read none of its states,
  // kFailedPrecondition if they have none in common.
  absl::StatusOr<bool> Resume(const TrainingRun& run, FitOptions* fit);

  // Files of states, oldest first, without the best. None if the folder cannot be listed.
  std::vector<std::string> Paths() const;
  std::string best_path() const { return options_.prefix + "-best.state"; }

 private:
  explicit Checkpointer(CheckpointerOptions options) : options_(std::move(options)) {}

  // The best state before it has its name.
  std::string linked_path() const { return best_path() + ".tmp-link"; }
  void WaitAndLog();
  // Absent without a best state, or if it cannot be read.
  std::optional<double> ReadBestScore() const;
  // All states that can be read, by position as text. An error if there are files but none can be.
  absl::StatusOr<std::map<std::string, TrainingState>> LoadAll() const;
  // The newest state that every process has, for a fit over several; else the newest one.
  absl::StatusOr<TrainingState> LoadForFit(FitOptions* fit);
  absl::Status Write(const TrainingState& state);
  absl::Status WriteBest(const TrainingState& state, const std::string& path);
  bool IsBest(double score) const;
  void Work();

  const CheckpointerOptions options_;
  std::optional<double> best_;  // of the thread that writes
  std::string newest_;          // likewise
  // Epoch and batches done of the state that Resume put back.
  std::pair<int, int64_t> resumed_at_ = {-1, 0};

  // std's, not Abseil's: the race detector sees through it.
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::unique_ptr<TrainingState> job_;  // null: nothing to write
  absl::Status last_;                   // of what was written last
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_CHECKPOINTER_H_
