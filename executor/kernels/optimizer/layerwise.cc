// Kernels of updates whose rate depends on the norms of the whole weight and of its gradient.

#include <algorithm>
#include <cmath>

#include "executor/kernels/optimizer/element_update.h"
#include "executor/kernels/optimizer/layerwise_functions.h"
#include "executor/kernels/optimizer/sum_squares.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/optimizer/layerwise_param.h"

namespace cooper {
namespace {

// Runs LAMB. The direction is computed twice instead of being stored.
template <bool kMaster>
absl::Status LambCpu(const KernelContext& c) {
  const auto& p = c.param<LambParam>();
  UpdateArrays a = ArraysOfUpdate<2, kMaster>(c.inputs, c.outputs[0], c.reqs[0]);
  absl::Status status;
  const bool known =
      DispatchUpdate<kMaster>(a.weight.dtype, a.grad.dtype, [&](auto w_tag, auto g_tag) {
        using W = typename decltype(w_tag)::type;
        using G = typename decltype(g_tag)::type;
        using C = ComputeType<W>;
        const W* const weight = a.weight.as<W>();
        const G* const grad = a.grad.as<G>();
        W* const mean = a.states[0].as<W>();
        W* const var = a.states[1].as<W>();
        const int64_t n = a.grad.size();
        UpdateRanges(n, [&, moments = LambMoments<C>::Make(p)](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            C m = static_cast<C>(mean[i]), v = static_cast<C>(var[i]);
            moments(static_cast<C>(static_cast<ComputeType<G>>(grad[i])), m, v);
            mean[i] = static_cast<W>(m);
            var[i] = static_cast<W>(v);
          }
        });
        const auto x = LambDirection<C>::Make(p);
        const double direction = std::sqrt(SumOver(n, [&](int64_t i) {
          const C value =
              x(static_cast<C>(weight[i]), static_cast<C>(mean[i]), static_cast<C>(var[i]));
          return value * value;
        }));
        const double lr = LambRate(p, std::sqrt(SumSquares<C>(weight, n)), direction);
        status = UpdateElements<2, kMaster>(
            c, a, [&](auto tag) { return LambStep<typename decltype(tag)::type>::Make(p, lr); });
      });
  return known ? status : UnsupportedUpdateError(c, a.weight.dtype, a.grad.dtype);
}

// Sums of squares of a weight and of its gradient.
struct SquaredNorms {
  double weight = 0;
  double grad = 0;
};

template <bool kMaster>
SquaredNorms NormsOf(const UpdateArrays& a) {
  SquaredNorms norms;
  DispatchUpdate<kMaster>(a.weight.dtype, a.grad.dtype, [&](auto w_tag, auto g_tag) {
    using W = typename decltype(w_tag)::type;
    using G = typename decltype(g_tag)::type;
    using C = ComputeType<W>;
    norms.weight = SumSquares<C>(a.weight.as<W>(), a.weight.size());
    norms.grad = SumSquares<C>(a.grad.as<G>(), a.grad.size());
  });
  return norms;
}

template <int kStates, bool kMaster>
absl::Status LarsCpu(const KernelContext& c) {
  const auto& p = c.param<LarsParam>();
  const UpdateArrays a = ArraysOfUpdate<kStates, kMaster>(c.inputs, c.outputs[0], c.reqs[0]);
  double lr = p.lr;
  if (p.layerwise) {
    const SquaredNorms norms = NormsOf<kMaster>(a);
    lr = LarsRate(p, norms.weight, norms.grad);
  }
  return UpdateElements<kStates, kMaster>(c, a, [&](auto tag) {
    return SgdStep<typename decltype(tag)::type>::Make(p, lr, p.rescale_grad);
  });
}

// Applies one step. The gradient in `a` is the sum of batch_scale gradients.
template <bool kMaster>
absl::Status LbsgdStep(const KernelContext& c, const LbsgdParam& p, const UpdateArrays& a) {
  double factor = 1;
  if (p.adaptive) {
    const SquaredNorms norms = NormsOf<kMaster>(a);
    factor = LbsgdFactor(p, norms.weight, norms.grad);
  }
  return UpdateElements<1, kMaster>(
      c, a, [&](auto tag) { return LbsgdStepOf<typename decltype(tag)::type>(p, factor); });
}

template <bool kMaster>
absl::Status LbsgdCpu(const KernelContext& c) {
  return LbsgdStep<kMaster>(c, c.param<LbsgdParam>(),
                            ArraysOfUpdate<1, kMaster>(c.inputs, c.outputs[0], c.reqs[0]));
}

// Adds the gradient to the sum. With param `apply`, applies a step with the sum and resets it to 0.
template <bool kMaster>
absl::Status LbsgdSumCpu(const KernelContext& c) {
  const auto& p = c.param<LbsgdParam>();
  const UpdateArrays a = ArraysOfUpdate<2, kMaster>(c.inputs, c.outputs[0], c.reqs[0]);
  if (a.req != WriteReq::kWrite) {
    return absl::UnimplementedError("_lbsgd_sum_update: the output can only be overwritten");
  }
  absl::Status status;
  const bool known =
      DispatchUpdate<kMaster>(a.weight.dtype, a.grad.dtype, [&](auto w_tag, auto g_tag) {
        using W = typename decltype(w_tag)::type;
        using G = typename decltype(g_tag)::type;
        using C = ComputeType<W>;
        const int64_t n = a.grad.size();
        const G* const grad = a.grad.as<G>();
        W* const sum = a.states[1].as<W>();
        UpdateRanges(n, [=](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            sum[i] = static_cast<W>(static_cast<C>(sum[i]) +
                                    static_cast<C>(static_cast<ComputeType<G>>(grad[i])));
          }
        });
        // The sum, which has the weight's dtype, replaces the gradient.
        const UpdateArrays step = {.weight = a.weight,
                                   .grad = a.states[1],
                                   .states = a.states,
                                   .output = kMaster ? a.weight : a.output};
        if (p.apply) {
          status = LbsgdStep<false>(c, p, step);
          std::fill_n(sum, n, static_cast<W>(0));
        }
        const W* const weight = (p.apply ? step.output : a.weight).template as<W>();
        G* const output = a.output.as<G>();
        if (static_cast<const void*>(output) == weight) return;
        for (int64_t i = 0; i < n; ++i) output[i] = static_cast<G>(static_cast<C>(weight[i]));
      });
  return known ? status : UnsupportedUpdateError(c, a.weight.dtype, a.grad.dtype);
}

