#ifndef COOPER_EXAMPLES_PROFILE_FLAGS_H_
#define COOPER_EXAMPLES_PROFILE_FLAGS_H_

// --profile=FILE and --profile_batches=N: some batches of a run as a Chrome trace, and a table of
// the operators that took longest.

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cooper {

// kInvalidArgument, naming the flag, if the file cannot be written or N is not positive. To be
// called before a run, so that it is not spent for nothing.
absl::Status CheckProfileFlags();

// Whether --profile is given.
bool ProfileIsAsked();
int64_t ProfileBatches();

// Ends the recording. Writes the trace to the flag's file (in a process other than the first to
// FILE-rankN, before the extension) and returns the table, and where the trace is. `contexts` that
// compute side by side have the limit of their part of the threads.
absl::StatusOr<std::string> FinishProfile(int rank, int contexts);

// The part of a training that is recorded: --profile_batches after the first ten (or after half of
// the first epoch, if that is shorter), which bind buckets and touch their memory.
class ProfiledBatches {
 public:
  // Records from the start if nothing is to be passed over.
  ProfiledBatches(int64_t batches_per_epoch, int rank, int contexts);

  // Call after each batch: the report, once all batches are recorded, else "".
  absl::StatusOr<std::string> OnBatch();
  // Call at the end of the run: the report of a run that was shorter.
  absl::StatusOr<std::string> OnEnd();

 private:
  const int rank_;
  const int contexts_;
  int64_t left_to_pass_over_;
  int64_t left_to_record_;
};

}  // namespace cooper

#endif  // COOPER_EXAMPLES_PROFILE_FLAGS_H_
