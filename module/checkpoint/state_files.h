#ifndef COOPER_MODULE_CHECKPOINT_STATE_FILES_H_
#define COOPER_MODULE_CHECKPOINT_STATE_FILES_H_

// Names and finds the files PREFIX-EEEE-BBBBBBBB.state that a Checkpointer writes: training states
// by epoch and batches done in it.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cooper {

using StatePosition = std::pair<int, int64_t>;  // epoch and batches done

// Positions and paths, in the order of positions.
using StateFiles = std::vector<std::pair<StatePosition, std::string>>;

// Checks that files of this prefix can be written. Errors: kNotFound if their folder is missing
// (`create` creates it), kFailedPrecondition if it is not a folder, kPermissionDenied if it is not
// writable.
absl::Status RequireFolder(const std::string& prefix, bool create);

// Returns the path of the state at `position`.
std::string StatePath(const std::string& prefix, StatePosition position);

// Returns the state files of a prefix, readable or not; none if there is no such folder. kUnknown
// if the folder cannot be listed to its end, since the missing states may be the newest ones.
absl::StatusOr<StateFiles> FindStateFiles(const std::string& prefix);

// Returns a kDataLoss that lists the files. `reason` is the error of the last one tried.
absl::Status NoStateCanBeRead(const StateFiles& states, const absl::Status& reason);

}  // namespace cooper

#endif  // COOPER_MODULE_CHECKPOINT_STATE_FILES_H_
