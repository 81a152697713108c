#include "tools/lm_train/profile_flags.h"

#include <algorithm>
#include <filesystem>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/output_file.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/products/gemm_rate.h"
#include "ndarray/threads/parallel.h"
#include "ndarray/threads/profile_report.h"
#include "ndarray/threads/profiler.h"

ABSL_FLAG(std::string, profile, "",
          "file for a trace of some batches (Perfetto, chrome://tracing); the operators that took "
          "longest are shown");
ABSL_FLAG(int64_t, profile_batches, 50, "batches that --profile records");

namespace cooper {
namespace {

// The number of batches to skip at the start.
constexpr int64_t kFirstBatches = 10;

// Returns FILE for rank 0, else FILE with -rankN before its extension.
std::string PathOf(int rank) {
  const std::filesystem::path path = absl::GetFlag(FLAGS_profile);
  if (rank == 0) return path.string();
  std::filesystem::path file = path.stem();
  file += absl::StrCat("-rank", rank);
  file += path.extension();
  return (path.parent_path() / file).string();
}

}  // namespace

absl::Status CheckProfileFlags() {
  if (ProfileBatches() < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--profile_batches=", ProfileBatches(), ": expected at least 1"));
  }
  return CheckOutputFile("--profile=", absl::GetFlag(FLAGS_profile));
}

bool ProfileIsAsked() { return !absl::GetFlag(FLAGS_profile).empty(); }
int64_t ProfileBatches() { return absl::GetFlag(FLAGS_profile_batches); }

absl::StatusOr<std::string> FinishProfile(int rank, int contexts) {
  const Profile profile = StopProfile();
  const std::string path = PathOf(rank);
  COOPER_RETURN_IF_ERROR(WriteChromeTrace(profile, path, rank));
  const int threads = NumThreads();
  SetNumThreads(std::max(1, threads / contexts));
  const double limit = GemmRate();
  SetNumThreads(threads);
  return absl::StrCat(ProfileTable(profile, limit), "trace: ", path, "\n");
}

ProfiledBatches::ProfiledBatches(int64_t batches_per_epoch, int rank, int contexts)
    : rank_(rank),
      contexts_(contexts),
      samples_to_skip_(std::min(kFirstBatches, batches_per_epoch / 2)),
      runs_before_capture_(ProfileIsAsked() ? ProfileBatches() : 0) {
  if (runs_before_capture_ > 0 && samples_to_skip_ == 0) StartProfile();
}

absl::StatusOr<std::string> ProfiledBatches::OnBatch() {
  if (runs_before_capture_ == 0) return "";
  if (samples_to_skip_ > 0) {
    if (--samples_to_skip_ == 0) StartProfile();
    return "";
  }
  if (--runs_before_capture_ > 0) return "";
  return FinishProfile(rank_, contexts_);
}

absl::StatusOr<std::string> ProfiledBatches::OnEnd() {
  if (runs_before_capture_ == 0) return "";
  runs_before_capture_ = 0;
  return FinishProfile(rank_, contexts_);
}

}  // namespace cooper
