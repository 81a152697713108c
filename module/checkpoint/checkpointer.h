#ifndef COOPER_MODULE_CHECKPOINT_CHECKPOINTER_H_
#define COOPER_MODULE_CHECKPOINT_CHECKPOINTER_H_

// Keeps the state of a run on the disk: written beside the training, the last few and the best, and
// found again after a crash.
//
//   COOPER_ASSIGN_OR_RETURN(auto checkpointer, Checkpointer::Create({.prefix = "run/lm"}));
//   COOPER_RETURN_IF_ERROR(checkpointer->Resume(run, &fit).status());  // or begins anew
//   checkpointer->Attach(run, {.every = 100, .score = "perplexity"}, &fit);
//   COOPER_RETURN_IF_ERROR(model->Fit(*data, fit));
//
// A state is in PREFIX-EEEE-BBBBBBBB.state, by epoch and batches done, and the best one in
// PREFIX-best.state (training_state.h describes the file). A file gets its name when it is whole
// and on the disk, and none is removed before a newer one has its name: whenever the process or the
// machine stops, and if the disk is full, the states before are usable.
//
// Each of several processes that train together has a Checkpointer with a prefix of its own and
// saves after the same updates, of which BBBBBBBB is the number since the beginning. The processes,
// which a Checkpointer knows by Resume, Every or AtStop, tell each other with each update which
// state they have, and keep, beside the newest ones, the newest that all have.

#include <array>
#include <atomic>
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
#include "module/callback/log_line.h"
#include "module/checkpoint/state_files.h"
#include "module/checkpoint/training_state.h"
#include "module/interface/base_module.h"
#include "module/kvstore/kvstore.h"
#include "module/metric/eval_metric.h"

namespace cooper {

struct CheckpointerOptions {
  std::string prefix;  // required
  // Whether Create makes the folder of `prefix`, and those above it, if it is missing.
  bool create_folder = false;
  // So many of the newest states stay. At least 1. Of several processes up to two older ones stay
  // too, from which all can go on.
  int keep_last = 2;
  // Whether a larger score is better (accuracy) or a smaller one (perplexity). Unset: Attach
  // decides by the metric's name (LargerIsBetter), and for Save alone smaller is better.
  std::optional<bool> larger_is_better;
  // Write in a thread of its own, while the training goes on: a state is copied, and waits only for
  // the one before to be written.
  bool background = true;
  LogLine log = LogError;  // takes what could not be written or read
};

struct AttachOptions {
  // Batches between two states within an epoch (see Every); 0: only the ends of epochs are saved.
  int64_t every = 0;
  // The value of the validation's metric that decides which state is the best one. Empty: the
  // metric's first value. Of no use without FitOptions::eval_data.
  std::string score;
};

class Checkpointer {
 public:
  // Removes what killed runs have left half written of any file of this prefix, symbols and
  // parameters too. At a time, one run should use a prefix: two remove each other's older states,
  // though every file that is there is whole. kInvalidArgument without a prefix or for keep_last
  // below 1; kNotFound if the prefix's folder is missing (without create_folder),
  // kFailedPrecondition if it is no folder, kPermissionDenied if no file can be made in it.
  static absl::StatusOr<std::unique_ptr<Checkpointer>> Create(CheckpointerOptions options);

  // Waits until everything is written; what fails then is logged.
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  // Makes Fit save the run and wait for the last save: sets capture_point, stop_point and end_point
  // of `fit`, and puts callbacks before the others that are called at the ends of epochs and of
  // validations. A state is saved at the end of each epoch, once the validation (if there is one)
  // has given its score, every `every` batches, and when a signal ends the training. Set
  // fit->eval_data before. A save that fails is logged and tried again at the next one; if the last
  // one fails, Fit returns its error. A run that is killed at any moment and goes on (Resume) ends
  // with the states of the unbroken run, byte for byte.
  void Attach(const TrainingRun& run, const AttachOptions& options, FitOptions* fit);

