// GPU kernels of CTCLoss and its gradient, with the recursions of
// executor/kernels/loss/ctc_loss.cc. One block computes one sample; its threads share the classes
// of a step and the states of a label.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/reducers/set_reduce.h"
#include "executor/kernels/softmax/softmax_sets.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/loss/ctc_loss_param.h"

namespace cooper {
namespace {

using enum CtcLossArrays::Input;

// The shapes and arguments of a launch, without the data. data_lengths and label_lengths have a
// null pointer if the node has no such input.
struct Samples {
  int64_t steps, batch, classes, labels;  // data is (steps, batch, classes), label (batch, labels)
  bool blank_first;
  TypedArray label, data_lengths, label_lengths;

  // The workspace holds the log probabilities, laid out as data, then one share for each sample:
  // alpha, two rows of beta, and the symbols. Sizes are in elements.
  __host__ __device__ int64_t states() const { return 2 * labels + 1; }
  __host__ __device__ int64_t log_probabilities() const { return steps * batch * classes; }
  __host__ __device__ int64_t share() const { return (steps + 3) * states(); }
};

template <typename C>
__device__ C LogAdd(C a, C b) {
  const C high = a < b ? b : a, low = a < b ? a : b;
  return low == -HUGE_VAL ? high : high + log1p(exp(low - high));
}

__device__ int64_t Clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

// One sample. All threads of its block hold the same values.
template <typename C>
class Sample {
 public:
  __device__ Sample(const Samples& s, C* workspace, int64_t n)
      : s_(s), n_(n), log_prob_(workspace) {
    C* share = workspace + s.log_probabilities() + n * s.share();
    alpha_ = share;
    beta_ = alpha_ + s.steps * s.states();
    symbol_ = beta_ + 2 * s.states();
    steps_ = s.data_lengths.data == nullptr ? s.steps
                                            : Clamp(s.data_lengths.Load<int64_t>(n), 0, s.steps);
    int64_t length = s.labels;
    if (s.label_lengths.data != nullptr) {
      length = Clamp(s.label_lengths.Load<int64_t>(n), 0, s.labels);
    } else {
      const int64_t padding = s.blank_first ? 0 : -1;
      for (length = 0; length < s.labels; ++length) {
        if (s.label.Load<int64_t>(n * s.labels + length) == padding) break;
      }
    }
    states_ = 2 * length + 1;
    for (int64_t i = threadIdx.x; i < states_; i += blockDim.x) {
      // The symbol is stored as a number of type C, which is exact because classes are few.
      symbol_[i] = static_cast<C>(
          i % 2 == 0 ? (s.blank_first ? 0 : s.classes - 1)
                     : Clamp(s.label.Load<int64_t>(n * s.labels + i / 2), 0, s.classes - 1));
    }
    __syncthreads();
    int64_t repeats = 0;
    for (int64_t i = 3; i < states_; i += 2) repeats += symbol_[i] == symbol_[i - 2];
    // A label that needs more steps than the data has gets a loss and a gradient of 0.
    possible_ = length + repeats <= steps_ && steps_ > 0;
  }

  __device__ bool possible() const { return possible_; }
  __device__ int64_t steps() const { return steps_; }
  __device__ int64_t states() const { return states_; }
  __device__ int64_t symbol(int64_t i) const { return static_cast<int64_t>(symbol_[i]); }
  __device__ C log_prob(int64_t t, int64_t k) const {
    return log_prob_[(t * s_.batch + n_) * s_.classes + k];
  }
  __device__ C alpha(int64_t t, int64_t i) const { return alpha_[t * s_.states() + i]; }
  __device__ C beta(int64_t t, int64_t i) const { return beta_[t % 2 * s_.states() + i]; }

  // Fills alpha; returns the logarithm of the label's probability.
  __device__ C RunForward() {
    for (int64_t t = 0; t < steps_; ++t) {
      C* row = alpha_ + t * s_.states();
      const C* before = row - s_.states();
      for (int64_t i = threadIdx.x; i < states_; i += blockDim.x) {
        C a = -HUGE_VAL;
        if (t == 0) {
          if (i < 2) a = C{0};
        } else {
          a = before[i];
          if (i >= 1) a = LogAdd(a, before[i - 1]);
          if (MaySkip(i)) a = LogAdd(a, before[i - 2]);
        }
        row[i] = a + log_prob(t, symbol(i));
      }
      __syncthreads();
    }
    const C last = alpha(steps_ - 1, states_ - 1);
    return states_ > 1 ? LogAdd(last, alpha(steps_ - 1, states_ - 2)) : last;
  }

  // Fills the row of beta of step t from the row of step t + 1: beta[i] is the logarithm of the
  // probability of all that follows state i.
  __device__ void StepBackward(int64_t t) {
    C* row = beta_ + t % 2 * s_.states();
    const C* after = beta_ + (t + 1) % 2 * s_.states();
    for (int64_t i = threadIdx.x; i < states_; i += blockDim.x) {
      C b = -HUGE_VAL;
      if (t == steps_ - 1) {
        if (i + 2 >= states_) b = C{0};
      } else {
        b = after[i] + log_prob(t + 1, symbol(i));
        if (i + 1 < states_) b = LogAdd(b, after[i + 1] + log_prob(t + 1, symbol(i + 1)));
        if (i + 2 < states_ && MaySkip(i + 2)) {
          b = LogAdd(b, after[i + 2] + log_prob(t + 1, symbol(i + 2)));
        }
      }
      row[i] = b;
    }
    __syncthreads();
  }

 private:
  // Returns whether state i may follow state i - 2: over a blank that separates different labels.
  // With lengths, the blank may itself be a label.
  __device__ bool MaySkip(int64_t i) const {
    return i % 2 == 1 && i >= 2 && symbol_[i] != symbol_[i - 2] && symbol_[i] != symbol_[0];
  }

