#include "module/kvstore/copy_collective.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/schema/op.h"

namespace cooper {

absl::StatusOr<std::unique_ptr<Collective>> CopyCollective::Create(
    const std::vector<Context>& contexts, CollectiveWorld* world) {
  for (const Context& context : contexts) COOPER_RETURN_IF_ERROR(FindDevice(context).status());
  COOPER_ASSIGN_OR_RETURN(Device * device, FindDevice(contexts[0]));
  COOPER_ASSIGN_OR_RETURN(auto queue, device->MakeQueue(contexts[0].device_id));
  COOPER_ASSIGN_OR_RETURN(OpCall call, MakeOpCall("_grad_sum", {}, contexts.size()));
  COOPER_ASSIGN_OR_RETURN(Invocation add,
                          Invocation::Create(std::move(call), contexts[0].device_type));
  return std::unique_ptr<Collective>(
      new CopyCollective(contexts, world, std::move(queue), std::move(add)));
}

absl::Status CopyCollective::GroupStart() {
  CHECK(!in_group_) << "groups of sums are not nested";
  in_group_ = true;
  return absl::OkStatus();
}

absl::Status CopyCollective::GroupEnd() {
  in_group_ = false;
  const std::vector<Pending> sums = std::exchange(pending_, {});
  for (const Pending& sum : sums) COOPER_RETURN_IF_ERROR(Run(sum));
  return absl::OkStatus();
}

absl::Status CopyCollective::Sum(absl::Span<const NDArray> arrays, absl::Span<const NDArray> sums,
                                 absl::Span<DeviceQueue* const> queues) {
  Pending sum{.arrays = {arrays.begin(), arrays.end()},
              .sums = {sums.begin(), sums.end()},
              .queues = {queues.begin(), queues.end()}};
  if (!in_group_) return Run(sum);
  pending_.push_back(std::move(sum));
  return absl::OkStatus();
}

absl::StatusOr<NDArray> CopyCollective::Bring(const NDArray& array, size_t i) {
  NDArray& bytes = staged_[i];
  if (bytes.is_null() || bytes.size() < array.size_bytes()) {
    // Queued work may still use the old buffer.
    COOPER_RETURN_IF_ERROR(queue_->Synchronize());
    COOPER_ASSIGN_OR_RETURN(bytes,
                            NDArray::Empty({array.size_bytes()}, DType::kUint8, contexts()[0]));
  }
  COOPER_RETURN_IF_ERROR(queue_->Copy(bytes.raw_data(), contexts()[0], array.raw_data(),
                                      array.context(), array.size_bytes()));
  return NDArray::View(bytes.storage(), 0, array.shape(), array.dtype());
}

absl::Status CopyCollective::Run(const Pending& sum) {
  const size_t devices = contexts().size();
  staged_.resize(devices);
  std::vector<NDArray> terms = {sum.arrays[0]};
  for (DeviceQueue* queue : sum.queues) COOPER_RETURN_IF_ERROR(queue_->WaitFor(*queue));
  for (size_t i = 1; i < devices; ++i) {
    COOPER_ASSIGN_OR_RETURN(terms.emplace_back(), Bring(sum.arrays[i], i));
  }
  // Devices that get no sum may continue once their terms have been read.
  for (size_t i = sum.sums.size(); i < devices; ++i) {
    COOPER_RETURN_IF_ERROR(sum.queues[i]->WaitFor(*queue_));
  }
  std::vector<const NDArray*> inputs;
  inputs.reserve(devices);
  for (const NDArray& term : terms) inputs.push_back(&term);
  const NDArray& first = sum.sums[0];
  COOPER_RETURN_IF_ERROR(add_.SetArrays(inputs, {&first}));
  COOPER_RETURN_IF_ERROR(add_.Run(queue_.get()));
  if (world_ != nullptr && world_->size() > 1) COOPER_RETURN_IF_ERROR(SumOverWorld(first));
  for (size_t i = 1; i < sum.sums.size(); ++i) {
    COOPER_RETURN_IF_ERROR(sum.queues[i]->WaitFor(*queue_));
    COOPER_RETURN_IF_ERROR(sum.queues[i]->Copy(sum.sums[i].raw_data(), contexts()[i],
                                               first.raw_data(), contexts()[0],
                                               first.size_bytes()));
  }
  // Work that overwrites the first sum must run after the copies. The waits are queued after all
  // copies, so that no copy waits for another.
  for (size_t i = 1; i < sum.sums.size(); ++i) {
    COOPER_RETURN_IF_ERROR(queue_->WaitFor(*sum.queues[i]));
  }
  return sum.queues[0]->WaitFor(*queue_);
}

absl::Status CopyCollective::SumOverWorld(const NDArray& sum) {
  COOPER_ASSIGN_OR_RETURN(const NDArray host, NDArray::Empty(sum.shape(), sum.dtype()));
  COOPER_RETURN_IF_ERROR(queue_->Copy(host.raw_data(), host.context(), sum.raw_data(),
                                      sum.context(), sum.size_bytes()));
  COOPER_RETURN_IF_ERROR(queue_->Synchronize());
  if (host.dtype() == DType::kFloat64) {
    COOPER_ASSIGN_OR_RETURN(const absl::Span<double> values, host.Data<double>());
    COOPER_RETURN_IF_ERROR(world_->AllReduceSum(values));
  } else {
    NDArray floats = host;
    if (host.dtype() != DType::kFloat32) {
      COOPER_ASSIGN_OR_RETURN(floats, host.AsType(DType::kFloat32));
    }
    COOPER_ASSIGN_OR_RETURN(const absl::Span<float> values, floats.Data<float>());
    COOPER_RETURN_IF_ERROR(world_->AllReduceSum(values));
    if (host.dtype() != DType::kFloat32) COOPER_RETURN_IF_ERROR(host.CopyFrom(floats));
  }
  // The host memory is pageable, so it has been read when Copy returns.
  return queue_->Copy(sum.raw_data(), sum.context(), host.raw_data(), host.context(),
                      sum.size_bytes());
}

}  // namespace cooper
