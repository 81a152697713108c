// Kernels of _contrib_box_encode and _contrib_box_decode.

#include "executor/kernels/detection/box_coding.h"

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/detection/box_coding_param.h"

namespace cooper {
namespace {

constexpr int64_t kBoxesPerThread = 512;

template <typename T>
void Encode(const KernelContext& c) {
  using enum BoxEncodeArrays::Input;
  using enum BoxEncodeArrays::Output;
  const Shape& anchors = c.inputs[kAnchors].shape;
  const int64_t refs = c.inputs[kRefs].shape[1];
  const T *samples = c.inputs[kSamples].as<T>(), *matches = c.inputs[kMatches].as<T>();
  const T *anchor = c.inputs[kAnchors].as<T>(), *ref = c.inputs[kRefs].as<T>();
  const T *means = c.inputs[kMeans].as<T>(), *stds = c.inputs[kStds].as<T>();
  const bool add_target = c.reqs[kTarget] == WriteReq::kAdd;
  const bool add_mask = c.reqs[kMask] == WriteReq::kAdd;
  ParallelFor(anchors[0] * anchors[1], kBoxesPerThread, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t match = MatchedBox(samples[i], matches[i], refs);
      const T* box = match < 0 ? nullptr : ref + (i / anchors[1] * refs + match) * 4;
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) {
        if (c.reqs[kTarget] != WriteReq::kNull) {
          const T target = match < 0 ? T{0} : EncodedBoxNumber(box, anchor + i * 4, k, means, stds);
          Store(c.outputs[kTarget].as<T>() + i * 4 + k, target, add_target);
        }
        if (c.reqs[kMask] != WriteReq::kNull) {
          Store(c.outputs[kMask].as<T>() + i * 4 + k, match < 0 ? T{0} : T{1}, add_mask);
        }
      }
    }
  });
}

template <typename T>
void Decode(const KernelContext& c) {
  using enum BoxDecodeArrays::Input;
  const BoxDecoder<T> decoder(c.param<BoxDecodeParam>());
  const Shape& shape = c.inputs[kData].shape;
  const T *codes = c.inputs[kData].as<T>(), *anchors = c.inputs[kAnchors].as<T>();
  T* out = c.outputs[0].as<T>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ParallelFor(shape[0] * shape[1], kBoxesPerThread, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* anchor = anchors + i % shape[1] * 4;
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) {
        Store(out + i * 4 + k, decoder.Corner(codes + i * 4, anchor, k), add);
      }
    }
  });
}

absl::Status BoxEncodeCpu(const KernelContext& c) {
  return DispatchFloat32Or64(c.outputs[0].dtype,
                             [&](auto type) { Encode<typename decltype(type)::type>(c); });
}

absl::Status BoxDecodeCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype,
                             [&](auto type) { Decode<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(_contrib_box_encode, DeviceType::kCpu, kFloat32Or64, BoxEncodeCpu);
COOPER_REGISTER_KERNEL(_contrib_box_decode, DeviceType::kCpu, kFloat32Or64, BoxDecodeCpu);

}  // namespace
}  // namespace cooper
