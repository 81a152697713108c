// Kernels of UpSampling and its gradient.

#include <algorithm>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/convolution/convolution_product.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/upsampling_param.h"

namespace cooper {
namespace {

// Describes sample_type bilinear as a transposed convolution in which each channel is its own
// group.
ConvolutionProduct BilinearProduct(const UpSamplingParam& param, const Shape& data,
                                   const Shape& output) {
  ConvolutionProduct p;
  p.batch = data[0];
  p.groups = data[1];
  p.filters = 1;
  for (int i = 1; i < 3; ++i) {
    p.g.in[i] = output[i + 1];
    p.g.out[i] = data[i + 1];
    p.g.kernel[i] = param.kernel();
    p.g.stride[i] = param.scale;
    p.g.pad[i] = param.scale / 2;
  }
  return p;
}

// Calls fn(first element of the plane in the large array, in the small one) for every plane of the
// input. Its channels begin at `channel` of the large array.
template <typename Fn>
void ForEachPlane(const Shape& small, const Shape& large, int64_t channel, Fn&& fn) {
  ParallelFor(small[0] * small[1], 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t to = i / small[1] * large[1] + channel + i % small[1];
      fn(to * large[2] * large[3], i * small[2] * small[3]);
    }
  });
}

// Writes or adds each of n elements twice.
template <typename T>
void RepeatTwice(const T* in, int64_t n, bool add, T* out) {
  for (int64_t x = 0; x < n; ++x) {
    Store(out + 2 * x, Load(in[x]), add);
    Store(out + 2 * x + 1, Load(in[x]), add);
  }
}

template <typename T>
void NearestForward(const KernelContext& c) {
  const bool sum = c.param<UpSamplingParam>().multi_input_mode == UpSamplingParam::kSum;
  const Shape& large = c.outputs[0].shape;
  T* out = c.outputs[0].as<T>();
  int64_t channel = 0;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const Shape& small = c.inputs[i].shape;
    const T* in = c.inputs[i].as<T>();
    const int64_t scale_y = large[2] / small[2], scale_x = large[3] / small[3];
    const bool add = c.reqs[0] == WriteReq::kAdd || (sum && i > 0);
    ForEachPlane(small, large, sum ? 0 : channel, [&](int64_t to, int64_t from) {
      for (int64_t y = 0; y < large[2]; ++y) {
        T* row = out + to + y * large[3];
        const T* element = in + from + y / scale_y * small[3];
        if (!add && y % scale_y > 0) {
          std::copy_n(row - large[3], large[3], row);
        } else if (scale_x == 2) {
          RepeatTwice(element, small[3], add, row);
        } else {
          for (int64_t x = 0; x < large[3]; ++x) Store(row + x, Load(element[x / scale_x]), add);
        }
      }
    });
    channel += small[1];
  }
}

template <typename T>
void NearestBackward(const KernelContext& c) {
  using enum BilinearUpSamplingGradientArrays::Input;
  using C = ComputeType<T>;
  const bool sum = c.param<UpSamplingParam>().multi_input_mode == UpSamplingParam::kSum;
  const Shape& large = c.inputs[kOgrad].shape;
  const T* ograd = c.inputs[kOgrad].as<T>();
  int64_t channel = 0;
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    const Shape& small = c.outputs[i].shape;
    if (c.reqs[i] != WriteReq::kNull) {
      T* grad = c.outputs[i].as<T>();
      const int64_t scale_y = large[2] / small[2], scale_x = large[3] / small[3];
      ForEachPlane(small, large, sum ? 0 : channel, [&](int64_t from, int64_t to) {
        for (int64_t y = 0; y < small[2]; ++y) {
          for (int64_t x = 0; x < small[3]; ++x) {
            C total = 0;
            for (int64_t v = y * scale_y; v < (y + 1) * scale_y; ++v) {
              for (int64_t u = x * scale_x; u < (x + 1) * scale_x; ++u) {
                total += Load(ograd[from + v * large[3] + u]);
              }
            }
            Store(grad + to + y * small[3] + x, total, c.reqs[i] == WriteReq::kAdd);
          }
        }
      });
    }
    channel += small[1];
  }
}

