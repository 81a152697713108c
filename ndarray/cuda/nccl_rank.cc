#include "ndarray/cuda/nccl_rank.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "nccl.h"
#include "ndarray/cuda/device_scope.h"
#include "ndarray/status_macros.h"
#include "third_party/cuda/library_functions.h"

namespace cooper {
namespace {

std::string LibraryName() { return absl::StrCat("libnccl.so.", NCCL_MAJOR); }

struct Functions {
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRank) comm_init_rank = nullptr;
  decltype(&ncclCommDestroy) comm_destroy = nullptr;
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
  library.Find("ncclCommGetAsyncError", functions.comm_get_async_error);
  library.Find("ncclAllReduce", functions.all_reduce);
  library.Find("ncclGroupStart", functions.group_start);
  library.Find("ncclGroupEnd", functions.group_end);
  library.Find("ncclGetErrorString", functions.error_string);
  library.Find("ncclGetLastError", functions.last_error);
  COOPER_RETURN_IF_ERROR(library.status());
  return functions;
}

const absl::StatusOr<Functions>& TheFunctions() {
  static const auto* functions = new absl::StatusOr<Functions>(LoadFunctions());
  return *functions;
}

// "ncclAllReduce of (800, 650) float32, rank 1 of 2: unhandled cuda error: ...". Requires that the
// functions are there.
absl::Status NcclStatus(ncclResult_t result, absl::string_view call, ncclComm_t communicator) {
  if (result == ncclSuccess || result == ncclInProgress) return absl::OkStatus();
  std::string message = absl::StrCat(call, ": ", TheFunctions()->error_string(result));
  const char* last = TheFunctions()->last_error(communicator);
  if (last != nullptr && *last != '\0') absl::StrAppend(&message, ": ", last);
  // Another process, or the way to it, is gone.
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

}  // namespace

absl::Status NcclRank::CheckInstalled() { return TheFunctions().status(); }

absl::StatusOr<std::string> NcclRank::MakeId() {
  COOPER_RETURN_IF_ERROR(CheckInstalled());
  ncclUniqueId id;
  COOPER_RETURN_IF_ERROR(
      NcclStatus(TheFunctions()->get_unique_id(&id), "ncclGetUniqueId", nullptr));
  return std::string(id.internal, sizeof(id.internal));
}

absl::StatusOr<std::vector<std::unique_ptr<NcclRank>>> NcclRank::Create(
    const std::string& id, int size, int first, absl::Span<const int> devices) {
  COOPER_RETURN_IF_ERROR(CheckInstalled());
  ncclUniqueId unique;
  if (id.size() != sizeof(unique.internal) || devices.empty() || first < 0 ||
      first + static_cast<int64_t>(devices.size()) > size) {
    return absl::InvalidArgumentError(absl::StrCat(
        "NCCL: ", devices.size(), " devices from rank ", first, " of ", size, ", with an id of ",
        id.size(), " bytes: expected ranks of the set and ", sizeof(unique.internal), " bytes"));
  }
  std::memcpy(unique.internal, id.data(), sizeof(unique.internal));
  std::vector<ncclComm_t> made(devices.size(), nullptr);
  // Each call waits for the others, of other processes too: those of this one are one group.
  absl::Status status = GroupStart();
  for (size_t i = 0; i < devices.size() && status.ok(); ++i) {
    const int rank = first + static_cast<int>(i);
    const CudaDeviceScope scope(devices[i]);
    status.Update(scope.status());
    if (!status.ok()) break;
    status.Update(NcclStatus(TheFunctions()->comm_init_rank(&made[i], size, unique, rank),
                             absl::StrCat("ncclCommInitRank, ", RankOf(rank, size)), nullptr));
  }
  status.Update(GroupEnd());
  std::vector<std::unique_ptr<NcclRank>> ranks;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (made[i] == nullptr) continue;
    ranks.push_back(std::unique_ptr<NcclRank>(
        new NcclRank(made[i], devices[i], first + static_cast<int>(i), size)));
  }
  COOPER_RETURN_IF_ERROR(status);
  return ranks;
}

NcclRank::~NcclRank() {
  const CudaDeviceScope scope(device_id_);
  TheFunctions()->comm_destroy(static_cast<ncclComm_t>(communicator_));
}

absl::Status NcclRank::AllReduceSum(const void* values, void* sum, const Shape& shape, DType dtype,
                                    cudaStream_t stream) {
  COOPER_ASSIGN_OR_RETURN(const ncclDataType_t type, DataType(dtype));
  const CudaDeviceScope scope(device_id_);
  COOPER_RETURN_IF_ERROR(scope.status());
  const auto communicator = static_cast<ncclComm_t>(communicator_);
  const auto count = static_cast<size_t>(shape.num_elements());
  const ncclResult_t result =
      TheFunctions()->all_reduce(values, sum, count, type, ncclSum, communicator, stream);
  if (result == ncclSuccess) return absl::OkStatus();  // without the words for an error
  return NcclStatus(result,
                    absl::StrCat("ncclAllReduce of ", shape.ToString(), " ", DTypeName(dtype), ", ",
                                 RankOf(rank_, size_)),
                    communicator);
}

absl::Status NcclRank::GroupStart() {
  return NcclStatus(TheFunctions()->group_start(), "ncclGroupStart", nullptr);
}

absl::Status NcclRank::GroupEnd() {
  return NcclStatus(TheFunctions()->group_end(), "ncclGroupEnd", nullptr);
}

absl::Status NcclRank::AsyncError() const {
  ncclResult_t error = ncclSuccess;
  const auto communicator = static_cast<ncclComm_t>(communicator_);
  COOPER_RETURN_IF_ERROR(NcclStatus(TheFunctions()->comm_get_async_error(communicator, &error),
                                    "ncclCommGetAsyncError", communicator));
  return NcclStatus(error, absl::StrCat("a sum by NCCL, ", RankOf(rank_, size_)), communicator);
}

}  // namespace cooper
