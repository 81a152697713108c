#include "module/kvstore/gradient_buckets.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "ndarray/array/queue_of.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

bool SameArrays(absl::Span<const NDArray> a, absl::Span<const NDArray> b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].raw_data() != b[i].raw_data() || a[i].shape() != b[i].shape()) return false;
  }
  return true;
}

}  // namespace

GradientBuckets::GradientBuckets(std::unique_ptr<Collective> collective, int64_t bucket_bytes)
    : collective_(std::move(collective)), bucket_bytes_(bucket_bytes) {}

void GradientBuckets::Layout() {
  bool same = index_.size() == gradients_.size();
  for (size_t k = 0; k < gradients_.size() && same; ++k) {
    const auto it = index_.find(gradients_[k].key);
    same = it != index_.end() && it->second == k;
  }
  if (!same) {
    index_.clear();
    for (size_t k = 0; k < gradients_.size(); ++k) index_.emplace(gradients_[k].key, k);
    buckets_.clear();
    bucket_of_.assign(gradients_.size(), 0);
    int64_t bytes = 0;
    for (size_t k = gradients_.size(); k-- > 0;) {
      const int64_t more = gradients_[k].arrays[0].size_bytes();
      if (buckets_.empty() || bytes + more > bucket_bytes_) {
        buckets_.emplace_back();
        bytes = 0;
      }
      buckets_.back().gradients.push_back(k);
      bucket_of_[k] = buckets_.size() - 1;
      bytes += more;
    }
  }
  for (Bucket& bucket : buckets_) {
    bucket.missing.assign(num_devices(), bucket.gradients.size());
    bucket.devices = 0;
  }
  ready_.assign(gradients_.size(), std::vector<bool>(num_devices()));
}

absl::Status GradientBuckets::MakeSums(DeviceGradient& gradient) {
  if (!gradient.sums.empty()) return absl::OkStatus();
  std::vector<NDArray>& own = own_sums_[gradient.key];
  own.resize(collective_->can_reduce() ? 1 : num_devices());
  for (size_t i = 0; i < own.size(); ++i) {
    const NDArray& array = gradient.arrays[i];
    if (own[i].shape() == array.shape() && own[i].dtype() == array.dtype() && !own[i].is_null()) {
      continue;
    }
    COOPER_ASSIGN_OR_RETURN(
        own[i], AddContext(NDArray::Empty(array.shape(), array.dtype(), array.context()),
                           "sum of the gradients of '", gradient.key, "'"));
  }
  gradient.sums = own;
  return absl::OkStatus();
}

absl::Status GradientBuckets::MakeQueues() {
  while (queues_.size() < buckets_.size()) {
    std::vector<std::unique_ptr<DeviceQueue>> queues;
    for (const Context& context : collective_->contexts()) {
      COOPER_ASSIGN_OR_RETURN(Device * device, FindDevice(context));
      COOPER_ASSIGN_OR_RETURN(queues.emplace_back(), device->MakeQueue(context.device_id));
    }
    queues_.push_back(std::move(queues));
  }
  return absl::OkStatus();
}

absl::Status GradientBuckets::Begin(std::vector<DeviceGradient> gradients) {
  COOPER_RETURN_IF_ERROR(Forget());
  const std::lock_guard<std::mutex> lock(mutex_);
  next_ = 0;
  gradients_ = std::move(gradients);
  for (DeviceGradient& gradient : gradients_) COOPER_RETURN_IF_ERROR(MakeSums(gradient));
  Layout();
  COOPER_RETURN_IF_ERROR(MakeQueues());
  begun_ = true;
  return absl::OkStatus();
}

absl::Status GradientBuckets::Forget() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!begun_) return absl::OkStatus();
  begun_ = false;
  return WaitForStarted();
}

bool GradientBuckets::IsBegun(absl::Span<const DeviceGradient> gradients) const {
  if (!begun_ || gradients.size() != gradients_.size()) return false;
  for (size_t k = 0; k < gradients.size(); ++k) {
    const DeviceGradient& mine = gradients_[k];
    const DeviceGradient& other = gradients[k];
    if (mine.key != other.key || !SameArrays(mine.arrays, other.arrays)) return false;
    if (!other.sums.empty() && !SameArrays(mine.sums, other.sums)) return false;
  }
  return true;
}

absl::Status GradientBuckets::StartNext() {
  const size_t number = next_++;
  std::vector<DeviceQueue*> queues;
  queues.reserve(num_devices());
  for (const auto& queue : queues_[number]) queues.push_back(queue.get());
  COOPER_RETURN_IF_ERROR(collective_->GroupStart());
  absl::Status status;
  for (const size_t k : buckets_[number].gradients) {
    const DeviceGradient& gradient = gradients_[k];
    const bool for_all = gradient.sums.size() == num_devices();
    status.Update(
        AddContext(for_all ? collective_->AllReduceSum(gradient.arrays, gradient.sums, queues)
                           : collective_->ReduceSum(gradient.arrays, gradient.sums[0], queues),
                   "gradient of '", gradient.key, "'"));
  }
  status.Update(collective_->GroupEnd());
  return status;
}

absl::Status GradientBuckets::Ready(absl::string_view key, int device, DeviceQueue& queue) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = index_.find(key);
  if (!begun_ || it == index_.end() || ready_[it->second][device]) return absl::OkStatus();
  ready_[it->second][device] = true;
  const size_t number = bucket_of_[it->second];
  Bucket& bucket = buckets_[number];
  if (--bucket.missing[device] > 0) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(queues_[number][device]->WaitFor(queue));
  ++bucket.devices;
  while (next_ < buckets_.size() && buckets_[next_].devices == num_devices()) {
    COOPER_RETURN_IF_ERROR(StartNext());
  }
  return absl::OkStatus();
}

absl::Status GradientBuckets::WaitForStarted() {
  for (size_t i = 0; i < num_devices(); ++i) {
    COOPER_ASSIGN_OR_RETURN(DeviceQueue * own, GetQueue(collective_->contexts()[i]));
    for (size_t number = 0; number < next_; ++number) {
      COOPER_RETURN_IF_ERROR(own->WaitFor(*queues_[number][i]));
    }
  }
  return absl::OkStatus();
}

absl::Status GradientBuckets::Finish() {
  const std::lock_guard<std::mutex> lock(mutex_);
  while (next_ < buckets_.size()) {
    for (size_t i = 0; i < num_devices(); ++i) {
      COOPER_ASSIGN_OR_RETURN(DeviceQueue * own, GetQueue(collective_->contexts()[i]));
      COOPER_RETURN_IF_ERROR(queues_[next_][i]->WaitFor(*own));
    }
    COOPER_RETURN_IF_ERROR(StartNext());
  }
  begun_ = false;
  return WaitForStarted();
}

}  // namespace cooper
