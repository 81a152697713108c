#ifndef COOPER_EXECUTOR_KERNELS_REDUCERS_SUM_CHANNELS_H_
#define COOPER_EXECUTOR_KERNELS_REDUCERS_SUM_CHANNELS_H_

// Computes the gradient of a bias: the sum of all elements of each channel. For .cu files.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/reducers/set_reduce.h"
#include "executor/program/kernel.h"

namespace cooper {

// Stores or adds the sum of each channel of `in`: the kernel of SumChannels. The sets of `plan` are
// the channels, whose lane 0 stores the sum. T is the dtype of both arrays.
template <typename T>
__global__ void __launch_bounds__(kMaxSetThreads)
    SumEachChannel(SetPlan plan, const T* in, T* sums, bool add) {
  using C = ComputeType<T>;
  const SetThread thread(plan);
  thread.ForEachSet([&](int64_t channel) {
    const C sum = thread.SumOverLoaded<C>(
        channel, [in](int64_t i) { return in[i]; },
        [](int64_t, T value) { return ConvertElement<C>(value); });
    if (channel >= 0 && thread.IsFirst()) StoreTo(sums + channel, sum, add);
  });
}

// Queues a kernel that writes or adds the sums of in (outer, channels, inner) over outer and inner
// to sums (channels,). Sums of no elements are 0. Equal inputs give equal bits. `in` and `sums` are
// device memory of T. Sums of 16-bit floats are computed in float and rounded once.
//
// Errors: those of Launch.
template <typename T>
absl::Status SumChannels(const KernelContext& c, int64_t outer, int64_t channels, int64_t inner,
                         const T* in, T* sums, bool add) {
  const SetPlan plan = PlanChannels(outer, channels, inner, kMaxSetThreads);
  return LaunchSets(c, plan, SumEachChannel<T>, in, sums, add);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCERS_SUM_CHANNELS_H_
