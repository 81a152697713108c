#include "module/checkpointer.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "module/kvstore/kvstore.h"
#include "module/state_files.h"
#include "ndarray/atomic_file.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

// Begins what a process tells the others where it has no list of states.
constexpr char kErrorMark[] = "error: ";

// Where training states before version 3 have the score of the best one.
std::string OldScorePath(const std::string& best_path) { return best_path + ".score"; }

}  // namespace

absl::StatusOr<std::unique_ptr<Checkpointer>> Checkpointer::Create(CheckpointerOptions options) {
  if (options.prefix.empty()) {
    return absl::InvalidArgumentError("Checkpointer: prefix is required");
  }
  if (options.keep_last < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("Checkpointer: keep_last is ", options.keep_last, ", expected 1 or more"));
  }
  options.log = OrSilent(std::move(options.log));
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
  return options_.larger_is_better ? score > *best_ : score < *best_;
}

absl::Status Checkpointer::WriteBest(const TrainingState& state, const std::string& path) {
  if (!state.score.has_value() || !IsBest(*state.score)) return absl::OkStatus();
  // The same file under a second name, if the file system can do that; else written again.
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

absl::Status Checkpointer::Write(const TrainingState& state) {
  const StatePosition here(state.epoch, state.nbatch);
  const std::string path = StatePath(options_.prefix, here);
  absl::Status status = SaveTrainingState(path, state);
  if (status.ok()) {
    newest_ = path;
    status = WriteBest(state, path);
  }
  if (!status.ok()) {
    return absl::Status(
        status.code(),
        absl::StrCat(status.message(), "; ",
                     newest_.empty() ? "there is no earlier state"
                                     : absl::StrCat("'", newest_, "' is still usable")));
  }
  const absl::StatusOr<StateFiles> states = FindStateFiles(options_.prefix);
  if (!states.ok()) return absl::OkStatus();  // the older ones stay until they can be listed
  // Those that sort after this one are of a run before, which this one has left behind.
  int kept = 0;
  for (auto saved = states->rbegin(); saved != states->rend(); ++saved) {
    std::error_code error;
    if (saved->first > here || kept == options_.keep_last) {
      std::filesystem::remove(saved->second, error);
    } else {
      ++kept;
    }
  }
  return absl::OkStatus();
}

void Checkpointer::Work() {
  while (true) {
    TrainingState* job;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return stop_ || job_ != nullptr; });
      if (job_ == nullptr) return;
      job = job_.get();
    }
    const absl::Status status = Write(*job);
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
    absl::Status status = Write(*job);
    std::lock_guard<std::mutex> lock(mutex_);
    last_ = status;
    return status;
  }
  absl::Status before = Wait();
  std::lock_guard<std::mutex> lock(mutex_);
  last_ = absl::OkStatus();
  job_ = std::move(job);
  changed_.notify_all();
  return before;
}

absl::Status Checkpointer::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return job_ == nullptr; });
  return last_;
}

std::function<absl::Status(int, int64_t)> Checkpointer::Every(int64_t batches,
                                                              const TrainingRun& run) {
  // Not every batch comes here: with gradients of several batches, only those with an update.
  return [this, batches, run, last = std::optional<StatePosition>(), since_saved = int64_t{0}](
             int epoch, int64_t batches_done) mutable -> absl::Status {
    // A run that goes on begins inside an epoch, where its state was saved.
    const StatePosition before = last.value_or(resumed_at_);
    const bool same_epoch = before.first == epoch && before.second < batches_done;
    since_saved += same_epoch ? batches_done - before.second : batches_done;
    last = {epoch, batches_done};
    if (batches < 1 || since_saved < batches) return absl::OkStatus();
    since_saved = 0;
    COOPER_ASSIGN_OR_RETURN(TrainingState state, CaptureTraining(*run.module, *run.iter, run.metric,
                                                                 epoch, batches_done));
    const absl::Status status = Save(std::move(state));
    if (!status.ok()) options_.log(absl::StrCat("checkpoint: ", status.message()));
    return absl::OkStatus();
  };
}

std::function<absl::Status(int, int64_t)> Checkpointer::AtStop(const TrainingRun& run) {
  return [this, run](int epoch, int64_t batches_done) -> absl::Status {
    COOPER_ASSIGN_OR_RETURN(TrainingState state, CaptureTraining(*run.module, *run.iter, run.metric,
                                                                 epoch, batches_done));
    const absl::Status before = Save(std::move(state));
    if (!before.ok()) options_.log(absl::StrCat("checkpoint: ", before.message()));
    return Wait();
  };
}

