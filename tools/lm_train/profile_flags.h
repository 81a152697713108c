#ifndef COOPER_TOOLS_LM_TRAIN_PROFILE_FLAGS_H_
#define COOPER_TOOLS_LM_TRAIN_PROFILE_FLAGS_H_

// The flags --profile=FILE and --profile_batches=N: record some batches of a run as a Chrome trace,
// and print a table of the slowest operators.

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cooper {

// Returns kInvalidArgument, naming the flag, if the file cannot be written or N is not positive.
// Call it before a run, so that a long run does not end with that error.
absl::Status CheckProfileFlags();

// Returns whether --profile is given.
bool ProfileIsAsked();
int64_t ProfileBatches();

// Stops recording. Writes the trace to the flag's file (in processes other than the first with
// -rankN before the extension), and returns the table and the trace's path. `contexts` that compute
// concurrently are compared with the rate of their share of the threads.
absl::StatusOr<std::string> FinishProfile(int rank, int contexts);

// Selects the batches of a training that are recorded: --profile_batches after the first ten (or
// after half of the first epoch, if that is shorter), which bind buckets and touch their memory.
class ProfiledBatches {
 public:
  // Starts recording at once if no batches are to be skipped.
  ProfiledBatches(int64_t batches_per_epoch, int rank, int contexts);

  // Call after each batch. Returns the report once all batches are recorded, else "".
  absl::StatusOr<std::string> OnBatch();
  // Call at the end of the run. Returns the report of a run that was shorter.
  absl::StatusOr<std::string> OnEnd();

 private:
  const int rank_;
  const int contexts_;
  int64_t samples_to_skip_;
  int64_t runs_before_capture_;
};

}  // namespace cooper

#endif  // COOPER_TOOLS_LM_TRAIN_PROFILE_FLAGS_H_
