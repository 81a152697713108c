#ifndef COOPER_MODULE_CHECKPOINT_CHECKPOINTER_H_
#define COOPER_MODULE_CHECKPOINT_CHECKPOINTER_H_

// Saves the state of a training run to disk while it trains, keeps the last few and the best
// states, and resumes the run after a crash.
//
//   COOPER_ASSIGN_OR_RETURN(auto checkpointer, Checkpointer::Create({.prefix = "run/lm"}));
//   COOPER_RETURN_IF_ERROR(checkpointer->Resume(run, &fit).status());  // or begins anew
//   checkpointer->Attach(run, {.every = 100, .score = "perplexity"}, &fit);
//   COOPER_RETURN_IF_ERROR(model->Fit(*data, fit));
//
// States are in PREFIX-EEEE-BBBBBBBB.state, by epoch and batches done, and the best one in
// PREFIX-best.state (training_state.h describes the file). A file is renamed to its name only when
// it is complete and on disk, and no state is removed before a newer one has its name. So the
// earlier states stay usable whenever the process or the machine stops, and when the disk is full.
//
// Each of several processes that train together has a Checkpointer with a prefix of its own and
// saves after the same updates; BBBBBBBB is then their number since the beginning of the run. The
// processes, which a Checkpointer learns of from Resume, Every or AtStop, exchange with each update
// which states they have. Besides its newest states each keeps the newest state that all have.

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

// Options of Checkpointer::Create. With several processes each has a prefix of its own.
struct CheckpointerOptions {
  std::string prefix;  // required
  // Whether Create creates the folder of `prefix`, with its parents, if it is missing.
  bool create_folder = false;
  // The number of newest states to keep, at least 1. With several processes up to two older ones
  // stay as well, from which all can resume.
  int keep_last = 2;
  // Whether a larger score is better (accuracy) or a smaller one (perplexity). Unset: Attach
  // decides by the metric's name (LargerIsBetter); without Attach smaller is better.
  std::optional<bool> larger_is_better;
  // Whether to write on a separate thread while the training continues. Save then copies a state,
  // and waits only until the previous state is written.
  bool background = true;
  LogLine log = LogError;  // receives errors of writing and reading
};

// Options of Checkpointer::Attach.
struct AttachOptions {
  // Batches between two states within an epoch (see Every); 0: saves only at the ends of epochs.
  int64_t every = 0;
  // The value of the validation's metric that decides which state is the best. Empty: the metric's
  // first value. Ignored without FitOptions::eval_data.
  std::string score;
};

// See the top of the file. Save, Wait and the callbacks are for the training's thread; writing
// happens on a thread of the Checkpointer.
class Checkpointer {
 public:
  // Removes temporary files that killed runs left under this prefix, including those of symbols and
  // parameters. Only one run at a time should use a prefix: two remove each other's older states,
  // though every file stays complete.
  //
  // Errors: kInvalidArgument without a prefix or for keep_last below 1; kNotFound if the prefix's
  // folder is missing (without create_folder); kFailedPrecondition if it is not a folder;
  // kPermissionDenied if no file can be created in it.
  static absl::StatusOr<std::unique_ptr<Checkpointer>> Create(CheckpointerOptions options);

  // Waits until everything is written, and logs the error of the last write.
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  // Makes Fit save the run and wait for the last save: sets capture_point, stop_point and end_point
  // of `fit`, and puts callbacks in front of its callbacks for the ends of epochs and validations.
  // Set fit->eval_data before. A state is saved at the end of each epoch, once the validation (if
  // any) has its score, every `every` batches, and when a signal ends the training. A failed save
  // is logged and tried again at the next one; if the last one fails, Fit returns its error. A run
  // that is killed at any moment and resumed ends with the states of the uninterrupted run, byte
  // for byte.
  void Attach(const TrainingRun& run, const AttachOptions& options, FitOptions* fit);

  // Writes a state; also as the best one if its `score` is better than that of any earlier state,
  // which NaN never is. With `background` it returns once the previous state is written, with the
  // error of that write. An error names the file and the newest usable state.
  absl::Status Save(TrainingState state, std::optional<double> score = std::nullopt);
  // Waits until everything is written, and returns the error of the last write.
  absl::Status Wait();

  // Returns a function for FitOptions::capture_point: it saves when at least `batches` batches were
  // done, over any number of epochs, since the last state that it saved or that Resume restored.
  // With several processes, which save together, each update counts accumulate_batches batches. A
  // failed save is logged and the training continues; Wait returns the error at the end.
  std::function<absl::Status(int epoch, int64_t batches_done)> Every(int64_t batches,
                                                                     const TrainingRun& run);

