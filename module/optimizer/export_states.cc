#include "module/optimizer/export_states.h"

#include <map>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "module/optimizer/saved_names.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// The kinds whose float32 copy of a parameter follows the state; convert_states.cc reads them so.
bool MasterIsLast(absl::string_view kind) {
  return kind == "sgd" || kind == "nag" || kind == "lars";
}

// The kinds whose state is an array, where that of others is a tuple.
bool StateIsArray(absl::string_view kind) {
  return MasterIsLast(kind) || kind == "signum" || kind == "lbsgd" || kind == "adagrad";
}

// MXNet's DCASGD has None for the momentum of an optimizer without momentum.
absl::StatusOr<bool> IsNone(absl::string_view kind, const std::string& name, const NDArray& array) {
  if (kind != "dcasgd" || name != "momentum") return false;
  COOPER_ASSIGN_OR_RETURN(const NDArray on_cpu, array.CopyTo(Context::Cpu()));
  COOPER_ASSIGN_OR_RETURN(const std::vector<double> values, on_cpu.ToVector<double>());
  return absl::c_all_of(values, [](double value) { return value == 0; });
}

}  // namespace

absl::Status WriteMxnetStates(
    const NamedArrays& states, const Optimizer& optimizer,
    const std::function<absl::StatusOr<std::vector<MxnetKey>>(const std::string& name)>& keys_of,
    MxnetStatesWriter* writer) {
  const std::map<std::string, NDArray> arrays(states.begin(), states.end());
  const std::string kind(optimizer.kind());
  const auto write = [&](const std::string& name) -> absl::Status {
    const std::vector<std::string>& names = optimizer.state_names();
    constexpr size_t kMost = 3;  // of MXNet's optimizers
    if (names.size() > kMost) {
      return absl::UnimplementedError(absl::StrCat("optimizer '", kind, "' keeps ", names.size(),
                                                   " arrays for a parameter, those of MXNet ",
                                                   kMost, " at most"));
    }
    const auto master = arrays.find(absl::StrCat(name, ":", kSavedMaster));
    if (master != arrays.end() && !MasterIsLast(kind)) {
      COOPER_RETURN_IF_ERROR(writer->Array(master->second));
    }
    for (const std::string& what : names) {
      const NDArray& array = arrays.at(absl::StrCat(name, ":", what));
      COOPER_ASSIGN_OR_RETURN(const bool is_none, IsNone(kind, what, array));
      COOPER_RETURN_IF_ERROR(is_none ? writer->None() : writer->Array(array));
    }
    if (names.empty()) COOPER_RETURN_IF_ERROR(writer->None());
    if (!names.empty() && !StateIsArray(kind)) {
      COOPER_RETURN_IF_ERROR(writer->Tuple(static_cast<int>(names.size())));
    }
    if (master == arrays.end()) return absl::OkStatus();
    if (MasterIsLast(kind)) COOPER_RETURN_IF_ERROR(writer->Array(master->second));
    return writer->Tuple(2);
  };
  for (const auto& [key, array] : states) {
    absl::string_view name = key;
    if (!absl::ConsumeSuffix(&name, absl::StrCat(":", kSavedNumUpdates))) continue;
    COOPER_ASSIGN_OR_RETURN(const std::vector<MxnetKey> keys, keys_of(std::string(name)));
    for (const MxnetKey& mxnet_key : keys) {
      COOPER_RETURN_IF_ERROR(writer->Key(mxnet_key));
      COOPER_RETURN_IF_ERROR(write(std::string(name)));
    }
  }
  return absl::OkStatus();
}

}  // namespace cooper
