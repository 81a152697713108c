// GPU kernels of updates whose rate depends on the norms of the whole weight and of its gradient.
// The norms stay on the device: each thread computes the rate from them.

#include <cmath>
#include <cstdint>

#include "executor/kernels/optimizer/layerwise_functions.h"
#include "executor/kernels/optimizer/update_elements_cuda.h"
#include "executor/kernels/reducers/block_sums.h"
#include "ndarray/cuda/cuda_status.h"
#include "ndarray/cuda/device_scope.h"

namespace cooper {
namespace {

// Two sums on the device. Scratch memory for SumElements follows them.
struct Sums {
  double weight;  // the squares of the weight
  double other;   // the squares of the gradient or of the direction
};

absl::StatusOr<Prepared> PrepareSums(const PrepareContext&) {
  return Prepared{.workspace_bytes = kSumScratchBytes + static_cast<int64_t>(sizeof(Sums))};
}

Sums* SumsOf(const KernelContext& c) { return static_cast<Sums*>(c.workspace); }
double* ScratchOf(const KernelContext& c) { return reinterpret_cast<double*>(SumsOf(c) + 1); }

// Queues the sums of the squares of the weight and of the gradient.
template <bool kMaster>
absl::Status SumSquares(const KernelContext& c, const UpdateArrays& a) {
  absl::Status status;
  DispatchUpdate<kMaster>(a.weight.dtype, a.grad.dtype, [&](auto w_tag, auto g_tag) {
    using W = typename decltype(w_tag)::type;
    using G = typename decltype(g_tag)::type;
    using C = ComputeType<W>;
    status.Update(SumElements(c, a.weight.size(), SquareOf<C, W>{a.weight.as<W>()}, ScratchOf(c),
                              StoreSum{&SumsOf(c)->weight}));
    if (!status.ok()) return;
    status.Update(SumElements(c, a.grad.size(), SquareOf<C, G>{a.grad.as<G>()}, ScratchOf(c),
                              StoreSum{&SumsOf(c)->other}));
  });
  return status;
}

template <typename W, typename G>
__global__ void UpdateMoments(int64_t n, LambMoments<ComputeType<W>> moments, const G* grad,
                              W* mean, W* var) {
  using C = ComputeType<W>;
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    C m = ConvertElement<C>(mean[i]), v = ConvertElement<C>(var[i]);
    moments(ConvertElement<C>(grad[i]), m, v);
    mean[i] = ConvertElement<W>(m);
    var[i] = ConvertElement<W>(v);
  }
}

template <typename W>
struct DirectionSquare {
  using C = ComputeType<W>;
  LambDirection<C> x;
  const W* weight;
  const W* mean;
  const W* var;
  __device__ C operator()(int64_t i) const {
    const C value =
        x(ConvertElement<C>(weight[i]), ConvertElement<C>(mean[i]), ConvertElement<C>(var[i]));
    return value * value;
  }
};

template <typename C>
struct LambSource {
  LambDirection<C> x;
  LambPhase2Param p;
  const Sums* sums;
  __device__ LambStep<C> Get() const {
    const double lr = LambRate(p, std::sqrt(sums->weight), std::sqrt(sums->other));
    return {.x = x, .lr = As<C>(lr)};
  }
};

// Runs LAMB. The direction is computed twice instead of being stored.
template <bool kMaster>
absl::Status LambGpu(const KernelContext& c) {
  const auto& p = c.param<LambParam>();
  const UpdateArrays a = ArraysOfUpdate<2, kMaster>(c.inputs, c.outputs[0], c.reqs[0]);
  absl::Status status;
  const bool known =
      DispatchUpdate<kMaster>(a.weight.dtype, a.grad.dtype, [&](auto w_tag, auto g_tag) {
        using W = typename decltype(w_tag)::type;
        using G = typename decltype(g_tag)::type;
        using C = ComputeType<W>;
        W* const weight = a.weight.as<W>();
        W* const mean = a.states[0].as<W>();
        W* const var = a.states[1].as<W>();
        const int64_t n = a.grad.size();
        status.Update(LaunchElements(c, n, UpdateMoments<W, G>, n, LambMoments<C>::Make(p),
                                     a.grad.as<const G>(), mean, var));
        if (!status.ok()) return;
        status.Update(
            SumElements(c, n, SquareOf<C, W>{weight}, ScratchOf(c), StoreSum{&SumsOf(c)->weight}));
        if (!status.ok()) return;
        status.Update(SumElements(c, n,
                                  DirectionSquare<W>{LambDirection<C>::Make(p), weight, mean, var},
                                  ScratchOf(c), StoreSum{&SumsOf(c)->other}));
      });
  if (!known) return UnsupportedUpdateError(c, a.weight.dtype, a.grad.dtype);
  COOPER_RETURN_IF_ERROR(status);
  const LambPhase2Param phase2 = {
      .lr = p.lr, .lower_bound = p.lower_bound, .upper_bound = p.upper_bound};
  return LaunchUpdate<2, kMaster>(c, a, [&](auto tag) {
    using C = typename decltype(tag)::type;
    return LambSource<C>{LambDirection<C>::Make(p), phase2, SumsOf(c)};
  });
}

template <typename C>
struct LarsSource {
  LarsParam p;
  const Sums* sums;
  __device__ SgdStep<C> Get() const {
    const double lr = p.layerwise ? LarsRate(p, sums->weight, sums->other) : p.lr;
    return SgdStep<C>::Make(p, lr, p.rescale_grad);
  }
};

template <int kStates, bool kMaster>
absl::Status LarsGpu(const KernelContext& c) {
  const auto& p = c.param<LarsParam>();
  const UpdateArrays a = ArraysOfUpdate<kStates, kMaster>(c.inputs, c.outputs[0], c.reqs[0]);
  if (p.layerwise) COOPER_RETURN_IF_ERROR(SumSquares<kMaster>(c, a));
  return LaunchUpdate<kStates, kMaster>(c, a, [&](auto tag) {
    return LarsSource<typename decltype(tag)::type>{p, SumsOf(c)};
  });
}

template <typename C>
struct LbsgdSource {
  LbsgdParam p;
  const Sums* sums;
  __device__ SgdStep<C> Get() const {
    return LbsgdStepOf<C>(p, p.adaptive ? LbsgdFactor(p, sums->weight, sums->other) : 1);
  }
};

// Queues one step. The gradient in `a` is the sum of batch_scale gradients.
template <bool kMaster>
absl::Status StepLbsgd(const KernelContext& c, const LbsgdParam& p, const UpdateArrays& a) {
  if (p.adaptive) COOPER_RETURN_IF_ERROR(SumSquares<kMaster>(c, a));
  return LaunchUpdate<1, kMaster>(c, a, [&](auto tag) {
    return LbsgdSource<typename decltype(tag)::type>{p, SumsOf(c)};
  });
}

template <bool kMaster>
absl::Status LbsgdGpu(const KernelContext& c) {
  return StepLbsgd<kMaster>(c, c.param<LbsgdParam>(),
                            ArraysOfUpdate<1, kMaster>(c.inputs, c.outputs[0], c.reqs[0]));
}

template <typename W, typename G>
__global__ void AddGradient(int64_t n, const G* grad, W* sum) {
  using C = ComputeType<W>;
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    sum[i] =
        ConvertElement<W>(static_cast<C>(ConvertElement<C>(sum[i]) + ConvertElement<C>(grad[i])));
  }
}

