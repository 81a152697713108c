// GPU kernels of stochastic gradient descent on several weights at once.

#include <type_traits>

#include "executor/kernels/optimizer/sgd_functions.h"
#include "executor/kernels/optimizer/update_elements_cuda.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/optimizer/multi_param.h"

namespace cooper {
namespace {

// Makes the function of an element with rate and decay read from device memory.
template <typename U, typename C>
struct PreloadedSource {
  typename U::Param p;
  const float* lr;
  const float* wd;
  __device__ auto Get() const {
    typename U::Param made = p;
    made.lr = *lr;
    made.wd = *wd;
    return U::template Make<C>(made);
  }
};

template <bool kMomentum, bool kMaster, bool kPreloaded>
absl::Status MultiSgdGpu(const KernelContext& c) {
  using U = std::conditional_t<kMomentum, SgdMomUpdate<MomentumParam>, SgdUpdate<UpdateParam>>;
  constexpr int kPerWeight = 2 + kMomentum + kMaster;
  const auto& multi = c.param<MultiSgdParamOf<kMomentum, kPreloaded>>();
  const auto count = static_cast<size_t>(multi.num_weights);
  COOPER_RETURN_IF_ERROR(multi.CheckRates());
  typename U::Param p;
  p.rescale_grad = multi.rescale_grad;
  p.clip_gradient = multi.clip_gradient;
  if constexpr (kMomentum) p.momentum = multi.momentum;
  const auto arrays_of = [&](size_t i) {
    return ArraysOfUpdate<U::kStates, kMaster>(c.inputs.subspan(i * kPerWeight, kPerWeight),
                                               c.outputs[i], c.reqs[i]);
  };
  return LaunchUpdates<U::kStates, kMaster>(c, count, arrays_of, [&](size_t i, auto tag) {
    using C = typename decltype(tag)::type;
    if constexpr (kPreloaded) {
      const float* const lrs = c.inputs[count * kPerWeight].template as<float>();
      const float* const wds = c.inputs[count * kPerWeight + 1].template as<float>();
      return PreloadedSource<U, C>{p, lrs + i, wds + i};
    } else {
      p.lr = multi.lrs[i];
      p.wd = multi.wds[i];
      return FunctionOf<typename U::template Fn<C>>{U::template Make<C>(p)};
    }
  });
}

COOPER_REGISTER_KERNEL(multi_sgd_update, DeviceType::kGpu, kUpdateDTypes,
                       (MultiSgdGpu<false, false, false>));
COOPER_REGISTER_KERNEL(multi_sgd_mom_update, DeviceType::kGpu, kUpdateDTypes,
                       (MultiSgdGpu<true, false, false>));
COOPER_REGISTER_KERNEL(multi_mp_sgd_update, DeviceType::kGpu, kUpdateDTypes,
                       (MultiSgdGpu<false, true, false>));
COOPER_REGISTER_KERNEL(multi_mp_sgd_mom_update, DeviceType::kGpu, kUpdateDTypes,
                       (MultiSgdGpu<true, true, false>));
COOPER_REGISTER_KERNEL(preloaded_multi_sgd_update, DeviceType::kGpu, kUpdateDTypes,
                       (MultiSgdGpu<false, false, true>));
COOPER_REGISTER_KERNEL(preloaded_multi_sgd_mom_update, DeviceType::kGpu, kUpdateDTypes,
                       (MultiSgdGpu<true, false, true>));
COOPER_REGISTER_KERNEL(preloaded_multi_mp_sgd_update, DeviceType::kGpu, kUpdateDTypes,
                       (MultiSgdGpu<false, true, true>));
COOPER_REGISTER_KERNEL(preloaded_multi_mp_sgd_mom_update, DeviceType::kGpu, kUpdateDTypes,
                       (MultiSgdGpu<true, true, true>));

}  // namespace
}  // namespace cooper
