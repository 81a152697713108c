// Kernels of CTCLoss and its gradient: the forward and backward variables of Graves et al.,
// "Connectionist Temporal Classification" (ICML 2006), in logarithms.

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/loss/ctc_loss_param.h"

namespace cooper {
namespace {

using enum CtcLossArrays::Input;

int64_t IntegerAt(const ArrayView& view, int64_t i) {
  return DispatchDType(view.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    return ConvertElement<int64_t>(view.as<T>()[i]);
  });
}

template <typename C>
C LogAdd(C a, C b) {
  if (a < b) std::swap(a, b);
  return b == -std::numeric_limits<C>::infinity() ? a : a + std::log1p(std::exp(b - a));
}

// Sizes of one sample's share of the workspace, for at most L labels, in elements.
struct Room {
  int64_t steps, classes, states;  // states = 2 L + 1

  int64_t elements() const { return steps * classes + steps * states + 2 * states + states; }
};

Room RoomFor(const Shape& data, const Shape& label) { return {data[0], data[2], 2 * label[1] + 1}; }

template <typename C>
class Sample {
 public:
  Sample(const KernelContext& c, const Room& room, C* workspace, int64_t n)
      : room_(room),
        log_prob_(workspace),
        alpha_(log_prob_ + room.steps * room.classes),
        beta_(alpha_ + room.steps * room.states),
        symbol_(beta_ + 2 * room.states) {
    const auto& param = c.param<CtcLossParam>();
    const ArrayView& label = c.inputs[kLabel];
    const int64_t most = label.shape[1];
    steps_ = room.steps;
    if (param.use_data_lengths) {
      steps_ = std::clamp<int64_t>(IntegerAt(c.inputs[param.data_lengths()], n), 0, room.steps);
    }
    blank_ = param.blank_label == CtcLossParam::kFirst ? 0 : room.classes - 1;
    int64_t length = most;
    if (param.use_label_lengths) {
      length = std::clamp<int64_t>(IntegerAt(c.inputs[param.label_lengths()], n), 0, most);
    } else {
      const int64_t padding = param.blank_label == CtcLossParam::kFirst ? 0 : -1;
      for (length = 0; length < most; ++length) {
        if (IntegerAt(label, n * most + length) == padding) break;
      }
    }
    states_ = 2 * length + 1;
    int64_t repeats = 0;
    for (int64_t s = 0; s < states_; ++s) {
      // The symbol is stored as a number of type C, which is exact because classes are few.
      symbol_[s] = s % 2 == 0 ? static_cast<C>(blank_)
                              : static_cast<C>(std::clamp<int64_t>(
                                    IntegerAt(label, n * most + s / 2), 0, room.classes - 1));
      if (s >= 3 && s % 2 == 1) repeats += symbol_[s] == symbol_[s - 2];
    }
    // A label that needs more steps than the data has gets a loss and a gradient of 0.
    possible_ = length + repeats <= steps_ && steps_ > 0;
  }

  bool possible() const { return possible_; }
  int64_t steps() const { return steps_; }
  C log_prob(int64_t t, int64_t k) const { return log_prob_[t * room_.classes + k]; }
  C alpha(int64_t t, int64_t s) const { return alpha_[t * room_.states + s]; }
  int64_t symbol(int64_t s) const { return static_cast<int64_t>(symbol_[s]); }

  // Step t of the sample is at data + t * stride.
  template <typename T>
  void SetLogProbabilities(const T* data, int64_t stride) {
    for (int64_t t = 0; t < steps_; ++t) {
      const T* x = data + t * stride;
      C* y = log_prob_ + t * room_.classes;
      C top = Load(x[0]), sum = 0;
      for (int64_t k = 1; k < room_.classes; ++k) top = std::max<C>(top, Load(x[k]));
      for (int64_t k = 0; k < room_.classes; ++k) sum += std::exp(Load(x[k]) - top);
      const C log_sum = std::log(sum) + top;
      for (int64_t k = 0; k < room_.classes; ++k) y[k] = Load(x[k]) - log_sum;
    }
  }

  // Fills alpha; returns the logarithm of the label's probability.
  C RunForward() {
    for (int64_t t = 0; t < steps_; ++t) {
      C* row = alpha_ + t * room_.states;
      const C* before = row - room_.states;
      for (int64_t s = 0; s < states_; ++s) {
        C a = kNone;
        if (t == 0) {
          if (s < 2) a = C{0};
        } else {
          a = before[s];
          if (s >= 1) a = LogAdd(a, before[s - 1]);
          if (MaySkip(s)) a = LogAdd(a, before[s - 2]);
        }
        row[s] = a + log_prob(t, symbol(s));
      }
    }
    const C last = alpha(steps_ - 1, states_ - 1);
    return states_ > 1 ? LogAdd(last, alpha(steps_ - 1, states_ - 2)) : last;
  }

