#ifndef COOPER_MODULE_CHECKPOINT_STATE_FILES_H_
#define COOPER_MODULE_CHECKPOINT_STATE_FILES_H_

// The files PREFIX-EEEE-BBBBBBBB.state that a Checkpointer writes: training states by epoch and
// batches done in it.

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

// An error unless files of this prefix can be written: kNotFound if their folder is missing (it is
// made if `create` asks for that), kFailedPrecondition if it is no folder, kPermissionDenied if it
// cannot be written to.
absl::Status RequireFolder(const std::string& prefix, bool create);

std::string StatePath(const std::string& prefix, StatePosition position);

// Those of a prefix that are there, readable or not; none if there is no such folder. A folder that
// cannot be listed to its end is kUnknown: the states that were not seen may be the newest ones.
absl::StatusOr<StateFiles> FindStateFiles(const std::string& prefix);

// kDataLoss that lists the files. `reason` is that of the one that was tried last.
absl::Status NoStateCanBeRead(const StateFiles& states, const absl::Status& reason);

}  // namespace cooper

#endif  // COOPER_MODULE_CHECKPOINT_STATE_FILES_H_
