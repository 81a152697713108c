#include "module/module_group.h"

#include <utility>

#include "absl/strings/match.h"
#include "module/kvstore/sum_arrays.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

absl::Status Broadcast(std::vector<ModuleReplica>& replicas, ArrayMap ModuleReplica::*arrays,
                       const std::string& name) {
  const NDArray& value = (replicas[0].*arrays).at(name);
  for (size_t i = 1; i < replicas.size(); ++i) {
    const NDArray& copy = (replicas[i].*arrays).at(name);
    if (copy.raw_data() != value.raw_data()) COOPER_RETURN_IF_ERROR(copy.CopyFrom(value));
  }
  return absl::OkStatus();
}

// Small arrays are copied quickly. BatchNorm writes to gamma, in every replica.
bool WorthSharing(const std::string& name, const NDArray& array) {
  return array.size() >= 16384 && !absl::EndsWith(name, "_gamma");
}

absl::StatusOr<NDArray> Mean(const std::vector<ModuleReplica>& replicas,
                             ArrayMap ModuleReplica::*arrays, const std::string& name) {
  std::vector<NDArray> copies;
  copies.reserve(replicas.size());
  for (const ModuleReplica& replica : replicas) copies.push_back((replica.*arrays).at(name));
  if (copies.size() == 1) return copies[0].CopyTo(Context::Cpu());
  COOPER_ASSIGN_OR_RETURN(NDArray mean, NDArray::Empty(copies[0].shape(), copies[0].dtype()));
  COOPER_RETURN_IF_ERROR(MeanOfArrays(copies, mean));
  return mean;
}

}  // namespace

ModuleGroup::ModuleGroup(const std::vector<Context>& contexts)
    : threads(static_cast<int>(contexts.size())) {
  for (size_t i = 0; i < contexts.size(); ++i) {
    replicas.emplace_back(contexts[i]);
    replicas.back().random->replica = i;
  }
}

absl::Status ModuleGroup::ShareArgs(bool share) {
  share_args = share;
  for (size_t i = 1; i < replicas.size(); ++i) {
    if (!SharesMemory(replicas[i].arena->context(), first().arena->context())) continue;
    for (auto& [name, array] : replicas[i].args) {
      const NDArray& shared = first().args.at(name);
      if (share && !WorthSharing(name, shared)) continue;
      const bool is_shared = array.raw_data() == shared.raw_data();
      if (is_shared == share || !SharesMemory(array.context(), shared.context())) continue;
      if (share) {
        array = shared;
      } else {
        COOPER_ASSIGN_OR_RETURN(array, shared.Copy());
      }
      ++args_generation;
    }
  }
  return absl::OkStatus();
}

absl::Status ModuleGroup::CopyArg(const std::string& name) {
  return Broadcast(replicas, &ModuleReplica::args, name);
}

absl::Status ModuleGroup::TakeWaiting() {
  const std::pair<ArrayMap ModuleReplica::*, ArrayMap ModuleReplica::*> kinds[] = {
      {&ModuleReplica::waiting_args, &ModuleReplica::args},
      {&ModuleReplica::waiting_auxs, &ModuleReplica::auxs}};
  for (ModuleReplica& replica : replicas) {
    for (const auto& [waiting, arrays] : kinds) {
      for (auto it = (replica.*waiting).begin(); it != (replica.*waiting).end();) {
        const auto array = (replica.*arrays).find(it->first);
        if (array == (replica.*arrays).end()) {
          ++it;
          continue;
        }
        COOPER_RETURN_IF_ERROR(array->second.CopyFrom(it->second));
        it = (replica.*waiting).erase(it);
      }
    }
  }
  return absl::OkStatus();
}

absl::Status ModuleGroup::BroadcastArg(const std::string& name) {
  COOPER_RETURN_IF_ERROR(CopyArg(name));
  if (kvstore == nullptr || !kvstore->contains(name)) return absl::OkStatus();
  return kvstore->Set(name, first().args.at(name));
}

absl::Status ModuleGroup::BroadcastAux(const std::string& name) {
  return Broadcast(replicas, &ModuleReplica::auxs, name);
}

absl::StatusOr<NDArray> ModuleGroup::MeanArg(const std::string& name) const {
  return Mean(replicas, &ModuleReplica::args, name);
}

absl::StatusOr<NDArray> ModuleGroup::MeanAux(const std::string& name) const {
  return Mean(replicas, &ModuleReplica::auxs, name);
}

absl::Status ModuleGroup::ZeroGrads() {
  for (ModuleReplica& replica : replicas) {
    for (const auto& [name, grad] : replica.grads) COOPER_RETURN_IF_ERROR(grad.Fill(0));
  }
  pending.clear();
  return absl::OkStatus();
}

void ModuleGroup::DropArg(const std::string& name) {
  for (ModuleReplica& replica : replicas) {
    replica.args.erase(name);
    replica.grads.erase(name);
  }
}

void ModuleGroup::DropAux(const std::string& name) {
  for (ModuleReplica& replica : replicas) replica.auxs.erase(name);
}

int64_t ModuleGroup::arena_bytes() const {
  int64_t bytes = 0;
  for (const ModuleReplica& replica : replicas) {
    bytes += replica.arena->bytes();
    for (const auto& [context, arena] : replica.group_arenas) bytes += arena->bytes();
  }
  return bytes;
}

}  // namespace cooper
