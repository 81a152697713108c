// Kernels of _blocked_batch_norm and its gradient, with the formulas of batch_norm.cc. They process
// a block of channels at a time, whose images mostly stay in a cache from one pass to the next.
// With relu, the gradient recomputes from data where the output was 0.

#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/norm/blocked_statistics.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/fused/blocked_batch_norm_param.h"

namespace cooper {
namespace {

template <int B>
void Forward(const KernelContext& c) {
  using enum BatchNormArrays::Input;
  using enum BatchNormArrays::Output;
  const auto& param = c.param<BlockedBatchNormParam>();
  const BlockedExtents e(c.inputs[kData].shape);
  const auto* const data = c.inputs[kData].as<float>();
  auto* const gamma = c.inputs[kGamma].as<float>();
  const auto* const beta = c.inputs[kBeta].as<float>();
  const auto* const moving_mean = c.inputs[kMovingMean].as<float>();
  const auto* const moving_var = c.inputs[kMovingVar].as<float>();
  float* const out = c.reqs[0] == WriteReq::kNull ? nullptr : c.outputs[0].as<float>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  const bool batch_stats = c.is_train && !param.use_global_stats;
  const auto eps = static_cast<float>(param.eps);
  // Without relu the floor is below every value.
  const float floor = param.relu ? 0 : -std::numeric_limits<float>::infinity();
  ParallelFor(e.blocks, RowGrain(e.per_channel() * B), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      BlockMoments<B> m;
      if (batch_stats) {
        m = MomentsOfBlock<B>(e, k, data);
      } else {
        for (int j = 0; j < B; ++j) m.mean[j] = moving_mean[k * B + j];
        for (int j = 0; j < B; ++j) m.var[j] = moving_var[k * B + j];
      }
      ChannelLanes<B> scale, shift;
      for (int j = 0; j < B; ++j) {
        const int64_t channel = k * B + j;
        const float invstd = m.var[j] + eps == 0 ? 0 : 1 / std::sqrt(m.var[j] + eps);
        if (c.reqs[kMean] != WriteReq::kNull) {
          Store(c.outputs[kMean].as<float>() + channel, m.mean[j], c.reqs[kMean] == WriteReq::kAdd);
        }
        if (c.reqs[kVar] != WriteReq::kNull) {
          Store(c.outputs[kVar].as<float>() + channel, invstd, c.reqs[kVar] == WriteReq::kAdd);
        }
        if (param.fix_gamma && c.is_train) gamma[channel] = 1;
        scale[j] = (param.fix_gamma ? 1 : gamma[channel]) * invstd;
        shift[j] = beta[channel];
      }
      if (out == nullptr) continue;
      e.ForEach<B>(k, [&](int64_t i) {
        for (int j = 0; j < B; ++j) {
          const float value = (data[i + j] - m.mean[j]) * scale[j] + shift[j];
          // NaN stays NaN.
          Store(out + i + j, value < floor ? floor : value, add);
        }
      });
    }
  });
}

