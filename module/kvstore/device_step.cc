#include "module/kvstore/device_step.h"

#include <set>
#include <utility>

#include "module/kvstore/queued_copies.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Returns the gradient of an item. Without an updater its sums are written to the item's outs.
DeviceGradient GradientOf(const KVItem& item, const Updater* updater) {
  DeviceGradient gradient{.key = item.key, .arrays = item.grads, .sums = {}};
  if (updater == nullptr) gradient.sums = item.outs;
  return gradient;
}

}  // namespace

std::vector<Context> DistinctGpus(absl::Span<const NDArray> arrays) {
  std::vector<Context> contexts;
  std::set<Context> seen;
  for (const NDArray& array : arrays) {
    const Context context = array.context();
    const bool fits = !array.is_null() && !context.is_cpu() && IsFloating(array.dtype());
    if (!fits || !seen.insert(context).second) return {};
    contexts.push_back(context);
  }
  return contexts;
}

absl::StatusOr<GradientBuckets*> DeviceStep::BucketsOf(const std::vector<Context>& contexts,
                                                       const KVBuckets& buckets) {
  std::unique_ptr<GradientBuckets>& made = buckets_[contexts];
  if (made == nullptr) {
    COOPER_ASSIGN_OR_RETURN(auto collective, MakeCollective(contexts, world_));
    made = std::make_unique<GradientBuckets>(std::move(collective), buckets.bytes);
  }
  return made.get();
}

absl::StatusOr<KVStore::GradientReady> DeviceStep::Begin(absl::Span<const KVItem> items,
                                                         const Updater* updater,
                                                         const KVBuckets& buckets) {
  std::vector<DeviceGradient> gradients;
  gradients.reserve(items.size());
  for (const KVItem& item : items) gradients.push_back(GradientOf(item, updater));
  COOPER_ASSIGN_OR_RETURN(GradientBuckets * sums, BucketsOf(DistinctGpus(items[0].grads), buckets));
  COOPER_RETURN_IF_ERROR(sums->Begin(std::move(gradients)));
  return [sums](absl::string_view key, int device, DeviceQueue& queue) {
    return sums->Ready(key, device, queue);
  };
}

absl::Status DeviceStep::Forget() {
  for (const auto& [contexts, sums] : buckets_) COOPER_RETURN_IF_ERROR(sums->Forget());
  return absl::OkStatus();
}

absl::Status DeviceStep::Run(absl::Span<const KVItem> items, absl::Span<const NDArray> values,
                             Updater* updater, const KVBuckets& buckets) {
  // The sets are summed in the order of their first items, which is the same in all processes.
  std::vector<std::vector<Context>> order;
  std::map<std::vector<Context>, std::vector<size_t>> by_contexts;
  for (size_t k = 0; k < items.size(); ++k) {
    std::vector<Context> contexts = DistinctGpus(items[k].grads);
    std::vector<size_t>& numbers = by_contexts[contexts];
    if (numbers.empty()) order.push_back(std::move(contexts));
    numbers.push_back(k);
  }
  for (const std::vector<Context>& contexts : order) {
    std::vector<const KVItem*> its_items;
    std::vector<const NDArray*> its_values;
    for (const size_t k : by_contexts[contexts]) {
      its_items.push_back(&items[k]);
      its_values.push_back(&values[k]);
    }
    COOPER_ASSIGN_OR_RETURN(GradientBuckets * sums, BucketsOf(contexts, buckets));
    COOPER_RETURN_IF_ERROR(RunOn(*sums, its_items, its_values, updater));
  }
  return Forget();
}

absl::Status DeviceStep::RunOn(GradientBuckets& sums, absl::Span<const KVItem* const> items,
                               absl::Span<const NDArray* const> values, Updater* updater) {
  std::vector<DeviceGradient> gradients;
  gradients.reserve(items.size());
  for (const KVItem* item : items) gradients.push_back(GradientOf(*item, updater));
  if (!sums.IsBegun(gradients)) COOPER_RETURN_IF_ERROR(sums.Begin(std::move(gradients)));
  COOPER_RETURN_IF_ERROR(sums.Finish());
  std::vector<ArrayCopy> copies;
  if (updater == nullptr) {
    for (size_t k = 0; k < items.size(); ++k) {
      if (!values[k]->is_null()) copies.push_back({.from = sums.sums(k)[0], .to = *values[k]});
    }
    return CopyInQueues(copies);
  }
  std::vector<Updater::Parameter> parameters;
  parameters.reserve(items.size());
  for (size_t k = 0; k < items.size(); ++k) {
    parameters.push_back({items[k]->key, *values[k], sums.sums(k)[0]});
    for (const NDArray& out : items[k]->outs) copies.push_back({.from = *values[k], .to = out});
  }
  COOPER_RETURN_IF_ERROR(updater->UpdateAll(parameters));
  return CopyInQueues(copies);
}

}  // namespace cooper
