#ifndef COOPER_EXECUTOR_KERNELS_RESAMPLE_RESIZED_AXIS_H_
#define COOPER_EXECUTOR_KERNELS_RESAMPLE_RESIZED_AXIS_H_

// Computes the pixels of a resized image along one axis, for the kernels of
// _contrib_BilinearResize2D.
//
// The kernels combine one object for rows with one for columns. Positions are computed in double on
// both devices, whatever the dtype of the images.

#include <cmath>
#include <cstdint>

#include "ndarray/base/host_device.h"

namespace cooper {

// One axis of a resized image. Output pixel o is at Position(o) among the `in` pixels of the image,
// which are at 0, 1, ... It interpolates its two neighbours linearly.
struct ResizedAxis {
  int64_t in, out;  // at least 1
  // Output pixel o is at step * o + shift before it is clamped.
  double step, shift;

  // Extents are in pixels. With align_corners the first and the last pixels of both images
  // coincide, otherwise the edges of the images do:
  //
  //   align_corners:  position = o * (in - 1) / (out - 1)
  //   otherwise:      position = (o + 1/2) * in / out - 1/2
  //
  // With out == 1 the position is 0 if align_corners, otherwise -1/2, which is clamped to 0.
  ResizedAxis(int64_t in, int64_t out, bool align_corners) : in(in), out(out) {
    const double pixels = static_cast<double>(in), results = static_cast<double>(out);
    step = out == 1 ? 0 : align_corners ? (pixels - 1) / (results - 1) : pixels / results;
    shift = align_corners ? 0 : step / 2 - 0.5;
  }

  // Returns the position of output pixel o, clamped to [0, in - 1].
  COOPER_HOST_DEVICE double Position(int64_t o) const {
    const double at = step * static_cast<double>(o) + shift;
    const double last = static_cast<double>(in - 1);
    return at < 0 ? 0 : last < at ? last : at;
  }

  // Returns the weight of pixel i in output pixel o; 0 if they are not neighbours.
  COOPER_HOST_DEVICE double Weight(int64_t o, int64_t i) const {
    const double distance = std::fabs(Position(o) - static_cast<double>(i));
    return distance < 1 ? 1 - distance : 0;
  }

  // Returns the first output pixel at or after `position`; `out` if there is none. Positions do not
  // decrease with o, so a search from the estimate ends after a few steps.
  COOPER_HOST_DEVICE int64_t FirstFrom(double position) const {
    if (position <= 0) return 0;
    if (step == 0 || position > static_cast<double>(in - 1)) return out;
    // Corrects a rounding of the division.
    const double guess = (position - shift) / step;
    int64_t o = guess < static_cast<double>(out) ? static_cast<int64_t>(guess) : out;
    while (o > 0 && Position(o - 1) >= position) --o;
    while (o < out && Position(o) < position) ++o;
    return o;
  }
  // Return the range [Begin(i), End(i)) of the output pixels in which pixel i has a weight. The
  // range lets the gradient of pixel i gather its sum without atomics.
  COOPER_HOST_DEVICE int64_t Begin(int64_t i) const {
    return FirstFrom(static_cast<double>(i - 1));
  }
  COOPER_HOST_DEVICE int64_t End(int64_t i) const { return FirstFrom(static_cast<double>(i + 1)); }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RESAMPLE_RESIZED_AXIS_H_
