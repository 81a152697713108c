#include "module/bucketing/bound_buckets.h"

#include <utility>

#include "ndarray/base/status_macros.h"

namespace cooper {

BoundBuckets::Bucket* BoundBuckets::Find(Purpose purpose, const BucketKey& key) {
  auto& buckets = purpose == Purpose::kBound ? bound_ : evaluation_;
  const auto it = buckets.find(key);
  return it == buckets.end() ? nullptr : &it->second;
}

Module* BoundBuckets::FindModule(Purpose purpose, const BucketKey& key) const {
  const auto it = all(purpose).find(key);
  return it == all(purpose).end() ? nullptr : it->second.module.get();
}

BoundBuckets::Bucket* BoundBuckets::Add(Purpose purpose, const BucketKey& key, Bucket bucket) {
  Bucket& added = (purpose == Purpose::kBound ? bound_ : evaluation_)[key];
  added = std::move(bucket);
  MarkUsed(added);
  return &added;
}

absl::Status BoundBuckets::Each(const std::function<absl::Status(Module&)>& call) const {
  for (const auto* buckets : {&bound_, &evaluation_}) {
    for (const auto& [key, bucket] : *buckets) COOPER_RETURN_IF_ERROR(call(*bucket.module));
  }
  return absl::OkStatus();
}

int64_t BoundBuckets::footprint_bytes() const {
  int64_t bytes = 0;
  for (const auto* buckets : {&bound_, &evaluation_}) {
    for (const auto& [key, bucket] : *buckets) bytes += bucket.module->footprint_bytes();
  }
  return bytes;
}

void BoundBuckets::EvictFor(size_t count, int64_t bytes) {
  if (max_buckets_ <= 0 && max_bytes_ <= 0) return;
  bytes += max_bytes_ > 0 ? footprint_bytes() : 0;
  while ((max_buckets_ > 0 &&
          bound_.size() + evaluation_.size() + count > static_cast<size_t>(max_buckets_)) ||
         (max_bytes_ > 0 && bytes > max_bytes_)) {
    std::map<BucketKey, Bucket>* of = nullptr;
    std::map<BucketKey, Bucket>::iterator oldest;
    for (auto* buckets : {&bound_, &evaluation_}) {
      for (auto it = buckets->begin(); it != buckets->end(); ++it) {
        if (&it->second == current_ || &it->second == evaluated_) continue;
        if (of != nullptr && it->second.last_use >= oldest->second.last_use) continue;
        of = buckets;
        oldest = it;
      }
    }
    if (of == nullptr) return;
    bytes -= oldest->second.module->footprint_bytes();
    of->erase(oldest);
  }
}

std::vector<BucketReport> BoundBuckets::Report() const {
  std::map<BucketKey, BucketReport> reports;
  for (const auto& [key, bucket] : bound_) {
    reports[key] = {.key = key,
                    .memory = bucket.module->memory(),
                    .footprint_bytes = bucket.module->footprint_bytes(),
                    .bind_seconds = bucket.bind_seconds};
  }
  for (const auto& [key, bucket] : evaluation_) {
    BucketReport& report = reports[key];
    report.key = key;
    report.evaluation = bucket.module->memory();
    report.footprint_bytes += bucket.module->footprint_bytes();
    report.bind_seconds += bucket.bind_seconds;
  }
  std::vector<BucketReport> in_order;
  in_order.reserve(reports.size());
  for (auto& [key, report] : reports) in_order.push_back(std::move(report));
  return in_order;
}

}  // namespace cooper
