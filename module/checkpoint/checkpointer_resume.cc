// Resumes a run that was killed: chooses one of its states and restores it.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "module/checkpoint/checkpointer.h"
#include "module/checkpoint/state_files.h"
#include "module/kvstore/kvstore.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Marks the text of a process that has an error in place of a list of states.
constexpr char kErrorMark[] = "error: ";

// Returns a position as text that sorts in the order of positions.
std::string TextOf(StatePosition position) {
  return absl::StrFormat("%010d-%019d", position.first, position.second);
}

}  // namespace

absl::StatusOr<TrainingState> Checkpointer::LoadLatest() {
  WaitAndLog();
  COOPER_ASSIGN_OR_RETURN(const StateFiles states,
                          AddContext(FindStateFiles(options_.prefix), "Checkpointer"));
  if (states.empty()) {
    return absl::NotFoundError(
        absl::StrCat("Checkpointer: no usable state of prefix '", options_.prefix, "'"));
  }
  // Reads the score first: two states in memory at a time would take twice the memory.
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
  // Another run of this prefix may have replaced all of them by newer ones in the meantime.
  if (FindStateFiles(options_.prefix).value_or(states) != states) return LoadLatest();
  return AddContext(NoStateCanBeRead(states, reason), "Checkpointer");
}

absl::StatusOr<std::map<std::string, std::string>> Checkpointer::ReadAll(
    TrainingState* newest) const {
  COOPER_ASSIGN_OR_RETURN(const StateFiles states, FindStateFiles(options_.prefix));
  std::map<std::string, std::string> paths;
  absl::Status reason;
  for (auto saved = states.rbegin(); saved != states.rend(); ++saved) {
    absl::StatusOr<TrainingState> state = LoadTrainingState(saved->second);
    if (!state.ok()) {
      reason = state.status();
      options_.log(absl::StrCat("checkpoint: ", reason.message()));
      continue;
    }
    const std::string at = TextOf(state->position());
    if (paths.empty()) *newest = *std::move(state);
    paths.emplace(at, saved->second);
  }
  if (paths.empty() && !states.empty()) return NoStateCanBeRead(states, reason);
  return paths;
}

absl::StatusOr<TrainingState> Checkpointer::LoadForFit(FitOptions* fit) {
  WaitAndLog();
  InitOptimizerOptions& optimizer = fit->optimizer;
  if (optimizer.kvstore_instance == nullptr && absl::StartsWith(optimizer.kvstore, "dist")) {
    COOPER_ASSIGN_OR_RETURN(optimizer.kvstore_instance, CreateKVStore(optimizer.kvstore));
  }
  Join(optimizer.kvstore_instance);
  const std::shared_ptr<KVStore> store = store_.lock();
  if (store == nullptr) return LoadLatest();
  const std::optional<double> best = ReadBestScore();
  TrainingState newest;
  const auto paths = ReadAll(&newest);
  // The other processes receive an error too, since they have to fail with this one.
  std::string mine;
  if (paths.ok()) {
    mine = absl::StrJoin(*paths, " ",
                         [](std::string* out, const auto& state) { out->append(state.first); });
  } else {
    mine = absl::StrCat(kErrorMark, paths.status().message());
  }
  COOPER_ASSIGN_OR_RETURN(const std::vector<std::string> all, store->AllGather(mine));
  for (size_t rank = 0; rank < all.size(); ++rank) {
    absl::string_view text = all[rank];
    if (!absl::ConsumePrefix(&text, kErrorMark)) continue;
    return absl::DataLossError(absl::StrCat("Checkpointer: rank ", rank, ": ", text));
  }
  for (auto at = paths->rbegin(); at != paths->rend(); ++at) {
    const bool everywhere = std::all_of(all.begin(), all.end(), [&](const std::string& text) {
      return absl::StrContains(text, at->first);
    });
    if (!everywhere) continue;
    if (TextOf(newest.position()) != at->first) {
      COOPER_ASSIGN_OR_RETURN(newest, LoadTrainingState(at->second));
    }
    // The file stays until all processes have a newer one.
    common_ = written_ = newest.position();
    best_ = best;
    return newest;
  }
  if (std::any_of(all.begin(), all.end(), [](const std::string& text) { return !text.empty(); })) {
    options_.log(absl::StrCat("checkpoint: the processes have no state in common, and begin anew; ",
                              "by rank they have (epoch-updates) ", absl::StrJoin(all, "; ")));
  }
  return absl::NotFoundError("Checkpointer: there is no state that all processes have");
}

absl::StatusOr<bool> Checkpointer::Resume(const TrainingRun& run, FitOptions* fit) {
  const absl::StatusOr<TrainingState> state = LoadForFit(fit);
  if (absl::IsNotFound(state.status())) return false;
  if (!state.ok()) return state.status();
  const std::string path = StatePath(options_.prefix, state->position());
  COOPER_RETURN_IF_ERROR(run.module->BindToFit(*run.iter, *fit));
  COOPER_RETURN_IF_ERROR(AddContext(
      RestoreTraining(*state, run, OptimizerOptionsForFit(*fit), ParamsOptionsForFit(*fit)),
      "Checkpointer: ", path));
  fit->params = ParamsOptionsForFit(*fit);
  fit->params.force_init = false;  // Fit starts with the restored parameters
  fit->optimizer.force_init = false;
  fit->force_rebind = false;  // the module is bound; another Bind would zero its carried states
  fit->seed.reset();          // a seed would restart the restored stream if Fit binds again
  fit->begin_epoch = state->epoch;
  fit->begin_batch = state->nbatch;
  resumed_at_ = {state->epoch, state->nbatch};
  resumed_updates_ = state->updates.value_or(0);
  return true;
}

}  // namespace cooper
