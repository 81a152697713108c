// Sums of gradients by NCCL. Linking this file makes it MakeCollective's first choice if all
// devices are GPUs.

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "cuda_runtime.h"
#include "module/kvstore/collective.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/nccl_ranks.h"

namespace cooper {
namespace {

// Aborts `ranks` once a process of `world` is dead: a sum that has begun would wait for it forever,
// and the host for the sum. Both must outlive this object.
class DeathWatch {
 public:
  DeathWatch(const CollectiveWorld& world, NcclRanks* ranks)
      : world_(world), ranks_(*ranks), thread_([this] { Watch(); }) {}
  ~DeathWatch() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ended_ = true;
    }
    end_.notify_one();
    thread_.join();
    AbortIfPeerDied();
  }

 private:
  bool AbortIfPeerDied() {
    const int dead = world_.dead();
    if (dead < 0) return false;
    ranks_.Abort(absl::UnavailableError(
        absl::StrCat("kvstore: rank ", dead, " of ", world_.size(),
                     " is gone: sums by NCCL that had begun have no result")));
    return true;
  }

  void Watch() {
    constexpr auto kPeriod = std::chrono::milliseconds(100);
    std::unique_lock<std::mutex> lock(mutex_);
    while (!end_.wait_for(lock, kPeriod, [this] { return ended_; })) {
      if (AbortIfPeerDied()) return;
    }
  }

  const CollectiveWorld& world_;
  NcclRanks& ranks_;
  std::mutex mutex_;
  std::condition_variable end_;
  bool ended_ = false;
  std::thread thread_;  // last, because it reads the other members
};

class NcclCollective : public Collective {
 public:
  static absl::StatusOr<std::unique_ptr<Collective>> Create(const std::vector<Context>& contexts,
                                                            CollectiveWorld* world);

  absl::string_view name() const override { return "nccl"; }
  // ncclReduce gives the sum to one of all ranks, but each process needs one.
  bool can_reduce() const override { return false; }
  absl::Status GroupStart() override;
  absl::Status GroupEnd() override;

 protected:
  absl::Status Sum(absl::Span<const NDArray> arrays, absl::Span<const NDArray> sums,
                   absl::Span<DeviceQueue* const> queues) override;

 private:
  NcclCollective(std::vector<Context> contexts, std::unique_ptr<NcclRanks> ranks,
                 const CollectiveWorld* world)
      : Collective(std::move(contexts)), ranks_(std::move(ranks)) {
    if (world != nullptr) watch_ = std::make_unique<DeathWatch>(*world, ranks_.get());
  }

  // Describes the sums for errors: "a sum by NCCL over ranks 0 to 1 of 2 of (5,) float32".
  std::string DescribeSums() const;

  const std::unique_ptr<NcclRanks> ranks_;
  std::unique_ptr<DeathWatch> watch_;  // null without a world; ends before ranks_ does
  bool in_group_ = false;
  std::vector<std::pair<Shape, DType>> group_arrays_;  // of each sum of the group
};

absl::Status CheckUsable(const std::vector<Context>& contexts) {
  for (const Context& context : contexts) {
    if (!context.is_cpu()) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("NCCL adds on GPUs, not on ", context.ToString()));
  }
  // The launch for the first device would wait for a sum that waits for the second device's.
  const char* const blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  if (contexts.size() > 1 && blocking != nullptr && std::strcmp(blocking, "0") != 0) {
    return absl::FailedPreconditionError(
        "CUDA_LAUNCH_BLOCKING is set: NCCL cannot add on several GPUs of one process");
  }
  return NcclRanks::CheckInstalled();
}

// Returns the number of this process's devices, a space, and rank 0's id of the set.
absl::StatusOr<std::string> Describe(const std::vector<Context>& contexts,
                                     const CollectiveWorld* world) {
  COOPER_RETURN_IF_ERROR(CheckUsable(contexts));
  std::string id;
  if (world == nullptr || world->rank() == 0) {
    COOPER_ASSIGN_OR_RETURN(id, NcclRanks::MakeId());
  }
  return absl::StrCat(contexts.size(), " ", id);
}