#define COOPER_REGISTER_LAYERWISE(op, master_op, run)                        \
  COOPER_REGISTER_KERNEL(op, DeviceType::kCpu, kUpdateDTypes, (run<false>)); \
  COOPER_REGISTER_KERNEL(master_op, DeviceType::kCpu, kUpdateDTypes, (run<true>))

template <bool kMaster>
absl::Status PlainLarsCpu(const KernelContext& c) {
  return LarsCpu<0, kMaster>(c);
}
template <bool kMaster>
absl::Status LarsMomCpu(const KernelContext& c) {
  return LarsCpu<1, kMaster>(c);
}

COOPER_REGISTER_LAYERWISE(_lamb_update, _mp_lamb_update, LambCpu);
COOPER_REGISTER_LAYERWISE(_lars_update, _mp_lars_update, PlainLarsCpu);
COOPER_REGISTER_LAYERWISE(_lars_mom_update, _mp_lars_mom_update, LarsMomCpu);
COOPER_REGISTER_LAYERWISE(_lbsgd_update, _mp_lbsgd_update, LbsgdCpu);
COOPER_REGISTER_LAYERWISE(_lbsgd_sum_update, _mp_lbsgd_sum_update, LbsgdSumCpu);

// Writes the direction to the output, through an update that does not change the weight.
template <bool kMaster>
absl::Status LambPhase1Cpu(const KernelContext& c) {
  using enum LambPhase1Arrays::Input;
  const auto& p = c.param<LambPhase1Param>();
  const ArrayView& weight = c.inputs[kMaster ? kWeight32 : kWeight];
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const bool known =
      DispatchUpdate<kMaster>(weight.dtype, c.inputs[kGrad].dtype, [&](auto w_tag, auto g_tag) {
        using W = typename decltype(w_tag)::type;
        using G = typename decltype(g_tag)::type;
        using C = ComputeType<W>;
        const auto moments = LambMoments<C>::Make(p);
        const auto direction = LambDirection<C>::Make(p);
        const bool add = c.reqs[0] == WriteReq::kAdd;
        UpdateRanges(weight.size(), [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            W& mean = c.inputs[kMean].as<W>()[i];
            W& var = c.inputs[kVar].as<W>()[i];
            W& output = c.outputs[0].as<W>()[i];
            C m = static_cast<C>(mean), v = static_cast<C>(var);
            moments(static_cast<C>(static_cast<ComputeType<G>>(c.inputs[kGrad].as<G>()[i])), m, v);
            const C x = direction(static_cast<C>(weight.as<W>()[i]), m, v);
            mean = static_cast<W>(m);
            var = static_cast<W>(v);
            output = static_cast<W>(x + (add ? static_cast<C>(output) : C{0}));
          }
        });
      });
  return known ? absl::OkStatus() : UnsupportedUpdateError(c, weight.dtype, c.inputs[kGrad].dtype);
}

