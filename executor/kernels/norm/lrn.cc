// Kernels of LRN and its gradient.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/vector_log.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/norm_param.h"

namespace cooper {
namespace {

// Calls fn(at, first, last, area) for every channel of each image, which has `area` positions. `at`
// is the channel's first element. The channels of its window begin at `first`, `first + area` and
// so on, below `last`.
template <typename Fn>
void ForEachChannel(const Shape& shape, int64_t nsize, Fn&& fn) {
  const int64_t channels = shape[1];
  const int64_t area = shape[2] * shape[3];
  ParallelFor(shape[0] * channels, RowGrain(area, 4096), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t k = i % channels;
      const int64_t first = std::max<int64_t>(0, k - nsize / 2);
      const int64_t last = std::min(channels, k + nsize / 2 + 1);
      fn(i * area, (i - k + first) * area, (i - k + last) * area, area);
    }
  });
}

// The number of positions of a channel that are processed together.
constexpr int64_t kLrnBlock = 128;

// Returns x^(-1/4) with a relative error of 1e-7, for x between these bounds. The first guess is
// off by 3 %: it comes from the bits of x as an integer, which are about its logarithm. Two steps
// of Newton's method with the next term of its series follow. This is much faster than roots.
constexpr float kMinModerate = 1e-30F, kMaxModerate = 1e30F;
inline float InverseFourthRoot(float x) {
  auto y = std::bit_cast<float>(0x4F586000u - (std::bit_cast<uint32_t>(x) >> 2));
  for (int step = 0; step < 2; ++step) {
    const float square = y * y;
    const float rest = 1 - x * square * square;
    y += y * rest * (0.25F + 0.15625F * rest);
  }
  return y;
}

// Computes norm^-beta in place, in float with a relative error of 4e-7. A beta of 3/4 is the common
// case. Norms outside of the bounds above are rare; one such norm makes the whole block use roots.
template <typename C>
class NormPower {
 public:
  explicit NormPower(double beta) : beta_(static_cast<C>(beta)), roots_(beta == 0.75) {}

  void Apply(C* norms, int64_t n) const {
    if (!roots_) {
      for (int64_t i = 0; i < n; ++i) norms[i] = VectorPow(norms[i], -beta_);
      return;
    }
    if constexpr (std::is_same_v<C, float>) {
      int beyond = 0;
      for (int64_t i = 0; i < n; ++i) {
        beyond |= norms[i] >= kMinModerate && norms[i] <= kMaxModerate ? 0 : 1;
      }
      if (beyond == 0) {
        for (int64_t i = 0; i < n; ++i) {
          const float root = InverseFourthRoot(norms[i]);
          norms[i] = root * root * root;
        }
        return;
      }
    }
    for (int64_t i = 0; i < n; ++i) {
      norms[i] = C{1} / (std::sqrt(norms[i]) * std::sqrt(std::sqrt(norms[i])));
    }
  }

 private:
  C beta_;
  bool roots_;
};

// Calls fn(first position, count) for each block of an area.
template <typename Fn>
void ForEachBlock(int64_t area, Fn&& fn) {
  for (int64_t i = 0; i < area; i += kLrnBlock) fn(i, std::min(kLrnBlock, area - i));
}

template <typename T>
void LrnForward(const KernelContext& c) {
  using enum LrnArrays::Input;
  using enum LrnArrays::Output;
  using C = ComputeType<T>;
  const auto& param = c.param<LrnParam>();
  const C alpha = static_cast<C>(param.alpha / static_cast<double>(param.nsize));
  const C knorm = static_cast<C>(param.knorm);
  const NormPower<C> power(param.beta);
  const T* data = c.inputs[kData].as<T>();
  const WriteReq req = c.reqs[0], norm_req = c.reqs[kNorm];
  T* const out = c.outputs[0].as<T>();
  T* const norms = c.outputs[kNorm].as<T>();
  ForEachChannel(c.inputs[kData].shape, param.nsize,
                 [=](int64_t at, int64_t first, int64_t last, int64_t area) {
                   ForEachBlock(area, [=](int64_t begin, int64_t n) {
                     C norm[kLrnBlock] = {};
                     for (int64_t k = first + begin; k < last; k += area) {
                       for (int64_t i = 0; i < n; ++i)
                         norm[i] += Load(data[k + i]) * Load(data[k + i]);
                     }
                     for (int64_t i = 0; i < n; ++i) norm[i] = knorm + alpha * norm[i];
                     const int64_t to = at + begin;
                     if (norm_req != WriteReq::kNull) {
                       for (int64_t i = 0; i < n; ++i) {
                         Store(norms + to + i, norm[i], norm_req == WriteReq::kAdd);
                       }
                     }
                     if (req == WriteReq::kNull) return;
                     power.Apply(norm, n);
                     for (int64_t i = 0; i < n; ++i) {
                       Store(out + to + i, Load(data[to + i]) * norm[i], req == WriteReq::kAdd);
                     }
                   });
                 });
}

// Computes g * norm^-beta - 2 beta alpha / nsize * x * sum over the window of g * x * norm^(-beta -
// 1).
template <typename T>
void LrnBackward(const KernelContext& c) {
  using enum LrnGradientArrays::Input;
  using C = ComputeType<T>;
  const auto& param = c.param<LrnParam>();
  const C alpha = static_cast<C>(param.alpha / static_cast<double>(param.nsize));
  const C beta = static_cast<C>(param.beta);
  const NormPower<C> power(param.beta);
  const T* ograd = c.inputs[kOgrad].as<T>();
  const T* data = c.inputs[kData].as<T>();
  const T* norms = c.inputs[kNorm].as<T>();
  T* grad = c.outputs[0].as<T>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ForEachChannel(
      c.outputs[0].shape, param.nsize, [=](int64_t at, int64_t first, int64_t last, int64_t area) {
        ForEachBlock(area, [=](int64_t begin, int64_t n) {
          C sum[kLrnBlock] = {}, powers[kLrnBlock], own[kLrnBlock];
          for (int64_t k = first + begin; k < last; k += area) {
            for (int64_t i = 0; i < n; ++i) powers[i] = Load(norms[k + i]);
            power.Apply(powers, n);
            if (k == at + begin) std::copy_n(powers, n, own);
            for (int64_t i = 0; i < n; ++i) {
              sum[i] += Load(ograd[k + i]) * Load(data[k + i]) * powers[i] / Load(norms[k + i]);
            }
          }
          for (int64_t i = 0; i < n; ++i) {
            const int64_t k = at + begin + i;
            const C g = Load(ograd[k]) * own[i] - 2 * beta * alpha * sum[i] * Load(data[k]);
            Store(grad + k, g, add);
          }
        });
      });
}

absl::Status LrnCpu(const KernelContext& c) {
  using enum LrnArrays::Input;
  return DispatchFloat(c.inputs[kData].dtype,
                       [&](auto type) { LrnForward<typename decltype(type)::type>(c); });
}
absl::Status LrnBackwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype,
                       [&](auto type) { LrnBackward<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(LRN, DeviceType::kCpu, kFloats, LrnCpu);
COOPER_REGISTER_KERNEL(_backward_LRN, DeviceType::kCpu, kFloats, LrnBackwardCpu);

}  // namespace
}  // namespace cooper
