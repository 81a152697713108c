// GPU kernels of Dropout and its gradient. The mask has the same bits as the CPU kernel's.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/device_random.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/map_quads.h"
#include "executor/kernels/random/dropout_bits.h"
#include "executor/program/kernel.h"
#include "ndarray/base/philox.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/dropout_param.h"

namespace cooper {
namespace {

template <typename T>
__global__ void Copy(int64_t n, const T* in, T* out, bool add) {
  MapQuads(n, in, out, add, [](int64_t, T x) { return ConvertElement<ComputeType<T>>(x); });
}

// Draws four elements from each position of the stream.
__global__ void DrawMask(int64_t n, DeviceRandom source, uint32_t threshold, uint8_t* mask) {
  const Philox random = source.Get();
  for (int64_t block = FirstElement(); block * 4 < n; block += ElementStep()) {
    const auto bits = random.At(block);
    for (int64_t i = 0; i < 4 && block * 4 + i < n; ++i) {
      mask[block * 4 + i] = KeepsElement(bits[i], threshold);
    }
  }
}

// Fuses DrawMask and ApplyMask for a mask as large as the data; `mask` may be null.
template <typename T>
__global__ void DrawAndApply(int64_t n, const T* in, DeviceRandom source, uint32_t threshold,
                             ComputeType<T> scale, uint8_t* mask, T* out, bool add) {
  using C = ComputeType<T>;
  const Philox random = source.Get();
  const bool in_quads = HoldsQuads(in) && HoldsQuads(out) && (mask == nullptr || HoldsQuads(mask));
  for (int64_t block = FirstElement(); block * 4 < n; block += ElementStep()) {
    const auto bits = random.At(block);
    if (in_quads && block * 4 + 4 <= n) {
      const Quad<T> x = QuadAt(in, block);
      const auto keeps = [&](int k) -> uint8_t { return KeepsElement(bits[k], threshold); };
      if (mask != nullptr) StoreQuad(mask, block, false, keeps);
      StoreQuad(out, block, add, [&](int k) {
        return ConvertElement<C>(x.of[k]) * (static_cast<C>(keeps(k)) * scale);
      });
      continue;
    }
    for (int64_t k = 0; k < 4 && block * 4 + k < n; ++k) {
      const int64_t i = block * 4 + k;
      const uint8_t keeps = KeepsElement(bits[k], threshold);
      if (mask != nullptr) mask[i] = keeps;
      StoreTo(out + i, ConvertElement<C>(in[i]) * (static_cast<C>(keeps) * scale), add);
    }
  }
}

constexpr int kMaxAxes = 16;

// The data's extents and the mask's strides, which are 0 along axes where the mask has one element.
struct MaskIndex {
  int rank = 0;
  int64_t extents[kMaxAxes];
  int64_t strides[kMaxAxes];

  __device__ int64_t operator()(int64_t i) const {
    int64_t at = 0;
    for (int axis = rank - 1; axis >= 0; --axis) {
      at += i % extents[axis] * strides[axis];
      i /= extents[axis];
    }
    return at;
  }
};

MaskIndex IndexOf(const Shape& data, const Shape& mask) {
  MaskIndex index{.rank = data.rank()};
  int64_t stride = 1;
  for (int axis = data.rank() - 1; axis >= 0; --axis) {
    index.extents[axis] = data[axis];
    index.strides[axis] = mask[axis] == 1 ? 0 : stride;
    stride *= mask[axis];
  }
  return index;
}

template <typename T>
__global__ void ApplyMask(int64_t n, const T* in, const uint8_t* mask, ComputeType<T> scale, T* out,
                          bool add) {
  using C = ComputeType<T>;
  MapQuads(n, in, mask, out, add, [scale](int64_t, T x, uint8_t keeps) {
    return ConvertElement<C>(x) * (static_cast<C>(keeps) * scale);
  });
}

template <typename T>
__global__ void ApplyBroadcastMask(int64_t n, const T* in, const uint8_t* mask, MaskIndex index,
                                   ComputeType<T> scale, T* out, bool add) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    StoreTo(out + i, ConvertElement<C>(in[i]) * (static_cast<C>(mask[index(i)]) * scale), add);
  }
}

