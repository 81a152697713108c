#include "module/checkpoint/checkpointer.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "module/checkpoint/state_files.h"
#include "module/devices/module_group.h"
#include "module/kvstore/kvstore.h"
#include "module/metric/watched_value.h"
#include "module/parameters/learner.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr StatePosition kNone = {-1, 0};

// Returns the path of the file that has the best score beside training states before version 3.
std::string OldScorePath(const std::string& best_path) { return best_path + ".score"; }

// State that the callbacks of one Fit share.
struct Attached {
  StatePosition at = {-1, 0};            // epoch and batches at the last capture_point
  std::optional<TrainingState> pending;  // the end of an epoch, whose validation has no score yet
};

}  // namespace

absl::StatusOr<std::unique_ptr<Checkpointer>> Checkpointer::Create(CheckpointerOptions options) {
  if (options.prefix.empty()) {
    return absl::InvalidArgumentError("Checkpointer: prefix is required");
  }
  if (options.keep_last < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("Checkpointer: keep_last is ", options.keep_last, ", expected 1 or more"));
  }
  COOPER_RETURN_IF_ERROR(AddContext(RequireFolder(options.prefix, options.create_folder),
                                    "Checkpointer: prefix '", options.prefix, "'"));
  options.log = OrNoLog(std::move(options.log));
  std::unique_ptr<Checkpointer> checkpointer(new Checkpointer(std::move(options)));
  RemoveTemporaries(checkpointer->options_.prefix);
  std::error_code error;
  std::filesystem::remove(checkpointer->linked_path(), error);
  const std::vector<std::string> paths = checkpointer->Paths();
  if (!paths.empty()) checkpointer->newest_ = paths.back();
  if (checkpointer->options_.background) {
    checkpointer->thread_ = std::thread([raw = checkpointer.get()] { raw->Work(); });
  }
  return checkpointer;
}