  // Writes a state; with a `score` that no state before had, or none better, also as the best one.
  // With `background` it returns once the state before is written, with the error of that one. An
  // error names the file and the newest state that can still be used.
  absl::Status Save(TrainingState state, std::optional<double> score = std::nullopt);
  // Returns when everything is written, with the error of what was written last.
  absl::Status Wait();

  // For FitOptions::capture_point: saves when `batches` batches or more were done since the last
  // state that it saved or Resume put back, in however many epochs. Of several processes, which
  // save together, the batches are those of a process that has data for all updates
  // (accumulate_batches for each). What could not be saved is logged, and the training goes on;
  // Wait tells at the end.
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
  // having done nothing, if there is no state: the training begins then, so that a job may be
  // started again and again by the same call. The optimizer and the rest of `fit` must be those of
  // the run before. An error in what a state has names its file. States of which none can be read
  // are kDataLoss: a run that begins anew would remove them. With a store over several processes
  // all of them call it, and take the newest state that all have; false, saying so in the log, if
  // there are states but none that all have, as after a kill during the first save. They fail
  // alike: kDataLoss, naming the rank, if one can read none of its states.
  absl::StatusOr<bool> Resume(const TrainingRun& run, FitOptions* fit);

  // Files of states, oldest first, without the best. None if the folder cannot be listed.
  std::vector<std::string> Paths() const;
  std::string best_path() const { return options_.prefix + "-best.state"; }

 private:
  explicit Checkpointer(CheckpointerOptions options)
      : options_(std::move(options)),
        larger_is_better_(options_.larger_is_better.value_or(false)) {}

  // The best state before it has its name.
  std::string linked_path() const { return best_path() + ".tmp-link"; }
  // Returns when there is nothing to write, with the error of what was written last.
  absl::Status WaitForWriter();
  void WaitAndLog();
  // Absent without a best state, or if it cannot be read.
  std::optional<double> ReadBestScore() const;
  // The positions of all states that can be read, as text, and their files; and the newest of the
  // states. An error if there are files but none can be.
  absl::StatusOr<std::map<std::string, std::string>> ReadAll(TrainingState* newest) const;
  // The newest state that every process has, for a fit over several; else the newest one.
  absl::StatusOr<TrainingState> LoadForFit(FitOptions* fit);
  // States that stay because all processes have them, or may find out that they do.
  using KeptStates = std::array<StatePosition, 2>;
  // Takes a store over several processes.
  void Join(const std::shared_ptr<KVStore>& store);
  // Tells the other processes of the state that is written, once it is, and learns what all have.
  KeptStates TellOthers();
  StatePosition LearnCommon();
  // Removes what is older than the newest states, but for `kept`, and what sorts behind `here`.
  void RemoveOld(StatePosition here, const KeptStates& kept) const;
  // CaptureTraining, of which all processes know that it is about to be saved.
  absl::StatusOr<TrainingState> Capture(const TrainingRun& run, StatePosition at);
  void SaveOrLog(TrainingState state, std::optional<double> score = std::nullopt);
  absl::Status Write(const TrainingState& state, const KeptStates& kept);
  absl::Status WriteBest(const TrainingState& state, const std::string& path);
  bool IsBest(double score) const;
  void Work();

  const CheckpointerOptions options_;
  std::atomic<bool> larger_is_better_;
  std::optional<double> best_;  // of the thread that writes
  std::string newest_;          // likewise
  // Of the state that was written last; epoch -1: none. Likewise.
  StatePosition written_ = {-1, 0};
  // The state that Resume put back: epoch and batches done, and updates.
  StatePosition resumed_at_ = {-1, 0};
  int64_t resumed_updates_ = 0;
  // What all processes have, as far as this one knows, and what it told them last; epoch -1:
  // nothing.
  StatePosition common_ = {-1, 0};
  StatePosition told_ = {-1, 0};
  std::weak_ptr<KVStore> store_;  // over several processes, once one is known

  // std's, not Abseil's: the race detector sees through it.
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::unique_ptr<TrainingState> job_;  // null: nothing to write
  KeptStates job_keeps_;
  absl::Status last_;  // of what was written last
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_CHECKPOINT_CHECKPOINTER_H_
