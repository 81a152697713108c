// GPU kernels of _contrib_box_encode and _contrib_box_decode. A thread computes one number.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/detection/box_coding.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "symbol/ops/detection/box_coding_param.h"

namespace cooper {
namespace {

// The inputs of _contrib_box_encode. Passed to the kernel by value.
template <typename T>
struct EncodeInputs {
  int64_t num_anchors, num_refs;  // of an image
  const T *samples, *matches, *anchors, *refs, *means, *stds;
};

// Writes `count` numbers; either output may be null.
template <typename T>
__global__ void Encode(int64_t count, EncodeInputs<T> in, T* targets, bool add, T* masks,
                       bool add_mask) {
  for (int64_t at = FirstElement(); at < count; at += ElementStep()) {
    const int64_t i = at / 4, match = MatchedBox(in.samples[i], in.matches[i], in.num_refs);
    if (masks != nullptr) StoreTo(masks + at, match < 0 ? T{0} : T{1}, add_mask);
    if (targets == nullptr) continue;
    T target = 0;
    if (match >= 0) {
      target = EncodedBoxNumber(in.refs + (i / in.num_anchors * in.num_refs + match) * 4,
                                in.anchors + i * 4, static_cast<int>(at % 4), in.means, in.stds);
    }
    StoreTo(targets + at, target, add);
  }
}

template <typename T>
__global__ void Decode(int64_t count, int64_t num_anchors, BoxDecoder<T> decoder, const T* codes,
                       const T* anchors, T* out, bool add) {
  for (int64_t at = FirstElement(); at < count; at += ElementStep()) {
    const int64_t i = at / 4;
    const T value =
        decoder.Corner(codes + i * 4, anchors + i % num_anchors * 4, static_cast<int>(at % 4));
    StoreTo(out + at, value, add);
  }
}

template <typename T>
absl::Status RunEncode(const KernelContext& c) {
  using enum BoxEncodeArrays::Input;
  using enum BoxEncodeArrays::Output;
  const auto input = [&](int i) { return c.inputs[i].as<const T>(); };
  const EncodeInputs<T> in = {c.inputs[kAnchors].shape[1],
                              c.inputs[kRefs].shape[1],
                              input(kSamples),
                              input(kMatches),
                              input(kAnchors),
                              input(kRefs),
                              input(kMeans),
                              input(kStds)};
  const int64_t count = c.inputs[kAnchors].size();
  return LaunchElements(c, count, Encode<T>, count, in, OutputOrNull<T>(c, kTarget),
                        c.reqs[kTarget] == WriteReq::kAdd, OutputOrNull<T>(c, kMask),
                        c.reqs[kMask] == WriteReq::kAdd);
}

template <typename T>
absl::Status RunDecode(const KernelContext& c) {
  using enum BoxDecodeArrays::Input;
  const int64_t count = c.outputs[0].size();
  return LaunchElements(c, count, Decode<T>, count, c.inputs[kData].shape[1],
                        BoxDecoder<T>(c.param<BoxDecodeParam>()), c.inputs[kData].as<const T>(),
                        c.inputs[kAnchors].as<const T>(), c.outputs[0].as<T>(),
                        c.reqs[0] == WriteReq::kAdd);
}

absl::Status BoxEncodeGpu(const KernelContext& c) {
  return c.inputs[0].dtype == DType::kFloat64 ? RunEncode<double>(c) : RunEncode<float>(c);
}

absl::Status BoxDecodeGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return c.outputs[0].dtype == DType::kFloat64 ? RunDecode<double>(c) : RunDecode<float>(c);
}

COOPER_REGISTER_KERNEL(_contrib_box_encode, DeviceType::kGpu, kFloat32Or64, BoxEncodeGpu);
COOPER_REGISTER_KERNEL(_contrib_box_decode, DeviceType::kGpu, kFloat32Or64, BoxDecodeGpu);

}  // namespace
}  // namespace cooper
