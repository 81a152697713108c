// GPU kernels of stochastic gradient descent and of its variants.

#include <cmath>
#include <cstdint>

#include "executor/kernels/optimizer/sgd_functions.h"
#include "executor/kernels/optimizer/update_elements_cuda.h"
#include "ndarray/base/philox.h"
#include "symbol/ops/optimizer/sgd_param.h"

namespace cooper {
namespace {

COOPER_REGISTER_CUDA_UPDATE(sgd_update, mp_sgd_update, SgdUpdate<SgdParam>);
COOPER_REGISTER_CUDA_UPDATE(sgd_mom_update, mp_sgd_mom_update, SgdMomUpdate<SgdMomParam>);
COOPER_REGISTER_CUDA_UPDATE(nag_mom_update, mp_nag_mom_update, NagMomUpdate);
COOPER_REGISTER_CUDA_UPDATE(signsgd_update, mp_signsgd_update, SignSgdUpdate);
COOPER_REGISTER_CUDA_UPDATE(signum_update, mp_signum_update, SignumUpdate);
COOPER_REGISTER_CUDA_UPDATE(_dcasgd_update, _mp_dcasgd_update, DcasgdUpdate);

// Adds noise to the weight. A non-null `half` receives the new weight too.
template <typename W, typename G>
__global__ void AddNoise(int64_t n, Philox noise, uint64_t first, double deviation, W* weight,
                         G* half) {
  using C = ComputeType<W>;
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    const C w = ConvertElement<C>(weight[i]) +
                static_cast<C>(deviation * NormalAt(noise, first + static_cast<uint64_t>(i)));
    weight[i] = ConvertElement<W>(w);
    if (half != nullptr) half[i] = ConvertElement<G>(w);
  }
}

// Queues the step and then the noise, which depends on an element's index.
template <bool kMaster>
absl::Status SgldGpu(const KernelContext& c) {
  const auto& p = c.param<SgldParam>();
  const UpdateArrays a = ArraysOfUpdate<0, kMaster>(c.inputs, c.outputs[0], c.reqs[0]);
  if (c.reqs[0] != WriteReq::kWrite) {
    return absl::UnimplementedError("_sgld_update: the output can only be overwritten");
  }
  COOPER_RETURN_IF_ERROR((UpdateWith<0, kMaster>(
      c, a, [&](auto tag) { return SgldStep::Make<typename decltype(tag)::type>(p); })));
  const Philox noise(static_cast<uint64_t>(p.seed), kSgldStream);
  const double deviation = std::sqrt(p.lr);
  absl::Status status;
  DispatchUpdate<kMaster>(a.weight.dtype, a.grad.dtype, [&](auto w_tag, auto g_tag) {
    using W = typename decltype(w_tag)::type;
    using G = typename decltype(g_tag)::type;
    const int64_t n = a.grad.size();
    status.Update(LaunchElements(c, n, AddNoise<W, G>, n, noise, static_cast<uint64_t>(p.position),
                                 deviation, kMaster ? a.weight.as<W>() : a.output.as<W>(),
                                 kMaster ? a.output.as<G>() : nullptr));
  });
  return status;
}

COOPER_REGISTER_KERNEL(_sgld_update, DeviceType::kGpu, kUpdateDTypes, SgldGpu<false>);
COOPER_REGISTER_KERNEL(_mp_sgld_update, DeviceType::kGpu, kUpdateDTypes, SgldGpu<true>);

}  // namespace
}  // namespace cooper
