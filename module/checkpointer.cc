#include "module/checkpointer.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "ndarray/atomic_file.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

constexpr char kSuffix[] = ".state";
constexpr char kTemporary[] = ".state.tmp";

// Folder and name of a prefix.
std::pair<std::filesystem::path, std::string> Split(const std::string& prefix) {
  const std::filesystem::path path(prefix);
  return {path.has_parent_path() ? path.parent_path() : std::filesystem::path("."),
          path.filename().string()};
}

// Files of the prefix's folder whose names begin with the prefix and a dash.
std::vector<std::filesystem::path> FilesOf(const std::string& prefix) {
  const auto [folder, name] = Split(prefix);
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (absl::StartsWith(entry.path().filename().string(), name + "-")) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool IsDigits(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

// Whether a file is PREFIX-EEEE-BBBBBBBB.state.
bool IsState(const std::filesystem::path& file, const std::string& prefix) {
  const std::string text = file.filename().string();
  absl::string_view name = text;
  if (!absl::ConsumePrefix(&name, Split(prefix).second + "-") ||
      !absl::ConsumeSuffix(&name, kSuffix)) {
    return false;
  }
  const size_t dash = name.find('-');
  return dash != absl::string_view::npos && IsDigits(name.substr(0, dash)) &&
         IsDigits(name.substr(dash + 1));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Checkpointer>> Checkpointer::Create(CheckpointerOptions options) {
  if (options.prefix.empty()) {
    return absl::InvalidArgumentError("Checkpointer: prefix is required");
  }
  if (options.keep_last < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("Checkpointer: keep_last is ", options.keep_last, ", expected 1 or more"));
  }
  std::unique_ptr<Checkpointer> checkpointer(new Checkpointer(std::move(options)));
  checkpointer->RemoveTemporaries();
  checkpointer->ReadBestScore();
  const std::vector<std::string> paths = checkpointer->Paths();
  if (!paths.empty()) checkpointer->newest_ = paths.back();
  if (checkpointer->options_.background) {
    checkpointer->thread_ = std::thread([raw = checkpointer.get()] { raw->Work(); });
  }
  return checkpointer;
}

Checkpointer::~Checkpointer() {
  const absl::Status status = Wait();
  if (!status.ok()) options_.log(std::string(status.message()));
  if (!thread_.joinable()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

// Nothing else than a killed run leaves them: a file that is being written belongs to this object.
void Checkpointer::RemoveTemporaries() const {
  for (const std::filesystem::path& file : FilesOf(options_.prefix)) {
    std::error_code error;
    if (absl::StrContains(file.filename().string(), kTemporary)) {
      std::filesystem::remove(file, error);
    }
  }
}

std::vector<std::string> Checkpointer::Paths() const {
  std::vector<std::string> paths;
  for (const std::filesystem::path& file : FilesOf(options_.prefix)) {
    if (IsState(file, options_.prefix)) paths.push_back(file.string());
  }
  return paths;
}

// The score of the best state is kept with it.
void Checkpointer::ReadBestScore() {
  const absl::StatusOr<std::string> text = ReadFile(best_path() + ".score");
  double score = 0;
  if (text.ok() && absl::SimpleAtod(absl::StripAsciiWhitespace(*text), &score)) best_ = score;
}

bool Checkpointer::IsBest(double score) const {
  if (!best_.has_value()) return true;
  return options_.larger_is_better ? score > *best_ : score < *best_;
}

absl::Status Checkpointer::WriteBest(const Job& job, const std::string& path) {
  if (!job.score.has_value() || !IsBest(*job.score)) return absl::OkStatus();
  // The same file under a second name, if the file system can do that; else written again.
  const std::string linked = best_path() + ".tmp-link";
  std::error_code error;
  std::filesystem::remove(linked, error);
  std::filesystem::create_hard_link(path, linked, error);
  if (!error) std::filesystem::rename(linked, best_path(), error);
  if (error) COOPER_RETURN_IF_ERROR(SaveTrainingState(best_path(), job.state));
  best_ = *job.score;
  return WriteFileAtomically(best_path() + ".score", absl::StrFormat("%.17g\n", *best_));
}

absl::Status Checkpointer::Write(const Job& job) {
  const std::string path = absl::StrFormat("%s-%04d-%08d%s", options_.prefix, job.state.epoch,
                                           job.state.nbatch, kSuffix);
  absl::Status status = SaveTrainingState(path, job.state);
  if (status.ok()) {
    newest_ = path;
    status = WriteBest(job, path);
  }
  if (!status.ok()) {
    return absl::Status(
        status.code(),
        absl::StrCat(status.message(), "; ",
                     newest_.empty() ? "there is no earlier state"
                                     : absl::StrCat("'", newest_, "' is still usable")));
  }
  const std::vector<std::string> paths = Paths();
  for (size_t i = 0; i + options_.keep_last < paths.size(); ++i) {
    std::error_code error;
    if (paths[i] != path) std::filesystem::remove(paths[i], error);
  }
  return absl::OkStatus();
}

void Checkpointer::Work() {
  while (true) {
    Job* job;
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
  auto job = std::make_unique<Job>(Job{std::move(state), score});
  if (!options_.background) return Write(*job);
  const absl::Status before = Wait();
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
  return [this, batches, run](int epoch, int64_t batches_done) -> absl::Status {
    if (batches < 1 || batches_done % batches != 0) return absl::OkStatus();
    COOPER_ASSIGN_OR_RETURN(TrainingState state, CaptureTraining(*run.group, *run.iter, run.metric,
                                                                 epoch, batches_done));
    const absl::Status status = Save(std::move(state));
    if (!status.ok()) options_.log(absl::StrCat("checkpoint: ", status.message()));
    return absl::OkStatus();
  };
}

std::function<absl::Status(int, int64_t)> Checkpointer::AtStop(const TrainingRun& run) {
  return [this, run](int epoch, int64_t batches_done) -> absl::Status {
    COOPER_ASSIGN_OR_RETURN(TrainingState state, CaptureTraining(*run.group, *run.iter, run.metric,
                                                                 epoch, batches_done));
    const absl::Status before = Save(std::move(state));
    if (!before.ok()) options_.log(absl::StrCat("checkpoint: ", before.message()));
    return Wait();
  };
}

absl::StatusOr<TrainingState> Checkpointer::LoadLatest() const {
  std::vector<std::string> paths = Paths();
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
    absl::StatusOr<TrainingState> state = LoadTrainingState(*path);
    if (state.ok()) return state;
    options_.log(absl::StrCat("checkpoint: ", state.status().message(), "; trying an older one"));
  }
  return absl::NotFoundError(
      absl::StrCat("Checkpointer: no usable state of prefix '", options_.prefix, "'"));
}

absl::StatusOr<bool> Checkpointer::Resume(const TrainingRun& run, FitOptions* fit) const {
  const absl::StatusOr<TrainingState> state = LoadLatest();
  if (absl::IsNotFound(state.status())) return false;
  if (!state.ok()) return state.status();
  COOPER_RETURN_IF_ERROR(run.module->Bind({.data_shapes = run.iter->provide_data(),
                                           .label_shapes = run.iter->provide_label(),
                                           .grad_req = fit->grad_req}));
  COOPER_RETURN_IF_ERROR(RestoreTraining(*state, *run.module, *run.group, *run.iter, run.metric,
                                         fit->optimizer, fit->params));
  fit->begin_epoch = state->epoch;
  fit->begin_batch = state->nbatch;
  return true;
}

}  // namespace cooper
