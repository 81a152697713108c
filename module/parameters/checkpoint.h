#ifndef COOPER_MODULE_PARAMETERS_CHECKPOINT_H_
#define COOPER_MODULE_PARAMETERS_CHECKPOINT_H_

// MXNet's checkpoint files: prefix-symbol.json with the graph and prefix-0003.params with arrays
// called arg:NAME and aux:NAME. MXNet 1.9.1 reads what is written here, and the other way round.
// MXNet: python/mxnet/model.py.

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/executor.h"
#include "symbol/graph/symbol.h"
#include "symbol/json/load_limits.h"

namespace cooper {

struct Checkpoint {
  Symbol symbol;
  ArrayMap args;
  ArrayMap auxs;
};

// "prefix-0003.params".
std::string ParamsPath(const std::string& prefix, int epoch);
// "prefix-0003.states", where modules write optimizer states.
std::string StatesPath(const std::string& prefix, int epoch);

// Each file is replaced as a whole or not at all; what killed processes have left of files of the
// prefix is removed.
absl::Status SaveCheckpoint(const std::string& prefix, int epoch, const Symbol& symbol,
                            const ArrayMap& args, const ArrayMap& auxs);
absl::StatusOr<Checkpoint> LoadCheckpoint(const std::string& prefix, int epoch,
                                          const LoadLimits& limits = {});

// The parameter file alone.
absl::Status SaveParamsFile(const std::string& path, const ArrayMap& args, const ArrayMap& auxs);
// kInvalidArgument, naming it, for an array that begins with neither arg: nor aux:.
absl::Status LoadParamsFile(const std::string& path, ArrayMap* args, ArrayMap* auxs);
// The same as views of the file (MapNamedArrays, ndarray/files/params_file.h): parameters that are
// not changed are in memory once, however many processes map them.
absl::Status MapParamsFile(const std::string& path, ArrayMap* args, ArrayMap* auxs);

}  // namespace cooper

#endif  // COOPER_MODULE_PARAMETERS_CHECKPOINT_H_
