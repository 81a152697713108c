// Kernels of gradient descent and of what differs from it by the momentum only.

#include <array>
#include <cmath>
#include <numbers>

#include "executor/cpu/optimizer/element_update.h"
#include "executor/cpu/optimizer/sgd_functions.h"
#include "ndarray/philox.h"
#include "ndarray/status_macros.h"
#include "symbol/ops/optimizer/sgd_param.h"

namespace cooper {
namespace {

struct NagMomUpdate {
  using Param = MomentumParam;
  static constexpr int kStates = 1;
  template <typename C>
  static auto Make(const Param& p) {
    return [momentum = As<C>(p.momentum), wd = As<C>(p.wd), lr = As<C>(p.lr),
            rescale = As<C>(p.rescale_grad), clip = LimitAs<C>(p.clip_gradient)](C& w, C g, C& m) {
      const C clipped = Clip(rescale * g, clip);
      m *= momentum;
      w += (momentum + 1) * (m - lr * (clipped + wd * w)) - m;
      m -= lr * (clipped + wd * w);  // with the new weight, as in MXNet
    };
  }
};

template <typename C>
C Sign(C x) {
  return static_cast<C>((x > 0) - (x < 0));
}

struct SignSgdUpdate {
  using Param = PlainUpdateParam;
  static constexpr int kStates = 0;
  template <typename C>
  static auto Make(const Param& p) {
    return [keep = As<C>(1 - p.lr * p.wd), lr = As<C>(p.lr)](C& w, C g) {
      w = keep * w - lr * Sign(g);
    };
  }
};

struct SignumUpdate {
  using Param = SignumParam;
  static constexpr int kStates = 1;
  template <typename C>
  static auto Make(const Param& p) {
    return [momentum = As<C>(p.momentum), keep = As<C>(1 - p.lr * p.wd_lh), wd = As<C>(p.wd),
            lr = As<C>(p.lr), rescale = As<C>(p.rescale_grad),
            clip = LimitAs<C>(p.clip_gradient)](C& w, C g, C& m) {
      m = momentum * m - (1 - momentum) * (wd * w + Clip(rescale * g, clip));
      w = keep * w + lr * Sign(m);
    };
  }
};

struct DcasgdUpdate {
  using Param = DcasgdParam;
  static constexpr int kStates = 2;
  template <typename C>
  static auto Make(const Param& p) {
    return [momentum = As<C>(p.momentum), lamda = As<C>(p.lamda), wd = As<C>(p.wd),
            lr = As<C>(p.lr), rescale = As<C>(p.rescale_grad),
            clip = LimitAs<C>(p.clip_gradient)](C& w, C grad, C& m, C& previous) {
      const C g = Clip(rescale * grad, clip);
      m = momentum * m - lr * (g + wd * w + lamda * g * g * (w - previous));
      previous = w;
      w += m;
    };
  }
};

COOPER_REGISTER_UPDATE(sgd_update, mp_sgd_update, SgdUpdate<SgdParam>);
COOPER_REGISTER_UPDATE(sgd_mom_update, mp_sgd_mom_update, SgdMomUpdate<SgdMomParam>);
COOPER_REGISTER_UPDATE(nag_mom_update, mp_nag_mom_update, NagMomUpdate);
COOPER_REGISTER_UPDATE(signsgd_update, mp_signsgd_update, SignSgdUpdate);
COOPER_REGISTER_UPDATE(signum_update, mp_signum_update, SignumUpdate);
COOPER_REGISTER_UPDATE(_dcasgd_update, _mp_dcasgd_update, DcasgdUpdate);

// Keeps the noise apart from other users of the seed.
constexpr uint64_t kNoiseStream = uint64_t{0x51D} << 52;

// Element i of normal noise (Box and Muller's method).
double NormalAt(const Philox& noise, uint64_t i) {
  const std::array<uint32_t, 4> bits = noise.At(i);
  const double radius = std::sqrt(-2 * std::log((bits[0] + 1.0) * 0x1p-32));
  return radius * std::cos(2 * std::numbers::pi * (bits[1] * 0x1p-32));
}

// The step, and then the noise, which depends on an element's place.
template <bool kMaster>
absl::Status SgldCpu(const KernelContext& c) {
  const auto& p = c.param<SgldParam>();
  UpdateArrays a = ArraysOfUpdate<0, kMaster>(c.inputs, c.outputs[0], c.reqs[0]);
  if (c.reqs[0] != WriteReq::kWrite) {
    return absl::UnimplementedError("_sgld_update: the output can only be overwritten");
  }
  COOPER_RETURN_IF_ERROR((UpdateElements<0, kMaster>(c, a, [&](auto tag) {
    using C = typename decltype(tag)::type;
    return [half_lr = As<C>(p.lr / 2), wd = As<C>(p.wd), rescale = As<C>(p.rescale_grad),
            clip = LimitAs<C>(p.clip_gradient)](C& w, C g) {
      w -= half_lr * (Clip(rescale * g, clip) + wd * w);
    };
  })));
  const Philox noise(static_cast<uint64_t>(p.seed), kNoiseStream);
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