template <typename W, typename G>
__global__ void CopyWeight(int64_t n, const W* weight, G* output) {
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    output[i] = ConvertElement<G>(weight[i]);
  }
}

// Adds the gradient to the sum. With param `apply`, applies a step with the sum and resets it to 0.
template <bool kMaster>
absl::Status LbsgdSumGpu(const KernelContext& c) {
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
        const int64_t n = a.grad.size();
        status.Update(
            LaunchElements(c, n, AddGradient<W, G>, n, a.grad.as<const G>(), a.states[1].as<W>()));
        if (!status.ok()) return;
        // The sum, which has the weight's dtype, replaces the gradient.
        const UpdateArrays step = {.weight = a.weight,
                                   .grad = a.states[1],
                                   .states = a.states,
                                   .output = kMaster ? a.weight : a.output};
        if (p.apply) {
          status.Update(StepLbsgd<false>(c, p, step));
          if (!status.ok()) return;
          const CudaDeviceScope scope(c.context.device_id);
          status.Update(scope.status());
          if (!status.ok()) return;
          status.Update(CudaStatus(
              cudaMemsetAsync(a.states[1].data, 0, static_cast<size_t>(a.states[1].size_bytes()),
                              StreamOf(c)),
              "cudaMemsetAsync"));
          if (!status.ok()) return;
        }
        const W* const weight = (p.apply ? step.output : a.weight).template as<W>();
        G* const output = a.output.as<G>();
        if (static_cast<const void*>(output) == weight) return;
        status.Update(LaunchElements(c, n, CopyWeight<W, G>, n, weight, output));
      });
  return known ? status : UnsupportedUpdateError(c, a.weight.dtype, a.grad.dtype);
}

template <bool kMaster>
absl::Status PlainLarsGpu(const KernelContext& c) {
  return LarsGpu<0, kMaster>(c);
}
template <bool kMaster>
absl::Status LarsMomGpu(const KernelContext& c) {
  return LarsGpu<1, kMaster>(c);
}

#define COOPER_REGISTER_LAYERWISE(op, master_op, run)                                     \
  COOPER_REGISTER_KERNEL(op, DeviceType::kGpu, kUpdateDTypes, (run<false>), PrepareSums); \
  COOPER_REGISTER_KERNEL(master_op, DeviceType::kGpu, kUpdateDTypes, (run<true>), PrepareSums)