Checkpointer::~Checkpointer() {
  const absl::Status status = Wait();
  if (!status.ok()) options_.log(absl::StrCat(status.message()));
  if (!thread_.joinable()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Checkpointer::WaitAndLog() {
  const absl::Status status = Wait();
  if (!status.ok()) options_.log(absl::StrCat("checkpoint: ", status.message()));
}

std::vector<std::string> Checkpointer::Paths() const {
  std::vector<std::string> paths;
  const absl::StatusOr<StateFiles> states = FindStateFiles(options_.prefix);
  if (!states.ok()) return paths;
  for (const auto& [position, path] : *states) paths.push_back(path);
  return paths;
}

std::optional<double> Checkpointer::ReadBestScore() const {
  const absl::StatusOr<TrainingState> best = LoadTrainingState(best_path());
  if (!best.ok()) {
    if (!absl::IsNotFound(best.status())) {
      options_.log(absl::StrCat("checkpoint: ", best.status().message(),
                                "; the next state with a score takes its place"));
    }
    return std::nullopt;
  }
  std::optional<double> score = best->score;
  double number = 0;
  if (!score.has_value()) {
    const absl::StatusOr<std::string> text = ReadFile(OldScorePath(best_path()));
    if (text.ok() && absl::SimpleAtod(absl::StripAsciiWhitespace(*text), &number)) score = number;
  }
  return score.has_value() && std::isnan(*score) ? std::nullopt : score;
}

bool Checkpointer::IsBest(double score) const {
  if (std::isnan(score)) return false;
  if (!best_.has_value()) return true;
  return larger_is_better_ ? score > *best_ : score < *best_;
}

absl::Status Checkpointer::WriteBest(const TrainingState& state, const std::string& path) {
  if (!state.score.has_value() || !IsBest(*state.score)) return absl::OkStatus();
  // The best state is a hard link to the state's file, or a second file if the file system supports
  // no links.
  const std::string linked = linked_path();
  std::error_code error;
  std::filesystem::remove(linked, error);
  std::filesystem::create_hard_link(path, linked, error);
  if (!error) std::filesystem::rename(linked, best_path(), error);
  if (error) COOPER_RETURN_IF_ERROR(SaveTrainingState(best_path(), state));
  best_ = state.score;
  std::filesystem::remove(OldScorePath(best_path()), error);
  return absl::OkStatus();
}

absl::Status Checkpointer::Write(const TrainingState& state, const KeptStates& kept) {
  const StatePosition here = state.position();
  const std::string path = StatePath(options_.prefix, here);
  absl::Status status = SaveTrainingState(path, state);
  if (status.ok()) {
    newest_ = path;
    written_ = here;
    status = WriteBest(state, path);
  }
  if (!status.ok()) {
    return absl::Status(
        status.code(),
        absl::StrCat(status.message(), "; ",
                     newest_.empty() ? "there is no earlier state"
                                     : absl::StrCat("'", newest_, "' is still usable")));
  }
  RemoveOld(here, kept);
  return absl::OkStatus();
}

void Checkpointer::RemoveOld(StatePosition here, const KeptStates& kept) const {
  const absl::StatusOr<StateFiles> states = FindStateFiles(options_.prefix);
  if (!states.ok()) return;  // the older ones stay until they can be listed
  // States that sort after this one belong to an earlier run, which this run has replaced.
  int newest = 0;
  for (auto saved = states->rbegin(); saved != states->rend(); ++saved) {
    std::error_code error;
    const bool behind = saved->first > here;
    if (!behind && ++newest <= options_.keep_last) continue;
    if (!behind && std::find(kept.begin(), kept.end(), saved->first) != kept.end()) continue;
    std::filesystem::remove(saved->second, error);
  }
}

void Checkpointer::Join(const std::shared_ptr<KVStore>& store) {
  if (store != nullptr && store->num_workers() > 1) store_ = store;
}

StatePosition Checkpointer::ReceiveCommonState() {
  if (const auto store = store_.lock(); store != nullptr) {
    const KVStore::SavedState common = store->common_state();
    if (common != KVStore::kNoState) common_ = {static_cast<int>(common.first), common.second};
  }
  return common_;
}

// Returns the states that must stay on disk until the next call, since all processes may have to
// resume from them. Every process calls this after the same updates, so that they announce the same
// states.
Checkpointer::KeptStates Checkpointer::AnnounceStates() {
  const auto store = store_.lock();
  if (store == nullptr) return {kNone, kNone};
  announced_ = written_;
  store->AnnounceSaved(announced_ == kNone ? KVStore::kNoState : KVStore::SavedState(announced_));
  return {ReceiveCommonState(), announced_};
}

void Checkpointer::Work() {
  while (true) {
    TrainingState* job;
    KeptStates kept;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return stop_ || job_ != nullptr; });
      if (job_ == nullptr) return;
      job = job_.get();
      kept = job_keeps_;
    }
    const absl::Status status = Write(*job, kept);
    std::lock_guard<std::mutex> lock(mutex_);
    last_ = status;
    job_.reset();
    changed_.notify_all();
  }
}

absl::Status Checkpointer::Save(TrainingState state, std::optional<double> score) {
  state.score = score;
  auto job = std::make_unique<TrainingState>(std::move(state));
  if (!options_.background) {
    absl::Status status = Write(*job, AnnounceStates());
    AnnounceStates();
    std::lock_guard<std::mutex> lock(mutex_);
    last_ = status;
    return status;
  }
  absl::Status before = WaitForWriter();
  const KeptStates kept = AnnounceStates();
  std::lock_guard<std::mutex> lock(mutex_);
  last_ = absl::OkStatus();
  job_ = std::move(job);
  job_keeps_ = kept;
  changed_.notify_all();
  return before;
}

absl::StatusOr<TrainingState> Checkpointer::Capture(const TrainingRun& run, StatePosition at) {
  Join(run.module->kvstore());
  return CaptureTraining(run, at.first, at.second);
}

void Checkpointer::SaveOrLog(TrainingState state, std::optional<double> score) {
  const absl::Status status = Save(std::move(state), score);
  if (!status.ok()) options_.log(absl::StrCat("checkpoint: ", status.message()));
}

absl::Status Checkpointer::WaitForWriter() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return job_ == nullptr; });
  return last_;
}

