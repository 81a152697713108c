#include "tests/cuda_emulator/nccl/nccl.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cuda_runtime_api.h"
#include "tests/cuda_emulator/runtime/api_state.h"
#include "tests/cuda_emulator/runtime/copy_check.h"
#include "tests/cuda_emulator/runtime/stream.h"

namespace cooper::cuda_emulator {
namespace {

// NCCL's result codes (nccl.h).
enum Result {
  kSuccess = 0,
  kUnhandledCudaError = 1,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
};
constexpr int kFloat32 = 7;
constexpr int kFloat64 = 8;
constexpr int kSum = 0;

struct UniqueId {
  char internal[128];
};

// The ranks of one unique id.
struct RankSet {
  int size = 0;
  std::map<int, int> devices;  // devices of the ranks that have joined
  bool aborted = false;
};

struct Rank {
  std::shared_ptr<RankSet> set;
  int rank = 0;
  int device = 0;
};

// One rank's part of a sum.
struct Part {
  Rank* rank = nullptr;
  const void* values = nullptr;
  void* sum = nullptr;
  size_t count = 0;
  int type = kFloat32;
  cudaStream_t stream = nullptr;
};

// The calls of a thread since its group began.
struct Group {
  int depth = 0;
  std::vector<std::shared_ptr<RankSet>> joined;
  std::vector<Part> parts;
  std::map<std::shared_ptr<RankSet>, int> destroyed;  // ranks destroyed, by set
};
thread_local Group t_group;

std::string& LastError() {
  static auto* error = new std::string;
  return *error;
}

Result Refuse(Result result, const std::string& why) {
  LastError() = why;
  std::fprintf(stderr, "cuda emulator: NCCL: %s\n", why.c_str());
  return result;
}

std::map<std::string, std::shared_ptr<RankSet>>& Sets() {
  static auto* sets = new std::map<std::string, std::shared_ptr<RankSet>>;
  return *sets;
}

size_t SizeOfType(int type) { return type == kFloat64 ? 8 : 4; }

template <typename T>
void Add(const std::vector<Part>& parts) {
  const size_t count = parts[0].count;
  std::vector<T> total(count);
  for (size_t k = 0; k < parts.size(); ++k) {
    const T* values = static_cast<const T*>(parts[k].values);
    for (size_t i = 0; i < count; ++i) total[i] = k == 0 ? values[i] : total[i] + values[i];
  }
  for (const Part& part : parts) std::memcpy(part.sum, total.data(), count * sizeof(T));
}

cudaError_t CheckMemory(const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    const size_t bytes = part.count * SizeOfType(part.type);
    for (const void* data : {part.values, static_cast<const void*>(part.sum)}) {
      const cudaError_t error = CheckRange("ncclAllReduce", data, bytes, Side::kDevice);
      if (error != cudaSuccess) return error;
    }
  }
  return cudaSuccess;
}

// Makes `stream`, on its rank's device, wait for the current work of `before`.
cudaError_t WaitForStream(const Part& part, const Part& before) {
  const int current = CurrentDevice();
  SetCurrentDevice(before.rank->device);
  const cudaEvent_t event = MakeEvent(/*timing=*/false);
  CUstream_st* from = FindStream(before.stream, "ncclAllReduce");
  cudaError_t error = from == nullptr ? cudaErrorInvalidResourceHandle : RecordEvent(*event, *from);
  SetCurrentDevice(part.rank->device);
  CUstream_st* to = FindStream(part.stream, "ncclAllReduce");
  if (to == nullptr) error = cudaErrorInvalidResourceHandle;
  if (error == cudaSuccess) error = WaitEvent(*to, *event);
  DestroyEvent(event);
  SetCurrentDevice(current);
  return error;
}

// Returns whether calls check pointers, as in NCCL. Otherwise wrong pointers are found when the sum
// runs.
bool ChecksPointers() {
  const char* const text = std::getenv("NCCL_CHECK_POINTERS");
  return text != nullptr && std::strcmp(text, "1") == 0;
}

// Queues one sum of a part of every rank, in the first rank's stream; the streams of all ranks wait
// before and after it.
Result RunSum(const std::vector<Part>& parts) {
  if (ChecksPointers() && CheckMemory(parts) != cudaSuccess) {
    return Refuse(kInvalidArgument, "memory of a sum that is none of a device");
  }
  cudaError_t error = cudaSuccess;
  for (size_t k = 1; k < parts.size() && error == cudaSuccess; ++k) {
    error = WaitForStream(parts[0], parts[k]);
  }
  const int current = CurrentDevice();
  SetCurrentDevice(parts[0].rank->device);
  CUstream_st* stream = FindStream(parts[0].stream, "ncclAllReduce");
  if (stream == nullptr) error = cudaErrorInvalidResourceHandle;
  if (error == cudaSuccess) {
    const std::shared_ptr<RankSet> set = parts[0].rank->set;
    error = Enqueue(*stream, {cudaGraphNodeTypeKernel, "ncclAllReduce", [set, parts] {
                                if (set->aborted) return cudaSuccess;
                                const cudaError_t late = CheckMemory(parts);
                                if (late != cudaSuccess) return late;
                                parts[0].type == kFloat64 ? Add<double>(parts) : Add<float>(parts);
                                return cudaSuccess;
                              }});
  }
  SetCurrentDevice(current);
  for (size_t k = 1; k < parts.size() && error == cudaSuccess; ++k) {
    error = WaitForStream(parts[k], parts[0]);
  }
  return error == cudaSuccess ? kSuccess : Refuse(kUnhandledCudaError, cudaGetErrorString(error));
}

// Ends the program if not all ranks of a set are destroyed: real NCCL would hang, and programs
// ignore the result of ncclCommDestroy.
void CheckDestroyed(const Group& group) {
  for (const auto& [set, ranks] : group.destroyed) {
    if (ranks == set->size) continue;
    std::fprintf(stderr,
                 "cuda emulator: NCCL: ncclCommDestroy of %d of %d ranks in one group: the others "
                 "would be waited for\n",
                 ranks, set->size);
    std::abort();
  }
}

Result RunGroup(const Group& group) {
  CheckDestroyed(group);
  for (const auto& set : group.joined) {
    if (static_cast<int>(set->devices.size()) == set->size) continue;
    return Refuse(kInvalidUsage, absl::StrCat(set->devices.size(), " of ", set->size,
                                              " ranks have joined in one group: the others "
                                              "would be waited for"));
  }
  std::map<RankSet*, std::map<int, std::vector<Part>>> by_rank;
  for (const Part& part : group.parts) {
    by_rank[part.rank->set.get()][part.rank->rank].push_back(part);
  }
  for (const auto& [set, parts] : by_rank) {
    const size_t sums = parts.begin()->second.size();
    for (size_t k = 0; k < sums; ++k) {
      std::vector<Part> all;
      for (const auto& [rank, its] : parts) {
        if (its.size() == sums) all.push_back(its[k]);
      }
      bool alike = static_cast<int>(all.size()) == set->size;
      for (const Part& part : all) {
        alike = alike && part.count == all[0].count && part.type == all[0].type;
      }
      if (!alike) {
        return Refuse(kInvalidUsage, "a sum that not all ranks bring alike within one group");
      }
      if (const Result result = RunSum(all); result != kSuccess) return result;
    }
  }
  return kSuccess;
}

Result GroupEnd() {
  if (t_group.depth == 0) return Refuse(kInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  if (--t_group.depth > 0) return kSuccess;
  Group group;
  std::swap(group, t_group);
  const ApiLock lock;
  return RunGroup(group);
}

// Runs a call; outside of a group the call is a group of its own.
template <typename Call>
Result InGroup(const Call& call) {
  ++t_group.depth;
  const Result result = call();
  const Result end = GroupEnd();
  return result != kSuccess ? result : end;
}

extern "C" {

int EmulatedNcclGetUniqueId(UniqueId* id) {
  const ApiLock lock;
  static uint64_t made = 0;
  std::memset(id, 0, sizeof(*id));
  ++made;
  std::memcpy(id->internal, &made, sizeof(made));
  return kSuccess;
}

int EmulatedNcclCommInitRank(Rank** result, int size, UniqueId id, int rank) {
  return InGroup([&] {
    const ApiLock lock;
    *result = nullptr;
    if (size < 1 || rank < 0 || rank >= size) return Refuse(kInvalidArgument, "no such rank");
    std::shared_ptr<RankSet>& set = Sets()[std::string(id.internal, sizeof(id.internal))];
    if (set == nullptr) set = std::make_shared<RankSet>(RankSet{.size = size, .devices = {}});
    for (const auto& [other, device] : set->devices) {
      if (other != rank && device != CurrentDevice()) continue;
      return Refuse(kInvalidUsage, "a rank or a device is there twice");
    }
    set->devices[rank] = CurrentDevice();
    *result = new Rank{set, rank, CurrentDevice()};
    t_group.joined.push_back(set);
    return kSuccess;
  });
}

int EmulatedNcclCommDestroy(Rank* rank) {
  return InGroup([&] {
    ++t_group.destroyed[rank->set];
    delete rank;
    return kSuccess;
  });
}

// Does not wait: sums that have not run leave their arrays unchanged.
int EmulatedNcclCommAbort(Rank* rank) {
  const ApiLock lock;
  rank->set->aborted = true;
  delete rank;
  return kSuccess;
}

int EmulatedNcclCommGetAsyncError(Rank*, int* error) {
  *error = StickyError() == cudaSuccess ? kSuccess : kUnhandledCudaError;
  return kSuccess;
}

int EmulatedNcclAllReduce(const void* values, void* sum, size_t count, int type, int operation,
                          Rank* rank, cudaStream_t stream) {
  return InGroup([&] {
    if (rank == nullptr || (type != kFloat32 && type != kFloat64) || operation != kSum) {
      return Refuse(kInvalidArgument, "only sums of float32 and float64 are emulated");
    }
    t_group.parts.push_back({rank, values, sum, count, type, stream});
    return kSuccess;
  });
}

int EmulatedNcclGroupStart() {
  ++t_group.depth;
  return kSuccess;
}

int EmulatedNcclGroupEnd() { return GroupEnd(); }

const char* EmulatedNcclGetErrorString(int result) {
  switch (result) {
    case kSuccess:
      return "no error";
    case kUnhandledCudaError:
      return "unhandled cuda error";
    case kInvalidArgument:
      return "invalid argument";
    default:
      return "invalid usage";
  }
}

const char* EmulatedNcclGetLastError(Rank*) { return LastError().c_str(); }

}  // extern "C"

}  // namespace

void* FindNcclFunction(std::string_view name) {
  static const std::map<std::string_view, void*> kFunctions = {
      {"ncclGetUniqueId", reinterpret_cast<void*>(&EmulatedNcclGetUniqueId)},
      {"ncclCommInitRank", reinterpret_cast<void*>(&EmulatedNcclCommInitRank)},
      {"ncclCommDestroy", reinterpret_cast<void*>(&EmulatedNcclCommDestroy)},
      {"ncclCommAbort", reinterpret_cast<void*>(&EmulatedNcclCommAbort)},
      {"ncclCommGetAsyncError", reinterpret_cast<void*>(&EmulatedNcclCommGetAsyncError)},
      {"ncclAllReduce", reinterpret_cast<void*>(&EmulatedNcclAllReduce)},
      {"ncclGroupStart", reinterpret_cast<void*>(&EmulatedNcclGroupStart)},
      {"ncclGroupEnd", reinterpret_cast<void*>(&EmulatedNcclGroupEnd)},
      {"ncclGetErrorString", reinterpret_cast<void*>(&EmulatedNcclGetErrorString)},
      {"ncclGetLastError", reinterpret_cast<void*>(&EmulatedNcclGetLastError)},
  };
  const auto it = kFunctions.find(name);
  return it == kFunctions.end() ? nullptr : it->second;
}

}  // namespace cooper::cuda_emulator