COOPER_REGISTER_LAYERWISE(_lamb_update, _mp_lamb_update, LambGpu);
COOPER_REGISTER_LAYERWISE(_lars_update, _mp_lars_update, PlainLarsGpu);
COOPER_REGISTER_LAYERWISE(_lars_mom_update, _mp_lars_mom_update, LarsMomGpu);
COOPER_REGISTER_LAYERWISE(_lbsgd_update, _mp_lbsgd_update, LbsgdGpu);
COOPER_REGISTER_LAYERWISE(_lbsgd_sum_update, _mp_lbsgd_sum_update, LbsgdSumGpu);

template <typename W, typename G>
__global__ void Phase1(int64_t n, LambMoments<ComputeType<W>> moments,
                       LambDirection<ComputeType<W>> direction, const W* weight, const G* grad,
                       W* mean, W* var, bool add, W* output) {
  using C = ComputeType<W>;
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    C m = ConvertElement<C>(mean[i]), v = ConvertElement<C>(var[i]);
    moments(ConvertElement<C>(grad[i]), m, v);
    const C x = direction(ConvertElement<C>(weight[i]), m, v);
    mean[i] = ConvertElement<W>(m);
    var[i] = ConvertElement<W>(v);
    output[i] = ConvertElement<W>(add ? static_cast<C>(x + ConvertElement<C>(output[i])) : x);
  }
}

// Writes the direction to the output, through an update that does not change the weight.
template <bool kMaster>
absl::Status LambPhase1Gpu(const KernelContext& c) {
  using enum LambPhase1Arrays::Input;
  const auto& p = c.param<LambPhase1Param>();
  const ArrayView& weight = c.inputs[kMaster ? kWeight32 : kWeight];
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  absl::Status status;
  const bool known =
      DispatchUpdate<kMaster>(weight.dtype, c.inputs[kGrad].dtype, [&](auto w_tag, auto g_tag) {
        using W = typename decltype(w_tag)::type;
        using G = typename decltype(g_tag)::type;
        using C = ComputeType<W>;
        const int64_t n = weight.size();
        status.Update(LaunchElements(
            c, n, Phase1<W, G>, n, LambMoments<C>::Make(p), LambDirection<C>::Make(p),
            weight.as<const W>(), c.inputs[kGrad].as<const G>(), c.inputs[kMean].as<W>(),
            c.inputs[kVar].as<W>(), c.reqs[0] == WriteReq::kAdd, c.outputs[0].as<W>()));
      });
  return known ? status : UnsupportedUpdateError(c, weight.dtype, c.inputs[kGrad].dtype);
}

// Applies the second phase of LAMB to each element. `N` is the type of the norms.
template <typename W, typename N, typename Out>
__global__ void Phase2(int64_t n, LambPhase2Param p, const W* weight, const W* direction,
                       const N* weight_norm, const N* direction_norm, bool add, Out* output) {
  using C = ComputeType<W>;
  using O = ComputeType<Out>;
  const C lr = As<C>(
      LambRate(p, ConvertElement<double>(*weight_norm), ConvertElement<double>(*direction_norm)));
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    const C w = ConvertElement<C>(weight[i]) - lr * ConvertElement<C>(direction[i]);
    const C before = add ? static_cast<C>(ConvertElement<O>(output[i])) : C{0};
    output[i] = ConvertElement<Out>(w + before);
  }
}

// Runs the second phase of LAMB. As in MXNet, it does not write the float32 copy of the weight,
// although the schema lists it as written.
template <bool kMaster>
absl::Status LambPhase2Gpu(const KernelContext& c) {
  using enum LambPhase2Arrays::Input;
  const ArrayView& weight = c.inputs[kMaster ? kWeight32 : kWeight];
  const ArrayView& direction = c.inputs[kDirection];
  const ArrayView& output = c.outputs[0];
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  absl::Status status;
  const bool known = DispatchUpdate<kMaster>(
      weight.dtype, kMaster ? output.dtype : direction.dtype, [&](auto w_tag, auto g_tag) {
        using W = typename decltype(w_tag)::type;
        using Out = typename decltype(g_tag)::type;
        DispatchUpdate<false>(
            c.inputs[kWeightNorm].dtype, c.inputs[kDirectionNorm].dtype, [&](auto n_tag, auto) {
              using N = typename decltype(n_tag)::type;
              const int64_t n = weight.size();
              status.Update(LaunchElements(c, n, Phase2<W, N, Out>, n, c.param<LambPhase2Param>(),
                                           weight.as<const W>(), direction.as<const W>(),
                                           c.inputs[kWeightNorm].as<const N>(),
                                           c.inputs[kDirectionNorm].as<const N>(),
                                           c.reqs[0] == WriteReq::kAdd, output.as<Out>()));
            });
      });
  return known ? status : UnsupportedUpdateError(c, weight.dtype, output.dtype);
}

COOPER_REGISTER_LAYERWISE(lamb_update_phase1, mp_lamb_update_phase1, LambPhase1Gpu);
COOPER_REGISTER_LAYERWISE(lamb_update_phase2, mp_lamb_update_phase2, LambPhase2Gpu);

}  // namespace
}  // namespace cooper