absl::StatusOr<TrainingState> Checkpointer::LoadLatest() {
  WaitAndLog();
  COOPER_ASSIGN_OR_RETURN(const StateFiles states,
                          AddContext(FindStateFiles(options_.prefix), "Checkpointer"));
  if (states.empty()) {
    return absl::NotFoundError(
        absl::StrCat("Checkpointer: no usable state of prefix '", options_.prefix, "'"));
  }
  // Before the state: both at a time would take twice the memory.
  const std::optional<double> best = ReadBestScore();
  absl::Status reason;
  for (auto saved = states.rbegin(); saved != states.rend(); ++saved) {
    absl::StatusOr<TrainingState> state = LoadTrainingState(saved->second);
    if (state.ok()) {
      best_ = best;
      return state;
    }
    reason = state.status();
    options_.log(absl::StrCat("checkpoint: ", reason.message(), "; trying an older one"));
  }
  // Another run of this prefix may have replaced them all by newer ones meanwhile.
  if (FindStateFiles(options_.prefix).value_or(states) != states) return LoadLatest();
  return AddContext(NoStateCanBeRead(states, reason), "Checkpointer");
}

absl::StatusOr<std::map<std::string, TrainingState>> Checkpointer::LoadAll() const {
  COOPER_ASSIGN_OR_RETURN(const StateFiles states, FindStateFiles(options_.prefix));
  std::map<std::string, TrainingState> loaded;
  absl::Status reason;
  for (const auto& [position, path] : states) {
    absl::StatusOr<TrainingState> state = LoadTrainingState(path);
    if (!state.ok()) {
      reason = state.status();
      options_.log(absl::StrCat("checkpoint: ", reason.message()));
      continue;
    }
    const std::string at = absl::StrFormat("%010d-%019d", state->epoch, state->nbatch);
    loaded.emplace(at, *std::move(state));
  }
  if (loaded.empty() && !states.empty()) return NoStateCanBeRead(states, reason);
  return loaded;
}

absl::StatusOr<TrainingState> Checkpointer::LoadForFit(FitOptions* fit) {
  WaitAndLog();
  InitOptimizerOptions& optimizer = fit->optimizer;
  if (optimizer.kvstore_instance == nullptr && absl::StartsWith(optimizer.kvstore, "dist")) {
    COOPER_ASSIGN_OR_RETURN(optimizer.kvstore_instance, CreateKVStore(optimizer.kvstore));
  }
  const std::shared_ptr<KVStore>& store = optimizer.kvstore_instance;
  if (store == nullptr || store->num_workers() == 1) return LoadLatest();
  const std::optional<double> best = ReadBestScore();
  auto states = LoadAll();
  // An error is told to the others, which have to end as this process does.
  std::string mine;
  if (states.ok()) {
    mine = absl::StrJoin(*states, " ",
                         [](std::string* out, const auto& state) { out->append(state.first); });
  } else {
    mine = absl::StrCat(kErrorMark, states.status().message());
  }
  COOPER_ASSIGN_OR_RETURN(const std::vector<std::string> all, store->AllGather(mine));
  for (size_t rank = 0; rank < all.size(); ++rank) {
    absl::string_view text = all[rank];
    if (!absl::ConsumePrefix(&text, kErrorMark)) continue;
    return absl::DataLossError(absl::StrCat("Checkpointer: rank ", rank, ": ", text));
  }
  if (std::all_of(all.begin(), all.end(), [](const std::string& text) { return text.empty(); })) {
    return absl::NotFoundError("Checkpointer: no process has a usable state");
  }
  for (auto at = states->rbegin(); at != states->rend(); ++at) {
    const bool everywhere = std::all_of(all.begin(), all.end(), [&](const std::string& text) {
      return absl::StrContains(text, at->first);
    });
    if (!everywhere) continue;
    best_ = best;
    return std::move(at->second);
  }
  return absl::FailedPreconditionError(
      absl::StrCat("Checkpointer: the processes have no state in common; by rank they have (epoch-",
                   "batches) ", absl::StrJoin(all, "; ")));
}

absl::StatusOr<bool> Checkpointer::Resume(const TrainingRun& run, FitOptions* fit) {
  const absl::StatusOr<TrainingState> state = LoadForFit(fit);
  if (absl::IsNotFound(state.status())) return false;
  if (!state.ok()) return state.status();
  COOPER_RETURN_IF_ERROR(run.module->BindToFit(*run.iter, *fit));
  COOPER_RETURN_IF_ERROR(RestoreTraining(*state, *run.module, *run.iter, run.metric,
                                         OptimizerOptionsForFit(*fit), ParamsOptionsForFit(*fit)));
  fit->params = ParamsOptionsForFit(*fit);
  fit->params.force_init = false;  // Fit begins with what was restored
  fit->optimizer.force_init = false;
  fit->force_rebind = false;  // it has been, and carried states are zeros after it
  fit->seed.reset();          // the stream of the run before goes on, also if Fit binds again
  fit->begin_epoch = state->epoch;
  fit->begin_batch = state->nbatch;
  resumed_at_ = {state->epoch, state->nbatch};
  return true;
}

}  // namespace cooper