template <typename T>
absl::Status Apply(const KernelContext& c, const ArrayView& in, const ArrayView& mask) {
  const auto scale = static_cast<ComputeType<T>>(DropoutScale(c.param<DropoutParam>().p));
  const int64_t n = in.size();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  if (mask.size() == n) {
    return LaunchElements(c, QuadsOf(n), ApplyMask<T>, n, in.as<T>(), mask.as<uint8_t>(), scale,
                          c.outputs[0].as<T>(), add);
  }
  return LaunchElements(c, n, ApplyBroadcastMask<T>, n, in.as<T>(), mask.as<uint8_t>(),
                        IndexOf(in.shape, mask.shape), scale, c.outputs[0].as<T>(), add);
}

template <typename T>
absl::Status CopyData(const KernelContext& c) {
  const int64_t n = c.outputs[0].size();
  return LaunchElements(c, QuadsOf(n), Copy<T>, n, c.inputs[0].as<T>(), c.outputs[0].as<T>(),
                        c.reqs[0] == WriteReq::kAdd);
}

template <typename T>
absl::Status Forward(const KernelContext& c) {
  const auto& param = c.param<DropoutParam>();
  if (!param.Drops(c.is_train)) return CopyData<T>(c);
  const uint32_t threshold = DropoutThreshold(param.p);
  ArrayView mask = c.outputs[1];
  const int64_t n = c.inputs[0].size();
  if (mask.size() == n) {
    const auto scale = static_cast<ComputeType<T>>(DropoutScale(param.p));
    uint8_t* kept = c.reqs[1] == WriteReq::kNull ? nullptr : mask.as<uint8_t>();
    return LaunchElements(c, QuadsOf(n), DrawAndApply<T>, n, c.inputs[0].as<T>(), DeviceRandomOf(c),
                          threshold, scale, kept, c.outputs[0].as<T>(),
                          c.reqs[0] == WriteReq::kAdd);
  }
  if (c.reqs[1] == WriteReq::kNull) mask.data = c.workspace;
  COOPER_RETURN_IF_ERROR(LaunchElements(c, QuadsOf(mask.size()), DrawMask, mask.size(),
                                        DeviceRandomOf(c), threshold, mask.as<uint8_t>()));
  return Apply<T>(c, c.inputs[0], mask);
}

// Prepares Dropout. The workspace holds a broadcast mask if its request is kNull, because several
// elements read it.
absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  if (c.inputs[0].shape.rank() > kMaxAxes) return absl::UnimplementedError("more than 16 axes");
  const bool is_whole = c.outputs[1].size() == c.inputs[0].size();
  return Prepared{.workspace_bytes =
                      is_whole || c.reqs[1] != WriteReq::kNull ? 0 : c.outputs[1].size()};
}

absl::Status DropoutGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return DispatchCudaFloat(c.outputs[0].dtype,
                           [&](auto type) { return Forward<typename decltype(type)::type>(c); });
}

absl::Status DropoutBackwardGpu(const KernelContext& c) {
  using enum DropoutGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return DispatchCudaFloat(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    if (!c.param<DropoutParam>().Drops(c.is_train)) return CopyData<T>(c);
    return Apply<T>(c, c.inputs[kOgrad], c.inputs[kMask]);
  });
}

COOPER_REGISTER_KERNEL(Dropout, DeviceType::kGpu, kCudaFloats, DropoutGpu, Prepare);
COOPER_REGISTER_KERNEL(_backward_Dropout, DeviceType::kGpu, kCudaFloats, DropoutBackwardGpu);

}  // namespace
}  // namespace cooper
