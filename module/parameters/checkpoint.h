#ifndef COOPER_MODULE_PARAMETERS_CHECKPOINT_H_
#define COOPER_MODULE_PARAMETERS_CHECKPOINT_H_

// MXNet's checkpoint files: prefix-symbol.json with the graph, and prefix-0003.params with arrays
// named arg:NAME and aux:NAME. cooper and MXNet 1.9.1 read each other's files.
// MXNet: python/mxnet/model.py.

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/executor.h"
#include "ndarray/files/params_entry.h"
#include "symbol/graph/symbol.h"
#include "symbol/json/load_limits.h"

namespace cooper {

// Contents of a checkpoint. Sparse arrays are dense in `args` and `auxs`.
struct Checkpoint {
  Symbol symbol;
  ArrayMap args;
  ArrayMap auxs;
  ParamsFormat format = {};  // of the file, where names are "arg:NAME" and "aux:NAME"
};

// "prefix-0003.params".
std::string ParamsPath(const std::string& prefix, int epoch);
// "prefix-0003.states", the file of optimizer states.
std::string StatesPath(const std::string& prefix, int epoch);

// Replaces each file as a whole or not at all, and removes temporary files of this prefix that
// killed processes left. Arrays of a symbol with NumPy operators, which MXNet runs in NumPy mode
// only, are written for that mode whatever `format` says. Errors: those of `symbol`, and of writing
// files.
absl::Status SaveCheckpoint(const std::string& prefix, int epoch, const Symbol& symbol,
                            const ArrayMap& args, const ArrayMap& auxs,
                            const ParamsFormat& format = {});
// Reads both files; `limits` bounds the graph of the symbol file.
absl::StatusOr<Checkpoint> LoadCheckpoint(const std::string& prefix, int epoch,
                                          const LoadLimits& limits = {});

// Writes only the parameter file, in `format` as SaveNamedArrays does.
absl::Status SaveParamsFile(const std::string& path, const ArrayMap& args, const ArrayMap& auxs,
                            const ParamsFormat& format = {});
// Reads only the parameter file and adds its arrays to `args` and `auxs`, and its format to
// `format` as LoadNamedArrays does. kInvalidArgument, naming the array, if a name begins with
// neither arg: nor aux:.
absl::Status LoadParamsFile(const std::string& path, ArrayMap* args, ArrayMap* auxs,
                            ParamsFormat* format = nullptr);
// The same, with arrays that are views of the file (MapNamedArrays, ndarray/files/params_file.h):
// processes that map the same file and do not change the parameters share one copy in memory.
absl::Status MapParamsFile(const std::string& path, ArrayMap* args, ArrayMap* auxs);

}  // namespace cooper

#endif  // COOPER_MODULE_PARAMETERS_CHECKPOINT_H_
