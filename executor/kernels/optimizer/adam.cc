// Kernels of Adam's update and of its variants.

#include "executor/kernels/optimizer/adam_functions.h"
#include "executor/kernels/optimizer/element_update.h"
#include "symbol/ops/optimizer/adam_param.h"

namespace cooper {
namespace {

COOPER_REGISTER_UPDATE(adam_update, mp_adam_update, AdamUpdate);
COOPER_REGISTER_UPDATE(_adamax_update, _mp_adamax_update, AdamaxUpdate);
COOPER_REGISTER_UPDATE(_nadam_update, _mp_nadam_update, NadamUpdate);
COOPER_REGISTER_UPDATE(ftml_update, mp_ftml_update, FtmlUpdate);

// Runs AdamW. rescale_grad is the last input, an array of one element.
template <bool kMaster>
absl::Status AdamWCpu(const KernelContext& c) {
  const auto& p = c.param<AdamWParam>();
  const double scale = *c.inputs.back().as<float>();
  const UpdateArrays a = ArraysOfUpdate<2, kMaster>(c.inputs, c.outputs[0], c.reqs[0]);
  return UpdateElements<2, kMaster>(
      c, a, [&](auto tag) { return AdamWUpdate::Make<typename decltype(tag)::type>(p, scale); });
}

COOPER_REGISTER_KERNEL(_adamw_update, DeviceType::kCpu, kUpdateDTypes, AdamWCpu<false>);
COOPER_REGISTER_KERNEL(_mp_adamw_update, DeviceType::kCpu, kUpdateDTypes, AdamWCpu<true>);

}  // namespace
}  // namespace cooper