absl::Status Checkpointer::Wait() {
  absl::Status status = WaitForWriter();
  // Since the last state, updates may have told this process of a newer state that all processes
  // have.
  if (written_ != kNone && store_.lock() != nullptr)
    RemoveOld(written_, {ReceiveCommonState(), announced_});
  return status;
}

std::function<absl::Status(int, int64_t)> Checkpointer::Every(int64_t batches,
                                                              const TrainingRun& run) {
  // With accumulated gradients, Fit calls this only after batches with an update.
  return [this, batches, run, last = std::optional<StatePosition>(),
          last_updates = std::optional<int64_t>(),
          since_saved = int64_t{0}](int epoch, int64_t batches_done) mutable -> absl::Status {
    Join(run.module->kvstore());
    if (!store_.expired() && run.module->group() != nullptr) {
      // Processes have different numbers of batches, so updates are counted.
      const Learner& learner = run.module->group()->learner();
      const int64_t before = last_updates.value_or(resumed_updates_);
      const int64_t updates = learner.updates();  // restarts at 0 with another optimizer
      since_saved +=
          (updates >= before ? updates - before : updates) * learner.batches_per_update();
      last_updates = updates;
    } else {
      // A resumed run begins inside an epoch, where its state was saved.
      const StatePosition before = last.value_or(resumed_at_);
      const bool same_epoch = before.first == epoch && before.second < batches_done;
      since_saved += same_epoch ? batches_done - before.second : batches_done;
      last = {epoch, batches_done};
    }
    if (batches < 1 || since_saved < batches) return absl::OkStatus();
    since_saved = 0;
    COOPER_ASSIGN_OR_RETURN(TrainingState state, Capture(run, {epoch, batches_done}));
    SaveOrLog(std::move(state));
    return absl::OkStatus();
  };
}

std::function<absl::Status(int, int64_t)> Checkpointer::AtStop(const TrainingRun& run) {
  return [this, run](int epoch, int64_t batches_done) -> absl::Status {
    COOPER_ASSIGN_OR_RETURN(TrainingState state, Capture(run, {epoch, batches_done}));
    SaveOrLog(std::move(state));
    return Wait();
  };
}

void Checkpointer::Attach(const TrainingRun& run, const AttachOptions& options, FitOptions* fit) {
  auto attached = std::make_shared<Attached>();
  fit->capture_point = [attached, save = Every(options.every, run)](int epoch, int64_t batches) {
    attached->at = {epoch, batches};
    return save(epoch, batches);
  };
  fit->stop_point = AtStop(run);
  fit->end_point = [this] { return Wait(); };

  // The state is captured before the validation: a run resumed from it validates again, and other
  // callbacks then see the same as in the uninterrupted run.
  const bool validates = fit->eval_data != nullptr;
  const auto at_epoch_end = [this, attached, run, validates](int epoch,
                                                             BaseModule&) -> absl::StatusOr<bool> {
    // An epoch without batches left to train has no capture_point.
    StatePosition at = std::max(attached->at, resumed_at_);
    if (at.first != epoch) at = {epoch, 0};
    COOPER_ASSIGN_OR_RETURN(TrainingState state, Capture(run, at));
    if (validates) {
      attached->pending = std::move(state);
    } else {
      SaveOrLog(std::move(state));
    }
    return true;
  };
  fit->epoch_end_callbacks.insert(fit->epoch_end_callbacks.begin(), at_epoch_end);
  if (!validates) return;
  const auto at_eval_end =
      [this, attached, name = options.score](const BatchEndParam& param) -> absl::StatusOr<bool> {
    COOPER_ASSIGN_OR_RETURN(const NamedValue score,
                            AddContext(FindValue(*param.eval_metric, name), "Checkpointer"));
    if (!options_.larger_is_better.has_value()) larger_is_better_ = LargerIsBetter(score.first);
    if (!attached->pending.has_value()) return true;
    SaveOrLog(*std::exchange(attached->pending, std::nullopt), score.second);
    return true;
  };
  fit->eval_end_callbacks.insert(fit->eval_end_callbacks.begin(), at_eval_end);
}

}  // namespace cooper
