// Sums of gradients by NCCL. Linking this file makes it the first choice of MakeCollective, where
// all devices are GPUs.

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
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
#include "ndarray/context.h"
#include "ndarray/cuda/nccl_rank.h"
#include "ndarray/device.h"
#include "ndarray/dtype.h"
#include "ndarray/ndarray.h"
#include "ndarray/shape.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

class NcclCollective : public Collective {
 public:
  static absl::StatusOr<std::unique_ptr<Collective>> Create(const std::vector<Context>& contexts,
                                                            CollectiveWorld* world);

  absl::string_view name() const override { return "nccl"; }
  // ncclReduce is not used: it gives the sum to one of all ranks, each process wants one.
  bool can_reduce() const override { return false; }
  absl::Status GroupStart() override;
  absl::Status GroupEnd() override;

 protected:
  absl::Status Sum(absl::Span<const NDArray> arrays, absl::Span<const NDArray> sums,
                   absl::Span<DeviceQueue* const> queues) override;

 private:
  NcclCollective(std::vector<Context> contexts, std::vector<std::unique_ptr<NcclRank>> ranks)
      : Collective(std::move(contexts)), ranks_(std::move(ranks)) {}

  // "a sum by NCCL over ranks 0 to 1 of 2 of (5,) float32": for errors.
  std::string DescribeSums() const;

  const std::vector<std::unique_ptr<NcclRank>> ranks_;  // by device
  bool in_group_ = false;
  std::vector<std::pair<Shape, DType>> in_hand_;  // of each sum of the group
};

absl::Status CheckUsable(const std::vector<Context>& contexts) {
  for (const Context& context : contexts) {
    if (!context.is_cpu()) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("NCCL adds on GPUs, not on ", context.ToString()));
  }
  // The launch for the first device would wait for a sum that waits for the second one's.
  const char* const blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  if (contexts.size() > 1 && blocking != nullptr && std::strcmp(blocking, "0") != 0) {
    return absl::FailedPreconditionError(
        "CUDA_LAUNCH_BLOCKING is set: NCCL cannot add on several GPUs of one process");
  }
  return NcclRank::CheckInstalled();
}

// The number of this process's devices, a space, and rank 0's id of the set.
absl::StatusOr<std::string> Describe(const std::vector<Context>& contexts,
                                     const CollectiveWorld* world) {
  COOPER_RETURN_IF_ERROR(CheckUsable(contexts));
  std::string id;
  if (world == nullptr || world->rank() == 0) {
    COOPER_ASSIGN_OR_RETURN(id, NcclRank::MakeId());
  }
  return absl::StrCat(contexts.size(), " ", id);
}

// What all processes say, or the error of the first that has one: all go the same way.
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
  auto ranks = NcclRank::Create(id, size, first, devices);
  absl::StatusOr<std::string> made = std::string();
  if (!ranks.ok()) made = ranks.status();
  COOPER_RETURN_IF_ERROR(Agree(world, made).status());
  return std::unique_ptr<Collective>(new NcclCollective(contexts, *std::move(ranks)));
}

std::string NcclCollective::DescribeSums() const {
  constexpr size_t kShown = 3;
  std::string text = absl::StrCat("a sum by NCCL over ranks ", ranks_.front()->rank(), " to ",
                                  ranks_.back()->rank(), " of ", ranks_.front()->size(), " of ");
  for (size_t i = 0; i < in_hand_.size() && i < kShown; ++i) {
    const auto& [shape, dtype] = in_hand_[i];
    absl::StrAppend(&text, i == 0 ? "" : ", ", shape.ToString(), " ", DTypeName(dtype));
  }
  if (in_hand_.size() > kShown) absl::StrAppend(&text, " and ", in_hand_.size() - kShown, " more");
  return text;
}

absl::Status NcclCollective::GroupStart() {
  for (const auto& rank : ranks_) COOPER_RETURN_IF_ERROR(rank->AsyncError());
  in_hand_.clear();
  in_group_ = true;
  return NcclRank::GroupStart();
}

absl::Status NcclCollective::GroupEnd() {
  in_group_ = false;
  return AddContext(NcclRank::GroupEnd(), DescribeSums());
}

absl::Status NcclCollective::Sum(absl::Span<const NDArray> arrays, absl::Span<const NDArray> sums,
                                 absl::Span<DeviceQueue* const> queues) {
  if (!in_group_) in_hand_.clear();
  in_hand_.emplace_back(arrays[0].shape(), arrays[0].dtype());
  // One thread has several ranks: each call alone would wait for the next.
  COOPER_RETURN_IF_ERROR(NcclRank::GroupStart());
  absl::Status status;
  for (size_t i = 0; i < ranks_.size(); ++i) {
    status.Update(ranks_[i]->AllReduceSum(arrays[i].raw_data(), sums[i].raw_data(),
                                          arrays[i].shape(), arrays[i].dtype(),
                                          static_cast<cudaStream_t>(queues[i]->handle())));
  }
  status.Update(AddContext(NcclRank::GroupEnd(), DescribeSums()));
  return status;
}

[[maybe_unused]] const bool kRegistered = RegisterCollective(NcclCollective::Create);

}  // namespace
}  // namespace cooper