  // Returns a function for FitOptions::stop_point: it saves, and returns once the state is on disk.
  std::function<absl::Status(int epoch, int64_t batches_done)> AtStop(const TrainingRun& run);

  // Returns the newest readable state, and logs those that cannot be read. From then on the best
  // score is that of the loaded run; a run that starts without LoadLatest ignores it, and its first
  // save removes the states of the run before.
  //
  // Errors: kNotFound if there is no state file; kDataLoss, naming the files and a reason, if there
  // are some but none is readable.
  absl::StatusOr<TrainingState> LoadLatest();

  // Binds the module in the same way as Fit (BindToFit), restores the newest state, sets
  // begin_epoch and begin_batch of `fit`, and clears seed, force_init and force_rebind. Returns
  // false, having done nothing, if there is no state: then the training starts from the beginning,
  // so that a job can be restarted with the same call. The optimizer and the rest of `fit` must be
  // those of the run before.
  //
  // With a store over several processes all of them call Resume and restore the newest state that
  // all have; it returns false, with a log message, if there are states but none that all have, as
  // after a kill during the first save.
  //
  // Errors: those in the contents of a state, with its file name; kDataLoss if no state is
  // readable, because a new run would remove them, with the rank if it is one of several processes.
  // All processes fail alike.
  absl::StatusOr<bool> Resume(const TrainingRun& run, FitOptions* fit);

  // Returns the state files, oldest first, without the best one. Empty if the folder cannot be
  // listed.
  std::vector<std::string> Paths() const;
  // Returns the path of the best state, whether or not there is one.
  std::string best_path() const { return options_.prefix + "-best.state"; }

 private:
  explicit Checkpointer(CheckpointerOptions options)
      : options_(std::move(options)),
        larger_is_better_(options_.larger_is_better.value_or(false)) {}

  // Returns the path of a new best state before it is renamed.
  std::string linked_path() const { return best_path() + ".tmp-link"; }
  // Waits until there is nothing to write, and returns the error of the last write.
  absl::Status WaitForWriter();
  void WaitAndLog();
  // Returns the score of the best state; nullopt if there is none or it cannot be read.
  std::optional<double> ReadBestScore() const;
  // Reads all states: returns the positions, as text, and files of those that are readable, and
  // sets `newest`. An error if there are files but none is readable.
  absl::StatusOr<std::map<std::string, std::string>> ReadAll(TrainingState* newest) const;
  // Returns the newest state that every process has if `fit` is for several, else the newest one.
  absl::StatusOr<TrainingState> LoadForFit(FitOptions* fit);
  // States that must stay because all processes have them, or may find out that they do.
  using KeptStates = std::array<StatePosition, 2>;
  // Remembers `store` if it is one over several processes.
  void Join(const std::shared_ptr<KVStore>& store);
  // Tells the other processes, once a state is written, its position, and learns which state all
  // have.
  KeptStates AnnounceStates();
  StatePosition ReceiveCommonState();
  // Removes states older than the newest ones, except `kept`, and states that sort after `here`.
  void RemoveOld(StatePosition here, const KeptStates& kept) const;
  // Captures the state of a run, after Join with the store of its module.
  absl::StatusOr<TrainingState> Capture(const TrainingRun& run, StatePosition at);
  void SaveOrLog(TrainingState state, std::optional<double> score = std::nullopt);
  absl::Status Write(const TrainingState& state, const KeptStates& kept);
  absl::Status WriteBest(const TrainingState& state, const std::string& path);
  bool IsBest(double score) const;
  void Work();

  const CheckpointerOptions options_;
  std::atomic<bool> larger_is_better_;
  std::optional<double> best_;  // used by the thread that writes
  std::string newest_;          // used by the thread that writes
  // Position of the state that was written last, used by that thread; epoch -1: none.
  StatePosition written_ = {-1, 0};
  // The state that Resume restored: epoch and batches done, and updates.
  StatePosition resumed_at_ = {-1, 0};
  int64_t resumed_updates_ = 0;
  // The newest state that all processes have, as far as this one knows, and the state that it
  // announced last; epoch -1: none.
  StatePosition common_ = {-1, 0};
  StatePosition announced_ = {-1, 0};
  std::weak_ptr<KVStore> store_;  // over several processes, once one is known

  // std's types instead of Abseil's, because the race detector understands them.
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::unique_ptr<TrainingState> job_;  // null: nothing to write
  KeptStates job_keeps_;
  absl::Status last_;  // of the last write
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_CHECKPOINT_CHECKPOINTER_H_