// Returns the texts of all processes, or the error of the lowest rank that has one, so that all
// processes take the same path.
absl::StatusOr<std::vector<std::string>> Agree(CollectiveWorld* world,
                                               const absl::StatusOr<std::string>& text) {
  const std::string own =
      text.ok() ? absl::StrCat("+", *text) : absl::StrCat("-", text.status().message());
  std::vector<std::string> all = {own};
  if (world != nullptr) {
    COOPER_ASSIGN_OR_RETURN(all, world->AllGatherText(own));
  }
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank][0] == '-') {
      return absl::FailedPreconditionError(absl::StrCat("rank ", rank, ": ", all[rank].substr(1)));
    }
    all[rank].erase(0, 1);
  }
  return all;
}

absl::StatusOr<std::unique_ptr<Collective>> NcclCollective::Create(
    const std::vector<Context>& contexts, CollectiveWorld* world) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<std::string> all,
                          Agree(world, Describe(contexts, world)));
  const size_t own = world == nullptr ? 0 : static_cast<size_t>(world->rank());
  int size = 0, first = 0;
  std::string id;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    const size_t space = all[rank].find(' ');
    int devices = 0;
    if (!absl::SimpleAtoi(absl::string_view(all[rank]).substr(0, space), &devices)) {
      return absl::InternalError(absl::StrCat("rank ", rank, " has no number of devices"));
    }
    if (rank == 0) id = all[rank].substr(space + 1);
    if (rank < own) first += devices;
    size += devices;
  }
  std::vector<int> devices;
  devices.reserve(contexts.size());
  for (const Context& context : contexts) devices.push_back(context.device_id);
  auto ranks = NcclRanks::Create(id, size, first, devices);
  absl::StatusOr<std::string> made = std::string();
  if (!ranks.ok()) made = ranks.status();
  const absl::Status all_made = Agree(world, made).status();
  if (!all_made.ok()) {
    // The other processes' ranks would wait for those of the failed process.
    if (ranks.ok()) (*ranks)->Abort(all_made);
    return all_made;
  }
  return std::unique_ptr<Collective>(new NcclCollective(contexts, *std::move(ranks), world));
}

std::string NcclCollective::DescribeSums() const {
  constexpr size_t kShown = 3;
  std::string text =
      absl::StrCat("a sum by NCCL over ranks ", ranks_->first(), " to ",
                   ranks_->first() + ranks_->count() - 1, " of ", ranks_->size(), " of ");
  for (size_t i = 0; i < group_arrays_.size() && i < kShown; ++i) {
    const auto& [shape, dtype] = group_arrays_[i];
    absl::StrAppend(&text, i == 0 ? "" : ", ", shape.ToString(), " ", DTypeName(dtype));
  }
  if (group_arrays_.size() > kShown)
    absl::StrAppend(&text, " and ", group_arrays_.size() - kShown, " more");
  return text;
}

absl::Status NcclCollective::GroupStart() {
  COOPER_RETURN_IF_ERROR(ranks_->AsyncError());
  COOPER_RETURN_IF_ERROR(ranks_->GroupStart());
  group_arrays_.clear();
  in_group_ = true;
  return absl::OkStatus();
}

absl::Status NcclCollective::GroupEnd() {
  in_group_ = false;
  return AddContext(ranks_->GroupEnd(), DescribeSums());
}

absl::Status NcclCollective::Sum(absl::Span<const NDArray> arrays, absl::Span<const NDArray> sums,
                                 absl::Span<DeviceQueue* const> queues) {
  if (!in_group_) group_arrays_.clear();
  group_arrays_.emplace_back(arrays[0].shape(), arrays[0].dtype());
  // One thread has several ranks: without a group each call would wait for the next.
  COOPER_RETURN_IF_ERROR(ranks_->GroupStart());
  absl::Status status;
  for (int i = 0; i < ranks_->count(); ++i) {
    status.Update(ranks_->AllReduceSum(i, arrays[i].raw_data(), sums[i].raw_data(),
                                       arrays[i].shape(), arrays[i].dtype(),
                                       static_cast<cudaStream_t>(queues[i]->handle())));
  }
  status.Update(AddContext(ranks_->GroupEnd(), DescribeSums()));
  return status;
}

[[maybe_unused]] const bool kRegistered = RegisterCollective(NcclCollective::Create);

}  // namespace
}  // namespace cooper
