#include "ndarray/cuda/nccl_ranks.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "nccl.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/device_scope.h"
#include "ndarray/cuda/library_functions.h"

namespace cooper {
namespace {

std::string LibraryName() { return absl::StrCat("libnccl.so.", NCCL_MAJOR); }

struct Functions {
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRank) comm_init_rank = nullptr;
  decltype(&ncclCommDestroy) comm_destroy = nullptr;
  decltype(&ncclCommAbort) comm_abort = nullptr;
  decltype(&ncclCommGetAsyncError) comm_get_async_error = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclGetErrorString) error_string = nullptr;
  decltype(&ncclGetLastError) last_error = nullptr;
};

absl::StatusOr<Functions> LoadFunctions() {
  LibraryFunctions library(LibraryName());
  Functions functions;
  library.Find("ncclGetUniqueId", functions.get_unique_id);
  library.Find("ncclCommInitRank", functions.comm_init_rank);
  library.Find("ncclCommDestroy", functions.comm_destroy);
  library.Find("ncclCommAbort", functions.comm_abort);
  library.Find("ncclCommGetAsyncError", functions.comm_get_async_error);
  library.Find("ncclAllReduce", functions.all_reduce);
  library.Find("ncclGroupStart", functions.group_start);
  library.Find("ncclGroupEnd", functions.group_end);
  library.Find("ncclGetErrorString", functions.error_string);
  library.Find("ncclGetLastError", functions.last_error);
  COOPER_RETURN_IF_ERROR(library.status());
  return functions;
}

const absl::StatusOr<Functions>& GetFunctions() {
  static const auto* functions = new absl::StatusOr<Functions>(LoadFunctions());
  return *functions;
}

// Converts an NCCL result: "ncclAllReduce of (800, 650) float32, rank 1 of 2: unhandled cuda error:
// ...". Requires that GetFunctions() is OK.
absl::Status NcclStatus(ncclResult_t result, absl::string_view call, ncclComm_t communicator) {
  if (result == ncclSuccess || result == ncclInProgress) return absl::OkStatus();
  std::string message = absl::StrCat(call, ": ", GetFunctions()->error_string(result));
  const char* last = GetFunctions()->last_error(communicator);
  if (last != nullptr && *last != '\0') absl::StrAppend(&message, ": ", last);
  // Another process, or the connection to it, is gone.
  if (result == ncclRemoteError || result == ncclSystemError) {
    return absl::UnavailableError(message);
  }
  return absl::InternalError(message);
}

absl::StatusOr<ncclDataType_t> DataType(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return ncclFloat32;
    case DType::kFloat64:
      return ncclFloat64;
    case DType::kFloat16:
      return ncclFloat16;
    case DType::kBfloat16:
      return ncclBfloat16;
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("a sum by NCCL of ", DTypeName(dtype), ", expected floats"));
  }
}

std::string RankOf(int rank, int size) { return absl::StrCat("rank ", rank, " of ", size); }

absl::Status StartGroup() {
  return NcclStatus(GetFunctions()->group_start(), "ncclGroupStart", nullptr);
}

absl::Status EndGroup() { return NcclStatus(GetFunctions()->group_end(), "ncclGroupEnd", nullptr); }

// Calls `end`, ncclCommDestroy or ncclCommAbort, for all communicators of one thread in one group:
// outside a group the first ncclCommDestroy would wait for the second.
absl::Status EndAll(const std::vector<int>& devices, const std::vector<void*>& communicators,
                    decltype(&ncclCommDestroy) end, absl::string_view call) {
  absl::Status status = StartGroup();
  const bool grouped = status.ok();
  if (!grouped) end = GetFunctions()->comm_abort;  // does not wait for other ranks
  for (size_t i = 0; i < communicators.size(); ++i) {
    if (communicators[i] == nullptr) continue;
    const CudaDeviceScope scope(devices[i]);
    status.Update(NcclStatus(end(static_cast<ncclComm_t>(communicators[i])), call, nullptr));
  }
  if (grouped) status.Update(EndGroup());
  return status;
}

}  // namespace

absl::Status NcclRanks::CheckInstalled() { return GetFunctions().status(); }

absl::StatusOr<std::string> NcclRanks::MakeId() {
  COOPER_RETURN_IF_ERROR(CheckInstalled());
  ncclUniqueId id;
  COOPER_RETURN_IF_ERROR(
      NcclStatus(GetFunctions()->get_unique_id(&id), "ncclGetUniqueId", nullptr));
  return std::string(id.internal, sizeof(id.internal));
}

