#include "module/kvstore/mpi/sum_buffer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "glog/logging.h"
#include "module/kvstore/sum_arrays.h"
#include "ndarray/array/storage.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Elements of the largest page: processes never write to the same page.
constexpr int64_t kPage = 65536 / sizeof(float);

int64_t RoundUp(int64_t size) { return (size + kPage - 1) / kPage * kPage; }

}  // namespace

// Every process announces the result of its attempt before any uses the memory, and only an error
// of the world fails the call: so all processes take the same path.
absl::StatusOr<std::shared_ptr<SharedMemory>> SumBuffer::Share(int64_t bytes) {
  std::shared_ptr<SharedMemory> memory;
  std::string handle;
  if (world_.rank() == 0) {
    if (auto made = SharedMemory::Create(bytes); made.ok()) {
      memory = *std::move(made);
      handle = memory->handle();
    }
  }
  COOPER_ASSIGN_OR_RETURN(const std::vector<std::string> handles, world_.AllGatherText(handle));
  if (handles[0].empty()) return nullptr;
  if (world_.rank() != 0) {
    if (auto opened = SharedMemory::Open(handles[0]); opened.ok()) memory = *std::move(opened);
  }
  COOPER_ASSIGN_OR_RETURN(const std::vector<uint64_t> sees, world_.AllGather({memory != nullptr}));
  if (std::count(sees.begin(), sees.end(), 0) > 0) return nullptr;
  return memory;
}

absl::StatusOr<NDArray> SumBuffer::Region(int64_t index) const {
  const int64_t bytes = capacity_ * static_cast<int64_t>(sizeof(float));
  char* at = static_cast<char*>(memory_->data()) + index * bytes;
  return NDArray::View(Storage::Wrap(at, bytes, Context::Cpu(), memory_), 0, {size_},
                       DType::kFloat32);
}

absl::StatusOr<NDArray> SumBuffer::Reserve(int64_t size) {
  size_ = size;
  if (size > capacity_) {
    memory_ = nullptr;
    own_ = NDArray();
    capacity_ = RoundUp(size);
    if (tries_sharing_ && world_.size() > 1) {
      const int64_t bytes = capacity_ * static_cast<int64_t>(sizeof(float)) * (world_.size() + 1);
      COOPER_ASSIGN_OR_RETURN(memory_, Share(bytes));
      tries_sharing_ = memory_ != nullptr;
      LOG_IF(WARNING, !tries_sharing_ && world_.rank() == 0)
          << "kvstore: the processes have no memory in common; MPI adds up their gradients";
    }
  }
  if (memory_ != nullptr) return Region(world_.rank());
  if (own_.is_null()) {
    COOPER_ASSIGN_OR_RETURN(own_, NDArray::Empty({capacity_}));
  }
  return own_.Slice(0, size);
}

absl::StatusOr<NDArray> SumBuffer::Sum() {
  if (memory_ == nullptr) {
    COOPER_ASSIGN_OR_RETURN(const NDArray sum, own_.Slice(0, size_));
    COOPER_ASSIGN_OR_RETURN(const absl::Span<float> values, sum.Data<float>());
    COOPER_RETURN_IF_ERROR(world_.AllReduceSum(values));
    return sum;
  }
  const int64_t n = world_.size();
  const int64_t part = RoundUp((size_ + n - 1) / n);
  const int64_t begin = std::min(size_, part * world_.rank());
  const int64_t end = std::min(size_, begin + part);
  std::vector<NDArray> parts;
  for (int64_t rank = 0; rank < n; ++rank) {
    COOPER_ASSIGN_OR_RETURN(const NDArray region, Region(rank));
    COOPER_ASSIGN_OR_RETURN(parts.emplace_back(), region.Slice(begin, end));
  }
  COOPER_ASSIGN_OR_RETURN(const NDArray sum, Region(n));
  COOPER_ASSIGN_OR_RETURN(const NDArray sum_part, sum.Slice(begin, end));
  // All regions are filled, and no process reads the last sum any more.
  COOPER_RETURN_IF_ERROR(world_.Barrier());
  COOPER_RETURN_IF_ERROR(SumArrays(parts, sum_part));
  // No process may refill a region that another one still reads.
  COOPER_RETURN_IF_ERROR(world_.Barrier());
  return sum;
}

}  // namespace cooper
