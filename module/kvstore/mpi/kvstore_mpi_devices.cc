// Steps of a store over processes for parameters that all processes have on GPUs.

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "module/kvstore/mpi/kvstore_mpi.h"
#include "module/kvstore/queued_copies.h"
#include "module/kvstore/sum_arrays.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

bool KVStoreMpi::IsOnGpus(absl::Span<const NDArray> arrays) {
  if (type() != "dist_device_sync" || compression_.has_value()) return false;
  const std::vector<Context> contexts = DistinctGpus(arrays);
  if (contexts.empty()) return false;
  if (gpus_.empty()) gpus_ = contexts;
  return contexts == gpus_;
}

absl::Status KVStoreMpi::CheckGpus(const std::vector<std::string>& texts) {
  for (int rank = 0; rank < world_.size(); ++rank) {
    for (const auto line : absl::StrSplit(texts[rank], '\n', absl::SkipEmpty())) {
      if (absl::EndsWith(line, " gpu")) ranks_on_gpus_.insert(rank);
    }
  }
  if (ranks_on_gpus_.empty()) return absl::OkStatus();
  for (int rank = 0; rank < world_.size(); ++rank) {
    if (ranks_on_gpus_.contains(rank)) continue;
    return absl::InvalidArgumentError(absl::StrCat("kvstore: rank ", *ranks_on_gpus_.begin(),
                                                   " has its parameters on GPUs, rank ", rank,
                                                   " none; bind both alike, or use 'dist_sync'"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<NDArray>> KVStoreMpi::GradsOnGpus(const NDArray& value,
                                                             const KVItem* item) {
  if (item != nullptr && DistinctGpus(item->grads) == gpus_) return item->grads;
  // This process has no gradients on its GPUs (another process has the key, or Push got arrays from
  // elsewhere): the first GPU brings the sum.
  std::vector<NDArray> grads;
  for (const Context& context : gpus_) {
    COOPER_ASSIGN_OR_RETURN(grads.emplace_back(),
                            NDArray::Zeros(value.shape(), value.dtype(), context));
  }
  if (item == nullptr) return grads;
  COOPER_ASSIGN_OR_RETURN(const NDArray sum, NDArray::Empty(value.shape(), value.dtype()));
  COOPER_RETURN_IF_ERROR(SumArrays(item->grads, sum));
  COOPER_RETURN_IF_ERROR(grads[0].CopyFrom(sum));
  return grads;
}

absl::Status KVStoreMpi::ExchangeOnGpus(const std::vector<std::string>& keys,
                                        absl::Span<const KVItem> items) {
  std::vector<KVItem> steps;
  std::vector<NDArray> values;
  std::vector<ArrayCopy> copies;  // for devices without a sum of their own
  for (const std::string& key : keys) {
    const KVItem* item = ItemOf(items, key);
    values.push_back(values_.at(key));
    KVItem& step = steps.emplace_back(KVItem{.key = key, .weights = {}, .grads = {}, .outs = {}});
    COOPER_ASSIGN_OR_RETURN(step.grads, GradsOnGpus(values.back(), item));
    if (item != nullptr && (updater_ != nullptr || DistinctGpus(item->outs) == gpus_)) {
      step.outs = item->outs;
    } else if (item != nullptr) {
      for (const NDArray& out : item->outs) copies.push_back({.from = values.back(), .to = out});
    }
    traffic_.bytes += values.back().size_bytes();
    traffic_.uncompressed_bytes += values.back().size_bytes();
  }
  COOPER_RETURN_IF_ERROR(device_step_.Run(steps, values, updater_.get(), buckets_));
  return CopyInQueues(copies);
}

}  // namespace cooper