  // Calls fn(t, beta) from the last step to the first: beta[s] is the logarithm of the probability
  // of all that follows state s of step t.
  template <typename Fn>
  void RunBackward(Fn&& fn) {
    for (int64_t t = steps_ - 1; t >= 0; --t) {
      C* row = beta_ + t % 2 * room_.states;
      const C* after = beta_ + (t + 1) % 2 * room_.states;
      for (int64_t s = 0; s < states_; ++s) {
        C b = kNone;
        if (t == steps_ - 1) {
          if (s + 2 >= states_) b = C{0};
        } else {
          b = after[s] + log_prob(t + 1, symbol(s));
          if (s + 1 < states_) b = LogAdd(b, after[s + 1] + log_prob(t + 1, symbol(s + 1)));
          if (s + 2 < states_ && MaySkip(s + 2)) {
            b = LogAdd(b, after[s + 2] + log_prob(t + 1, symbol(s + 2)));
          }
        }
        row[s] = b;
      }
      fn(t, row);
    }
  }

  int64_t states() const { return states_; }

 private:
  static constexpr C kNone = -std::numeric_limits<C>::infinity();

  // Returns whether state s may follow state s - 2: over a blank that separates different labels.
  // With lengths, the blank may itself be a label.
  bool MaySkip(int64_t s) const {
    return s % 2 == 1 && s >= 2 && symbol_[s] != symbol_[s - 2] && symbol_[s] != symbol_[0];
  }

  const Room room_;
  C* const log_prob_;
  C* const alpha_;
  C* const beta_;
  C* const symbol_;
  int64_t steps_ = 0, states_ = 0, blank_ = 0;
  bool possible_ = false;
};

// Calls fn(sample, n) for every sample.
template <typename T, typename Fn>
void ForEachSample(const KernelContext& c, Fn&& fn) {
  using C = ComputeType<T>;
  const Shape& shape = c.inputs[kData].shape;
  const Room room = RoomFor(shape, c.inputs[kLabel].shape);
  ParallelForPlain(shape[1], 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      C* workspace = static_cast<C*>(c.workspace) + n * room.elements();
      Sample<C> sample(c, room, workspace, n);
      sample.SetLogProbabilities(c.inputs[kData].as<T>() + n * shape[2], shape[1] * shape[2]);
      fn(sample, n);
    }
  });
}

template <typename T>
void Forward(const KernelContext& c) {
  using C = ComputeType<T>;
  ForEachSample<T>(c, [&](Sample<C>& sample, int64_t n) {
    const C loss = sample.possible() ? -sample.RunForward() : C{0};
    Store(c.outputs[0].as<T>() + n, loss, c.reqs[0] == WriteReq::kAdd);
  });
}

// Computes the gradient, with p the probability of the label:
//
//   d loss / d x[t, k] = softmax(x)[t, k] - (sum over states s of class k of alpha * beta) / p
template <typename T>
void Backward(const KernelContext& c) {
  using C = ComputeType<T>;
  const Shape& shape = c.inputs[kData].shape;
  const T* ograd = c.inputs.back().as<T>();
  T* grad = c.outputs[0].as<T>();
  if (c.reqs[0] == WriteReq::kWrite) std::fill_n(grad, c.outputs[0].size(), T{0});
  ForEachSample<T>(c, [&](Sample<C>& sample, int64_t n) {
    if (!sample.possible()) return;
    const C head = Load(ograd[n]);
    const C log_p = sample.RunForward();
    sample.RunBackward([&](int64_t t, const C* beta) {
      T* to = grad + (t * shape[1] + n) * shape[2];
      for (int64_t k = 0; k < shape[2]; ++k) {
        Store(to + k, head * std::exp(sample.log_prob(t, k)), true);
      }
      for (int64_t s = 0; s < sample.states(); ++s) {
        Store(to + sample.symbol(s), -head * std::exp(sample.alpha(t, s) + beta[s] - log_p), true);
      }
    });
  });
}

absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  return Prepared{.workspace_bytes =
                      RoomFor(c.inputs[kData].shape, c.inputs[kLabel].shape).elements() *
                      c.inputs[kData].shape[1] *
                      (c.inputs[kData].dtype == DType::kFloat64 ? 8 : 4)};
}

absl::Status CtcLossCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat(c.inputs[kData].dtype,
                       [&](auto type) { Forward<typename decltype(type)::type>(c); });
}

absl::Status CtcLossBackwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat(c.inputs[kData].dtype,
                       [&](auto type) { Backward<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(CTCLoss, DeviceType::kCpu, kFloats, CtcLossCpu, Prepare);
COOPER_REGISTER_KERNEL(_backward_ctc_loss, DeviceType::kCpu, kFloats, CtcLossBackwardCpu, Prepare);

}  // namespace
}  // namespace cooper
