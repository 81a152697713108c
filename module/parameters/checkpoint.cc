#include "module/parameters/checkpoint.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/params_file.h"
#include "symbol/json/json.h"

namespace cooper {

std::string ParamsPath(const std::string& prefix, int epoch) {
  return absl::StrFormat("%s-%04d.params", prefix, epoch);
}

std::string StatesPath(const std::string& prefix, int epoch) {
  return absl::StrFormat("%s-%04d.states", prefix, epoch);
}

absl::Status SaveParamsFile(const std::string& path, const ArrayMap& args, const ArrayMap& auxs,
                            const ParamsFormat& format) {
  NamedArrays arrays;
  for (const auto& [name, array] : args) arrays.emplace_back("arg:" + name, array);
  for (const auto& [name, array] : auxs) arrays.emplace_back("aux:" + name, array);
  return SaveNamedArrays(path, arrays, format);
}

namespace {

// Explains which files have arrays of such a name.
absl::string_view Origin(absl::string_view name) {
  if (absl::StartsWith(name, "cooper:")) {
    return "; the file is a training state (.state), see LoadTrainingState and Checkpointer";
  }
  if (absl::StrContains(name, ':')) {
    return "; the file has optimizer states (.states), see LoadOptimizerStates";
  }
  return "; Gluon's save_parameters writes such names, its export those of a checkpoint";
}

absl::Status SplitByPrefix(const std::string& path, const NamedArrays& arrays, ArrayMap* args,
                           ArrayMap* auxs) {
  for (const auto& [name, array] : arrays) {
    if (absl::StartsWith(name, "arg:")) {
      (*args)[name.substr(4)] = array;
    } else if (absl::StartsWith(name, "aux:")) {
      (*auxs)[name.substr(4)] = array;
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": '", name, "' begins with neither arg: nor aux:", Origin(name)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status LoadParamsFile(const std::string& path, ArrayMap* args, ArrayMap* auxs,
                            ParamsFormat* format) {
  COOPER_ASSIGN_OR_RETURN(const NamedArrays arrays, LoadNamedArrays(path, format));
  return SplitByPrefix(path, arrays, args, auxs);
}

absl::Status MapParamsFile(const std::string& path, ArrayMap* args, ArrayMap* auxs) {
  COOPER_ASSIGN_OR_RETURN(const NamedArrays arrays, MapNamedArrays(path));
  return SplitByPrefix(path, arrays, args, auxs);
}

absl::Status SaveCheckpoint(const std::string& prefix, int epoch, const Symbol& symbol,
                            const ArrayMap& args, const ArrayMap& auxs,
                            const ParamsFormat& format) {
  COOPER_RETURN_IF_ERROR(symbol.status());
  ParamsFormat written = format;
  written.np_shape |= HasNumpyOperators(symbol);
  RemoveTemporaries(prefix);
  COOPER_RETURN_IF_ERROR(SaveSymbol(absl::StrCat(prefix, "-symbol.json"), symbol));
  return SaveParamsFile(ParamsPath(prefix, epoch), args, auxs, written);
}

absl::StatusOr<Checkpoint> LoadCheckpoint(const std::string& prefix, int epoch,
                                          const LoadLimits& limits) {
  const std::string path = absl::StrCat(prefix, "-symbol.json");
  Checkpoint checkpoint;
  COOPER_ASSIGN_OR_RETURN(checkpoint.symbol, LoadSymbol(path, limits));
  COOPER_RETURN_IF_ERROR(LoadParamsFile(ParamsPath(prefix, epoch), &checkpoint.args,
                                        &checkpoint.auxs, &checkpoint.format));
  return checkpoint;
}

}  // namespace cooper