bool IsBilinear(const OpCall& call) {
  return call.param<UpSamplingParam>().sample_type == UpSamplingParam::kBilinear;
}

// Matrix products have no code for float16; nearest-neighbour upsampling does.
absl::Status CheckBilinearDType(DType dtype) {
  if (kFloat32Or64.contains(dtype)) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("no cpu kernel for sample_type bilinear of ",
                                               DTypeName(dtype), "; it takes ",
                                               kFloat32Or64.ToString()));
}

absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  using enum BilinearUpSamplingArrays::Input;
  if (!IsBilinear(c.call)) return Prepared{};
  const ArrayView& data = c.inputs[kData];
  COOPER_RETURN_IF_ERROR(CheckBilinearDType(data.dtype));
  const auto& param = c.param<UpSamplingParam>();
  return Prepared{.workspace_bytes = ProductWorkspaceBytes(
                      BilinearProduct(param, data.shape, c.outputs[0].shape), data.dtype)};
}
absl::StatusOr<Prepared> PrepareBackward(const PrepareContext& c) {
  using enum BilinearUpSamplingGradientArrays::Input;
  if (!IsBilinear(c.call)) return Prepared{};
  const ArrayView& ograd = c.inputs[kOgrad];
  COOPER_RETURN_IF_ERROR(CheckBilinearDType(ograd.dtype));
  const auto& param = c.param<UpSamplingParam>();
  return Prepared{.workspace_bytes = ProductWorkspaceBytes(
                      BilinearProduct(param, c.inputs[kData].shape, ograd.shape), ograd.dtype)};
}

absl::Status UpSamplingCpu(const KernelContext& c) {
  using enum BilinearUpSamplingArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  if (!IsBilinear(c.call)) {
    return DispatchFloat(c.outputs[0].dtype,
                         [&](auto type) { NearestForward<typename decltype(type)::type>(c); });
  }
  return DispatchFloat32Or64(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const ConvolutionProduct p =
        BilinearProduct(c.param<UpSamplingParam>(), c.inputs[kData].shape, c.outputs[0].shape);
    ImageFromMap(p, c.inputs[kData].as<T>(), c.inputs[kWeight].as<T>(), c.outputs[0].as<T>(),
                 c.reqs[0] == WriteReq::kAdd, static_cast<T*>(c.workspace));
  });
}

absl::Status UpSamplingBackwardCpu(const KernelContext& c) {
  using enum BilinearUpSamplingGradientArrays::Input;
  using enum BilinearUpSamplingGradientArrays::Output;
  if (!IsBilinear(c.call)) {
    return DispatchFloat(c.inputs[kOgrad].dtype,
                         [&](auto type) { NearestBackward<typename decltype(type)::type>(c); });
  }
  return DispatchFloat32Or64(c.inputs[kOgrad].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const T* ograd = c.inputs[kOgrad].as<T>();
    const ConvolutionProduct p =
        BilinearProduct(c.param<UpSamplingParam>(), c.inputs[kData].shape, c.inputs[kOgrad].shape);
    T* workspace = static_cast<T*>(c.workspace);
    if (c.reqs[0] != WriteReq::kNull) {
      MapFromImage(p, ograd, c.inputs[kWeight].as<T>(), c.outputs[0].as<T>(),
                   c.reqs[0] == WriteReq::kAdd, workspace);
    }
    if (c.reqs[kWeightGrad] != WriteReq::kNull) {
      WeightFromBoth(p, ograd, c.inputs[kData].as<T>(), c.outputs[kWeightGrad].as<T>(),
                     c.reqs[kWeightGrad] == WriteReq::kAdd, workspace);
    }
  });
}

COOPER_REGISTER_KERNEL(UpSampling, DeviceType::kCpu, kFloats, UpSamplingCpu, Prepare);
COOPER_REGISTER_KERNEL(_backward_UpSampling, DeviceType::kCpu, kFloats, UpSamplingBackwardCpu,
                       PrepareBackward);

}  // namespace
}  // namespace cooper