  const Samples& s_;
  const int64_t n_;
  const C* log_prob_;
  C *alpha_, *beta_, *symbol_;
  int64_t steps_, states_;
  bool possible_;
};

template <typename T>
__global__ void Loss(Samples s, ComputeType<T>* workspace, T* out, bool add) {
  using C = ComputeType<T>;
  Sample<C> sample(s, workspace, blockIdx.x);
  const C loss = sample.possible() ? -sample.RunForward() : C{0};
  if (threadIdx.x == 0) StoreTo(out + blockIdx.x, loss, add);
}

// Computes the gradient, with p the probability of the label:
//
//   d loss / d x[t, k] = softmax(x)[t, k] - (sum over states s of class k of alpha * beta) / p
//
// Each thread computes one class and visits all states, because several states may share a class.
template <typename T>
__global__ void Gradient(Samples s, ComputeType<T>* workspace, const T* ograd, T* grad, bool add) {
  using C = ComputeType<T>;
  const int64_t n = blockIdx.x;
  Sample<C> sample(s, workspace, n);
  const C head = ConvertElement<C>(ograd[n]);
  const C log_p = sample.possible() ? sample.RunForward() : C{0};
  const int64_t steps = sample.possible() ? sample.steps() : 0;
  for (int64_t t = s.steps - 1; t >= steps && !add; --t) {
    for (int64_t k = threadIdx.x; k < s.classes; k += blockDim.x) {
      StoreTo(grad + (t * s.batch + n) * s.classes + k, C{0}, false);
    }
  }
  for (int64_t t = steps - 1; t >= 0; --t) {
    sample.StepBackward(t);
    for (int64_t k = threadIdx.x; k < s.classes; k += blockDim.x) {
      C g = head * exp(sample.log_prob(t, k));
      for (int64_t i = 0; i < sample.states(); ++i) {
        if (sample.symbol(i) == k) g -= head * exp(sample.alpha(t, i) + sample.beta(t, i) - log_p);
      }
      StoreTo(grad + (t * s.batch + n) * s.classes + k, g, add);
    }
  }
}

Samples SamplesOf(const CtcLossParam& param, absl::Span<const ArrayView> inputs) {
  const Shape& data = inputs[kData].shape;
  const TypedArray none = {nullptr, DType::kInt32};
  return {.steps = data[0],
          .batch = data[1],
          .classes = data[2],
          .labels = inputs[kLabel].shape[1],
          .blank_first = param.blank_label == CtcLossParam::kFirst,
          .label = Typed(inputs[kLabel]),
          .data_lengths = param.use_data_lengths ? Typed(inputs[param.data_lengths()]) : none,
          .label_lengths = param.use_label_lengths ? Typed(inputs[param.label_lengths()]) : none};
}

absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  const Samples s = SamplesOf(c.param<CtcLossParam>(), c.inputs);
  return Prepared{.workspace_bytes = (s.log_probabilities() + s.batch * s.share()) *
                                     (c.inputs[kData].dtype == DType::kFloat64 ? 8 : 4)};
}

// Fills the log probabilities of all samples.
template <typename C>
absl::Status LogProbabilities(const KernelContext& c, const Samples& s) {
  const TypedArray none = {nullptr, DType::kInt32};
  const ArrayView logs = {c.workspace, c.inputs[kData].shape, DTypeOf<C>()};
  return LaunchSoftmax<SoftmaxForm::kLogSoftmax>(
      c, PlanSets(s.steps * s.batch, s.classes, 1, MaxThreadsFor(logs.dtype, logs.dtype), kMaxHeld),
      c.inputs[kData], none, 1.0, logs, false);
}

dim3 ThreadsFor(int64_t work) { return dim3(LanesFor(work, kSetThreads)); }

absl::Status CtcLossGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const Samples s = SamplesOf(c.param<CtcLossParam>(), c.inputs);
  if (s.batch == 0) return absl::OkStatus();
  return DispatchCudaFloat(c.inputs[kData].dtype, [&](auto type) -> absl::Status {
    using T = typename decltype(type)::type;
    using C = ComputeType<T>;
    COOPER_RETURN_IF_ERROR(LogProbabilities<C>(c, s));
    return Launch(c, dim3(static_cast<unsigned>(s.batch)), ThreadsFor(s.states()), Loss<T>, s,
                  static_cast<C*>(c.workspace), c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
  });
}

absl::Status CtcLossBackwardGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const Samples s = SamplesOf(c.param<CtcLossParam>(), c.inputs);
  if (s.batch == 0) return absl::OkStatus();
  return DispatchCudaFloat(c.inputs[kData].dtype, [&](auto type) -> absl::Status {
    using T = typename decltype(type)::type;
    using C = ComputeType<T>;
    COOPER_RETURN_IF_ERROR(LogProbabilities<C>(c, s));
    const int64_t work = s.states() > s.classes ? s.states() : s.classes;
    return Launch(c, dim3(static_cast<unsigned>(s.batch)), ThreadsFor(work), Gradient<T>, s,
                  static_cast<C*>(c.workspace), c.inputs.back().as<T>(), c.outputs[0].as<T>(),
                  c.reqs[0] == WriteReq::kAdd);
  });
}

COOPER_REGISTER_KERNEL(CTCLoss, DeviceType::kGpu, kCudaFloats, CtcLossGpu, Prepare);
COOPER_REGISTER_KERNEL(_backward_ctc_loss, DeviceType::kGpu, kCudaFloats, CtcLossBackwardGpu,
                       Prepare);

}  // namespace
}  // namespace cooper
