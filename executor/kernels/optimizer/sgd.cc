// Kernels of stochastic gradient descent and of its variants.

#include <cmath>

#include "executor/kernels/optimizer/element_update.h"
#include "executor/kernels/optimizer/sgd_functions.h"
#include "ndarray/base/philox.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/optimizer/sgd_param.h"

namespace cooper {
namespace {

COOPER_REGISTER_UPDATE(sgd_update, mp_sgd_update, SgdUpdate<SgdParam>);
COOPER_REGISTER_UPDATE(sgd_mom_update, mp_sgd_mom_update, SgdMomUpdate<SgdMomParam>);
COOPER_REGISTER_UPDATE(nag_mom_update, mp_nag_mom_update, NagMomUpdate);
COOPER_REGISTER_UPDATE(signsgd_update, mp_signsgd_update, SignSgdUpdate);
COOPER_REGISTER_UPDATE(signum_update, mp_signum_update, SignumUpdate);
COOPER_REGISTER_UPDATE(_dcasgd_update, _mp_dcasgd_update, DcasgdUpdate);

// Applies the step and adds noise, which depends on an element's index.
template <bool kMaster>
absl::Status SgldCpu(const KernelContext& c) {
  const auto& p = c.param<SgldParam>();
  UpdateArrays a = ArraysOfUpdate<0, kMaster>(c.inputs, c.outputs[0], c.reqs[0]);
  if (c.reqs[0] != WriteReq::kWrite) {
    return absl::UnimplementedError("_sgld_update: the output can only be overwritten");
  }
  COOPER_RETURN_IF_ERROR((UpdateElements<0, kMaster>(
      c, a, [&](auto tag) { return SgldStep::Make<typename decltype(tag)::type>(p); })));
  const Philox noise(static_cast<uint64_t>(p.seed), kSgldStream);
  const auto first = static_cast<uint64_t>(p.position);
  const double deviation = std::sqrt(p.lr);
  DispatchUpdate<kMaster>(a.weight.dtype, a.grad.dtype, [&](auto w_tag, auto g_tag) {
    using W = typename decltype(w_tag)::type;
    using G = typename decltype(g_tag)::type;
    using C = ComputeType<W>;
    W* const weight = kMaster ? a.weight.as<W>() : a.output.as<W>();
    UpdateRanges(a.weight.size(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const C w =
            static_cast<C>(weight[i]) + static_cast<C>(deviation * NormalAt(noise, first + i));
        weight[i] = static_cast<W>(w);
        if (kMaster) a.output.as<G>()[i] = static_cast<G>(w);
      }
    });
  });
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_sgld_update, DeviceType::kCpu, kUpdateDTypes, SgldCpu<false>);
COOPER_REGISTER_KERNEL(_mp_sgld_update, DeviceType::kCpu, kUpdateDTypes, SgldCpu<true>);

}  // namespace
}  // namespace cooper
