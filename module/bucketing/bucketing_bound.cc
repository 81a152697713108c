// Evicts bound buckets of a BucketingModule, and reports their memory.

#include <map>
#include <utility>

#include "module/bucketing/bucketing_module.h"

namespace cooper {

int64_t BucketingModule::footprint_bytes() const {
  int64_t bytes = 0;
  for (const Buckets* buckets : {&buckets_, &evaluation_buckets_}) {
    for (const auto& [key, bucket] : *buckets) bytes += bucket.module->footprint_bytes();
  }
  return bytes;
}

void BucketingModule::Evict(bool adds_one, int64_t bytes) {
  if (max_bound_buckets_ <= 0 && max_bound_bytes_ <= 0) return;
  const size_t count = adds_one ? 1 : 0;
  bytes += max_bound_bytes_ > 0 ? footprint_bytes() : 0;
  while ((max_bound_buckets_ > 0 && buckets_.size() + evaluation_buckets_.size() + count >
                                        static_cast<size_t>(max_bound_buckets_)) ||
         (max_bound_bytes_ > 0 && bytes > max_bound_bytes_)) {
    Buckets* of = nullptr;
    Buckets::iterator oldest;
    for (Buckets* buckets : {&buckets_, &evaluation_buckets_}) {
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

std::vector<BucketReport> BucketingModule::Report() const {
  std::map<BucketKey, BucketReport> reports;
  for (const auto& [key, bucket] : buckets_) {
    reports[key] = {.key = key,
                    .memory = bucket.module->memory(),
                    .footprint_bytes = bucket.module->footprint_bytes(),
                    .bind_seconds = bucket.bind_seconds};
  }
  for (const auto& [key, bucket] : evaluation_buckets_) {
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

Module* BucketingModule::bucket(const BucketKey& key) const {
  const auto it = buckets_.find(key);
  return it == buckets_.end() ? nullptr : it->second.module.get();
}

Module* BucketingModule::evaluation_bucket(const BucketKey& key) const {
  const auto it = evaluation_buckets_.find(key);
  return it == evaluation_buckets_.end() ? nullptr : it->second.module.get();
}

}  // namespace cooper