double NumberAt(const ArrayView& array) {
  double number = 0;
  if (array.dtype == DType::kFloat64) return *array.as<double>();
  if (array.dtype == DType::kFloat16) number = static_cast<float>(*array.as<Float16>());
  if (array.dtype == DType::kBfloat16) number = static_cast<float>(*array.as<BFloat16>());
  if (array.dtype == DType::kFloat32) number = *array.as<float>();
  return number;
}

// Runs the second phase of LAMB. As in MXNet, it does not write the float32 copy of the weight,
// although the schema lists it as written.
template <bool kMaster>
absl::Status LambPhase2Cpu(const KernelContext& c) {
  using enum LambPhase2Arrays::Input;
  const auto& p = c.param<LambPhase2Param>();
  const double rate =
      LambRate(p, NumberAt(c.inputs[kWeightNorm]), NumberAt(c.inputs[kDirectionNorm]));
  const ArrayView& weight = c.inputs[kMaster ? kWeight32 : kWeight];
  const ArrayView& direction = c.inputs[kDirection];
  const ArrayView& output = c.outputs[0];
  const WriteReq req = c.reqs[0];
  if (req == WriteReq::kNull) return absl::OkStatus();
  const bool known = DispatchUpdate<kMaster>(
      weight.dtype, kMaster ? output.dtype : direction.dtype, [&](auto w_tag, auto g_tag) {
        using W = typename decltype(w_tag)::type;
        using Out = typename decltype(g_tag)::type;
        using C = ComputeType<W>;
        UpdateRanges(weight.size(), [&, lr = As<C>(rate)](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const C w =
                static_cast<C>(weight.as<W>()[i]) - lr * static_cast<C>(direction.as<W>()[i]);
            Out& out = output.as<Out>()[i];
            const C before =
                req == WriteReq::kAdd ? static_cast<C>(static_cast<ComputeType<Out>>(out)) : C{0};
            out = static_cast<Out>(w + before);
          }
        });
      });
  return known ? absl::OkStatus() : UnsupportedUpdateError(c, weight.dtype, output.dtype);
}

COOPER_REGISTER_LAYERWISE(lamb_update_phase1, mp_lamb_update_phase1, LambPhase1Cpu);
COOPER_REGISTER_LAYERWISE(lamb_update_phase2, mp_lamb_update_phase2, LambPhase2Cpu);

}  // namespace
}  // namespace cooper