absl::StatusOr<std::unique_ptr<NcclRanks>> NcclRanks::Create(const std::string& id, int size,
                                                             int first,
                                                             absl::Span<const int> devices) {
  COOPER_RETURN_IF_ERROR(CheckInstalled());
  ncclUniqueId unique;
  if (id.size() != sizeof(unique.internal) || devices.empty() || first < 0 ||
      first + static_cast<int64_t>(devices.size()) > size) {
    return absl::InvalidArgumentError(absl::StrCat(
        "NCCL: ", devices.size(), " devices from rank ", first, " of ", size, ", with an id of ",
        id.size(), " bytes: expected ranks of the set and ", sizeof(unique.internal), " bytes"));
  }
  std::memcpy(unique.internal, id.data(), sizeof(unique.internal));
  std::unique_ptr<NcclRanks> ranks(
      new NcclRanks(std::vector<int>(devices.begin(), devices.end()), first, size));
  std::vector<ncclComm_t> made(devices.size(), nullptr);
  // Each call waits for the calls of the other ranks; one thread must therefore group its calls.
  COOPER_RETURN_IF_ERROR(StartGroup());
  absl::Status status;
  for (int i = 0; i < ranks->count() && status.ok(); ++i) {
    const CudaDeviceScope scope(devices[i]);
    status.Update(scope.status());
    if (!status.ok()) break;
    status.Update(NcclStatus(GetFunctions()->comm_init_rank(&made[i], size, unique, first + i),
                             absl::StrCat("ncclCommInitRank, ", ranks->Describe(i)), nullptr));
  }
  status.Update(EndGroup());
  ranks->communicators_.assign(made.begin(), made.end());
  if (status.ok()) return ranks;
  // Other processes may have no communicator, and destruction would wait for them.
  ranks->Abort(status);
  return status;
}

NcclRanks::~NcclRanks() {
  if (!AsyncError().ok()) return;
  const absl::Status status =
      EndAll(devices_, communicators_, GetFunctions()->comm_destroy, "ncclCommDestroy");
  if (!status.ok()) LOG(ERROR) << status;
}

std::string NcclRanks::Describe(int i) const { return RankOf(first_ + i, size_); }

absl::Status NcclRanks::AllReduceSum(int i, const void* values, void* sum, const Shape& shape,
                                     DType dtype, cudaStream_t stream) {
  COOPER_ASSIGN_OR_RETURN(const ncclDataType_t type, DataType(dtype));
  std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
  if (depth_ == 0) lock.lock();
  COOPER_RETURN_IF_ERROR(given_up_);
  const CudaDeviceScope scope(devices_[i]);
  COOPER_RETURN_IF_ERROR(scope.status());
  const auto communicator = static_cast<ncclComm_t>(communicators_[i]);
  const auto count = static_cast<size_t>(shape.num_elements());
  const ncclResult_t result =
      GetFunctions()->all_reduce(values, sum, count, type, ncclSum, communicator, stream);
  if (result == ncclSuccess) return absl::OkStatus();  // saves formatting the message
  return NcclStatus(
      result,
      absl::StrCat("ncclAllReduce of ", shape.ToString(), " ", DTypeName(dtype), ", ", Describe(i)),
      communicator);
}

absl::Status NcclRanks::GroupStart() {
  std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
  if (depth_ == 0) lock.lock();
  COOPER_RETURN_IF_ERROR(given_up_);
  COOPER_RETURN_IF_ERROR(StartGroup());
  ++depth_;
  lock.release();  // GroupEnd unlocks it
  return absl::OkStatus();
}

absl::Status NcclRanks::GroupEnd() {
  CHECK_GT(depth_, 0) << "GroupEnd without GroupStart";
  const absl::Status status = EndGroup();
  if (--depth_ == 0) mutex_.unlock();
  return status;
}

absl::Status NcclRanks::FindAsyncError() const {
  // communicators_ is empty if Create failed before it created any.
  for (int i = 0; i < static_cast<int>(communicators_.size()); ++i) {
    ncclResult_t error = ncclSuccess;
    const auto communicator = static_cast<ncclComm_t>(communicators_[i]);
    COOPER_RETURN_IF_ERROR(NcclStatus(GetFunctions()->comm_get_async_error(communicator, &error),
                                      "ncclCommGetAsyncError", communicator));
    COOPER_RETURN_IF_ERROR(
        NcclStatus(error, absl::StrCat("a sum by NCCL, ", Describe(i)), communicator));
  }
  return absl::OkStatus();
}

absl::Status NcclRanks::AsyncError() {
  std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
  if (depth_ == 0) lock.lock();
  COOPER_RETURN_IF_ERROR(given_up_);
  const absl::Status error = FindAsyncError();
  // Within a group NCCL holds references to the communicators, so they must not be aborted.
  if (!error.ok() && depth_ == 0) GiveUp(error);
  return error;
}

void NcclRanks::Abort(absl::Status why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (given_up_.ok()) GiveUp(std::move(why));
}

// Ignores errors of the abort, since `why` came first.
void NcclRanks::GiveUp(absl::Status why) {
  given_up_ = std::move(why);
  EndAll(devices_, communicators_, GetFunctions()->comm_abort, "ncclCommAbort").IgnoreError();
  communicators_.clear();
}

}  // namespace cooper
