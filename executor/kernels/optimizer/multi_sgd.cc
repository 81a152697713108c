// Kernels of stochastic gradient descent on several weights at once.

#include "executor/kernels/optimizer/element_update.h"
#include "executor/kernels/optimizer/sgd_functions.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/optimizer/multi_param.h"

namespace cooper {
namespace {

template <bool kMomentum, bool kMaster, bool kPreloaded>
absl::Status MultiSgdCpu(const KernelContext& c) {
  using Update = std::conditional_t<kMomentum, SgdMomUpdate<MomentumParam>, SgdUpdate<UpdateParam>>;
  constexpr int kPerWeight = 2 + kMomentum + kMaster;
  const auto& multi = c.param<MultiSgdParamOf<kMomentum, kPreloaded>>();
  const auto count = static_cast<size_t>(multi.num_weights);
  COOPER_RETURN_IF_ERROR(multi.CheckRates());
  for (size_t i = 0; i < count; ++i) {
    typename Update::Param p;
    p.lr = kPreloaded ? c.inputs[count * kPerWeight].template as<float>()[i] : multi.lrs[i];
    p.wd = kPreloaded ? c.inputs[count * kPerWeight + 1].template as<float>()[i] : multi.wds[i];
    p.rescale_grad = multi.rescale_grad;
    p.clip_gradient = multi.clip_gradient;
    if constexpr (kMomentum) p.momentum = multi.momentum;
    const UpdateArrays a = ArraysOfUpdate<Update::kStates, kMaster>(
        c.inputs.subspan(i * kPerWeight, kPerWeight), c.outputs[i], c.reqs[i]);
    COOPER_RETURN_IF_ERROR((UpdateElements<Update::kStates, kMaster>(
        c, a, [&p](auto tag) { return Update::template Make<typename decltype(tag)::type>(p); })));
  }
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(multi_sgd_update, DeviceType::kCpu, kUpdateDTypes,
                       (MultiSgdCpu<false, false, false>));
COOPER_REGISTER_KERNEL(multi_sgd_mom_update, DeviceType::kCpu, kUpdateDTypes,
                       (MultiSgdCpu<true, false, false>));
COOPER_REGISTER_KERNEL(multi_mp_sgd_update, DeviceType::kCpu, kUpdateDTypes,
                       (MultiSgdCpu<false, true, false>));
COOPER_REGISTER_KERNEL(multi_mp_sgd_mom_update, DeviceType::kCpu, kUpdateDTypes,
                       (MultiSgdCpu<true, true, false>));
COOPER_REGISTER_KERNEL(preloaded_multi_sgd_update, DeviceType::kCpu, kUpdateDTypes,
                       (MultiSgdCpu<false, false, true>));
COOPER_REGISTER_KERNEL(preloaded_multi_sgd_mom_update, DeviceType::kCpu, kUpdateDTypes,
                       (MultiSgdCpu<true, false, true>));
COOPER_REGISTER_KERNEL(preloaded_multi_mp_sgd_update, DeviceType::kCpu, kUpdateDTypes,
                       (MultiSgdCpu<false, true, true>));
COOPER_REGISTER_KERNEL(preloaded_multi_mp_sgd_mom_update, DeviceType::kCpu, kUpdateDTypes,
                       (MultiSgdCpu<true, true, true>));

}  // namespace
}  // namespace cooper