template <int B>
void Backward(const KernelContext& c) {
  using enum BlockedBatchNormGradientArrays::Input;
  using enum BatchNormGradientArrays::Output;
  const auto& param = c.param<BlockedBatchNormParam>();
  const BlockedExtents e(c.inputs[kOgrad].shape);
  const auto* const ograd = c.inputs[kOgrad].as<float>();
  const auto* const saved_mean = c.inputs[kMean].as<float>();
  const auto* const saved_invstd = c.inputs[kVar].as<float>();
  const auto* const data = c.inputs[kData].as<float>();
  const auto* const gamma = c.inputs[kGamma].as<float>();
  const auto* const beta = c.inputs[kBeta].as<float>();
  auto* const moving_mean = c.inputs[kMovingMean].as<float>();
  auto* const moving_var = c.inputs[kMovingVar].as<float>();
  const bool batch_stats = c.is_train && !param.use_global_stats;
  const auto eps = static_cast<float>(param.eps);
  const auto momentum = static_cast<float>(param.momentum);
  const auto n = static_cast<float>(e.per_channel());
  // Without relu the floor is NaN: no value compares below it.
  const float floor = param.relu ? 0 : std::numeric_limits<float>::quiet_NaN();
  ParallelFor(e.blocks, RowGrain(e.per_channel() * B), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      ChannelLanes<B> mean, invstd, scale, shift;
      for (int j = 0; j < B; ++j) {
        const int64_t channel = k * B + j;
        if (batch_stats) {
          mean[j] = saved_mean[channel];
          invstd[j] = saved_invstd[channel];
          const float var = invstd[j] == 0 ? 0 : 1 / (invstd[j] * invstd[j]) - eps;
          if (n > 0) {
            moving_mean[channel] = moving_mean[channel] * momentum + mean[j] * (1 - momentum);
            moving_var[channel] = moving_var[channel] * momentum + var * (1 - momentum);
          }
        } else {
          mean[j] = moving_mean[channel];
          invstd[j] = 1 / std::sqrt(moving_var[channel] + eps);
        }
        scale[j] = invstd[j] * (param.fix_gamma ? 1 : gamma[channel]);
        shift[j] = beta[channel];
      }
      // The gradient with respect to relu's input.
      const auto head = [&](int64_t i, int j) {
        const float value = (data[i] - mean[j]) * scale[j] + shift[j];
        const float gradient = ograd[i];  // loaded unconditionally, so that the loop vectorises
        return value <= floor ? 0.0f : gradient;
      };
      const ChannelLanes<B> sum = SumOfBlock<B>(e, k, head);
      const ChannelLanes<B> dot =
          SumOfBlock<B>(e, k, [&](int64_t i, int j) { return head(i, j) * (data[i] - mean[j]); });
      if (c.reqs[0] != WriteReq::kNull) {
        const bool add = c.reqs[0] == WriteReq::kAdd;
        auto* const grad = c.outputs[0].as<float>();
        ChannelLanes<B> head_mean, slope;
        for (int j = 0; j < B && batch_stats; ++j) {
          head_mean[j] = sum[j] / n;
          slope[j] = dot[j] * invstd[j] * invstd[j] / n;
        }
        e.ForEach<B>(k, [&](int64_t i) {
          for (int j = 0; j < B; ++j) {
            const float d = data[i + j] - mean[j];
            Store(grad + i + j, (head(i + j, j) - head_mean[j] - d * slope[j]) * scale[j], add);
          }
        });
      }
      for (int j = 0; j < B; ++j) {
        const int64_t channel = k * B + j;
        if (c.reqs[kGammaGrad] != WriteReq::kNull) {
          Store(c.outputs[kGammaGrad].as<float>() + channel,
                param.fix_gamma ? 0 : dot[j] * invstd[j], c.reqs[kGammaGrad] == WriteReq::kAdd);
        }
        if (c.reqs[kBetaGrad] != WriteReq::kNull) {
          Store(c.outputs[kBetaGrad].as<float>() + channel, sum[j],
                c.reqs[kBetaGrad] == WriteReq::kAdd);
        }
      }
    }
  });
}

// Checks that kernels exist for the size of blocks: a block has as many channels as a vector of
// some processor has floats.
absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  const int64_t block = c.param<BlockedBatchNormParam>().block;
  if (block == 8 || block == 16) return Prepared{};
  return absl::UnimplementedError(
      absl::StrCat("blocks of ", block, " channels; there is code for 8 and 16"));
}

absl::Status ForwardCpu(const KernelContext& c) {
  c.param<BlockedBatchNormParam>().block == 8 ? Forward<8>(c) : Forward<16>(c);
  return absl::OkStatus();
}

absl::Status BackwardCpu(const KernelContext& c) {
  c.param<BlockedBatchNormParam>().block == 8 ? Backward<8>(c) : Backward<16>(c);
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_blocked_batch_norm, DeviceType::kCpu, kFloat32Only, ForwardCpu, Prepare);
COOPER_REGISTER_KERNEL(_backward_blocked_batch_norm, DeviceType::kCpu, kFloat32Only, BackwardCpu,
                       Prepare);

}  // namespace
}  // namespace cooper
