// GPU kernels of Adam's update and of its variants.

#include "executor/kernels/optimizer/adam_functions.h"
#include "executor/kernels/optimizer/update_elements_cuda.h"
#include "symbol/ops/optimizer/adam_param.h"

namespace cooper {
namespace {

COOPER_REGISTER_CUDA_UPDATE(adam_update, mp_adam_update, AdamUpdate);
COOPER_REGISTER_CUDA_UPDATE(_adamax_update, _mp_adamax_update, AdamaxUpdate);
COOPER_REGISTER_CUDA_UPDATE(_nadam_update, _mp_nadam_update, NadamUpdate);
COOPER_REGISTER_CUDA_UPDATE(ftml_update, mp_ftml_update, FtmlUpdate);

// Makes the function of an element with rescale_grad read from device memory.
template <typename C>
struct AdamWSource {
  AdamWParam p;
  const float* scale;
  __device__ AdamWUpdate::Fn<C> Get() const { return AdamWUpdate::Make<C>(p, *scale); }
};

template <bool kMaster>
absl::Status AdamWGpu(const KernelContext& c) {
  const auto& p = c.param<AdamWParam>();
  const UpdateArrays a = ArraysOfUpdate<2, kMaster>(c.inputs, c.outputs[0], c.reqs[0]);
  return LaunchUpdate<2, kMaster>(c, a, [&](auto tag) {
    return AdamWSource<typename decltype(tag)::type>{p, c.inputs.back().as<float>()};
  });
}

COOPER_REGISTER_KERNEL(_adamw_update, DeviceType::kGpu, kUpdateDTypes, AdamWGpu<false>);
COOPER_REGISTER_KERNEL(_mp_adamw_update, DeviceType::kGpu, kUpdateDTypes, AdamWGpu<true>);

}  // namespace
}  // namespace cooper
