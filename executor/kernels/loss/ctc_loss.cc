// Kernels of CTCLoss and its gradient: the forward and backward variables of Graves et al.,
// "Connectionist Temporal Classification" (ICML 2006), in logarithms.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/kernels/loops/vector_log.h"
#include "executor/kernels/loops/vector_math.h"
#include "executor/kernels/softmax/softmax_row.h"
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

// Returns the logarithm of the sum of exp(a), exp(b) and exp(c), without branches.
template <typename C>
C LogSum(C a, C b, C c) {
  const C top = std::max(std::max(a, b), c);
  const C sum = VectorExpOfNonPositive(a - top) + VectorExpOfNonPositive(b - top) +
                VectorExpOfNonPositive(c - top);
  constexpr C kNone = -std::numeric_limits<C>::infinity();
  return top == kNone ? kNone : top + VectorLog(sum);
}

// Sizes of one sample's share of the workspace, for at most L labels, in elements. Rows of states
// have room for kPadding states before and behind them, whose probability is 0.
struct Room {
  static constexpr int64_t kPadding = 2;
  int64_t steps, classes, states;  // states = 2 L + 1

  int64_t row() const { return states + 2 * kPadding; }
  // The logarithms of probabilities, the rows of alpha and beta, three other rows.
  int64_t elements() const { return steps * classes + (steps + 4) * row(); }
};

Room RoomFor(const Shape& data, const Shape& label) { return {data[0], data[2], 2 * label[1] + 1}; }

template <typename C>
class Sample {
 public:
  Sample(const KernelContext& c, const Room& room, C* workspace, int64_t n)
      : room_(room),
        log_prob_(workspace),
        alpha_(log_prob_ + room.steps * room.classes + Room::kPadding),
        beta_(alpha_ + room.steps * room.row()),
        symbol_(beta_ + room.row()),
        skip_(symbol_ + room.row()),
        scratch_(skip_ + room.row()) {
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
      skip_[s] = MaySkip(s) ? C{0} : kNone;
    }
    std::fill_n(skip_ + states_, Room::kPadding, kNone);
    // A label that needs more steps than the data has gets a loss and a gradient of 0.
    possible_ = length + repeats <= steps_ && steps_ > 0;
  }

  bool possible() const { return possible_; }
  int64_t steps() const { return steps_; }
  const C* log_prob(int64_t t) const { return log_prob_ + t * room_.classes; }
  const C* alpha(int64_t t) const { return alpha_ + t * room_.row(); }
  int64_t symbol(int64_t s) const { return static_cast<int64_t>(symbol_[s]); }

  // Step t of the sample is at data + t * stride.
  template <typename T>
  void SetLogProbabilities(const T* data, int64_t stride) {
    for (int64_t t = 0; t < steps_; ++t) {
      const T* x = data + t * stride;
      C* y = log_prob_ + t * room_.classes;
      for (int64_t k = 0; k < room_.classes; ++k) y[k] = Load(x[k]);
      LogSoftmaxRow(y, room_.classes, y);
    }
  }

  // Fills alpha; returns the logarithm of the label's probability.
  C RunForward() {
    for (int64_t t = 0; t < steps_; ++t) {
      C* const row = alpha_ + t * room_.row();
      ClearPadding(row);
      if (t == 0) {
        for (int64_t s = 0; s < states_; ++s) row[s] = s < 2 ? C{0} : kNone;
      } else {
        const C* const before = row - room_.row();
        COOPER_INDEPENDENT_ITERATIONS
        for (int64_t s = 0; s < states_; ++s) {
          row[s] = LogSum(before[s], before[s - 1], before[s - 2] + skip_[s]);
        }
      }
      for (int64_t s = 0; s < states_; ++s) row[s] += log_prob(t)[symbol(s)];
    }
    const C* const last = alpha(steps_ - 1) + states_;
    return LogSum(last[-1], last[-2], kNone);
  }

  // Calls fn(t, beta) from the last step to the first: beta[s] is the logarithm of the probability
  // of all that follows state s of step t.
  template <typename Fn>
  void RunBackward(Fn&& fn) {
    for (int64_t t = steps_ - 1; t >= 0; --t) {
      if (t == steps_ - 1) {
        for (int64_t s = 0; s < states_; ++s) beta_[s] = s + 2 >= states_ ? C{0} : kNone;
      } else {
        ClearPadding(scratch_);
        for (int64_t s = 0; s < states_; ++s) scratch_[s] = beta_[s] + log_prob(t + 1)[symbol(s)];
        COOPER_INDEPENDENT_ITERATIONS
        for (int64_t s = 0; s < states_; ++s) {
          beta_[s] = LogSum(scratch_[s], scratch_[s + 1], scratch_[s + 2] + skip_[s + 2]);
        }
      }
      fn(t, beta_);
    }
  }

  // Returns exp(alpha + beta - log_p) of the states of step t, in scratch memory: the probability
  // of the label by paths through each, over its own.
  const C* Shares(int64_t t, const C* beta, C log_p) {
    const C* const row = alpha(t);
    COOPER_INDEPENDENT_ITERATIONS
    for (int64_t s = 0; s < states_; ++s) scratch_[s] = VectorExp(row[s] + beta[s] - log_p);
    return scratch_;
  }

  int64_t states() const { return states_; }

 private:
  static constexpr C kNone = -std::numeric_limits<C>::infinity();

  // Returns whether state s may follow state s - 2: over a blank that separates different labels.
  // With lengths, the blank may itself be a label.
  bool MaySkip(int64_t s) const {
    return s % 2 == 1 && s >= 2 && symbol_[s] != symbol_[s - 2] && symbol_[s] != symbol_[0];
  }
  void ClearPadding(C* row) const {
    std::fill_n(row - Room::kPadding, Room::kPadding, kNone);
    std::fill_n(row + states_, Room::kPadding, kNone);
  }

  const Room room_;
  C* const log_prob_;
  C* const alpha_;
  C* const beta_;
  C* const symbol_;
  C* const skip_;  // 0 for states that may follow the one before the previous one, else -infinity
  C* const scratch_;
  int64_t steps_ = 0, states_ = 0, blank_ = 0;
  bool possible_ = false;
};

// Calls fn(sample, n) for every sample.
template <typename T, typename Fn>
void ForEachSample(const KernelContext& c, Fn&& fn) {
  using C = ComputeType<T>;
  const Shape& shape = c.inputs[kData].shape;
  const Room room = RoomFor(shape, c.inputs[kLabel].shape);
  ParallelFor(shape[1], 1, [&](int64_t begin, int64_t end) {
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
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ForEachSample<T>(c, [&](Sample<C>& sample, int64_t n) {
    const auto row = [&](int64_t t) {
      return c.outputs[0].as<T>() + (t * shape[1] + n) * shape[2];
    };
    for (int64_t t = sample.possible() ? sample.steps() : 0; t < shape[0] && !add; ++t) {
      std::fill_n(row(t), shape[2], T{0});
    }
    if (!sample.possible()) return;
    const C head = Load(ograd[n]);
    const C log_p = sample.RunForward();
    sample.RunBackward([&](int64_t t, const C* beta) {
      T* const to = row(t);
      const C* const log_prob = sample.log_prob(t);
      for (int64_t k = 0; k < shape[2]; ++k) Store(to + k, head * VectorExp(log_prob[k]), add);
      const C* const shares = sample.Shares(t, beta, log_p);
      for (int64_t s = 0; s < sample.states(); ++s) {
        Store(to + sample.symbol(s), -head * shares[s], /*add=*/true);
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
