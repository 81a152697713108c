#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_BOX_CODING_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_BOX_CODING_H_

// The arithmetic of _contrib_box_encode and _contrib_box_decode for one anchor, for the kernels of
// both devices. anchor_box.h has that of SSD's operators, whose boxes are parts of the image.
// MXNet: src/operator/contrib/bounding_box-inl.h. Host and device; T is float or double.

#include <cmath>
#include <cstdint>

#include "ndarray/base/dtype.h"
#include "ndarray/base/host_device.h"
#include "symbol/ops/detection/box_coding_param.h"
#include "symbol/ops/detection/box_format.h"

namespace cooper {

// One axis of a box: the coordinate of its center, and its side. The numbers are in the units of
// the box.
template <typename T>
struct BoxAxis {
  T center, side;

  // `box` points to the box's first number along the axis; the second one is two further.
  COOPER_HOST_DEVICE BoxAxis(const T* box, BoxFormat format) {
    side = format == BoxFormat::kCorner ? box[2] - box[0] : box[2];
    center = format == BoxFormat::kCorner ? box[0] + side / 2 : box[0];
  }
};

// Returns number i of the target of an anchor for the box `ref`, both corners. The numbers are the
// offset of the center in x and y by the anchor's sides (i = 0, 1), and the logarithms of width and
// height by those of the anchor (i = 2, 3), each normalized by means[i] and stds[i]. NaN or
// infinite for an empty anchor.
template <typename T>
COOPER_HOST_DEVICE T EncodedBoxNumber(const T* ref, const T* anchor, int i, const T* means,
                                      const T* stds) {
  const BoxAxis<T> to(ref + i % 2, BoxFormat::kCorner), from(anchor + i % 2, BoxFormat::kCorner);
  const T value = i < 2 ? (to.center - from.center) / from.side : std::log(to.side / from.side);
  return (value - means[i]) / stds[i];
}

// Returns the reference that an anchor is matched with, -1 if it has no target: if it is no sample,
// or if the match is not one of `refs` references.
template <typename T>
COOPER_HOST_DEVICE int64_t MatchedBox(T sample, T match, int64_t refs) {
  const int64_t at = IntegerOf<int64_t>(match);
  return sample > static_cast<T>(0.5) && at >= 0 && at < refs ? at : -1;
}

// The parameters of _contrib_box_decode. Passed to kernels by value.
template <typename T>
struct BoxDecoder {
  T std[4];
  T clip;
  BoxFormat format;

  explicit BoxDecoder(const BoxDecodeParam& param)
      : std{param.std0, param.std1, param.std2, param.std3},
        clip(param.clip),
        format(param.format) {}

  // Returns number i of the corners of the box that `code` describes relative to an anchor. This
  // reverses EncodedBoxNumber without means. A positive `clip` limits the exponents of width and
  // height from above; NaN becomes `clip`.
  COOPER_HOST_DEVICE T Corner(const T* code, const T* anchor, int i) const {
    const int axis = i % 2;
    const BoxAxis<T> from(anchor + axis, format);
    const T center = code[axis] * std[axis] * from.side + from.center;
    T factor = code[axis + 2] * std[axis + 2];
    if (clip > 0 && !(factor < clip)) factor = clip;
    const T half = std::exp(factor) * from.side / 2;
    return i < 2 ? center - half : center + half;
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_DETECTION_BOX_CODING_H_
