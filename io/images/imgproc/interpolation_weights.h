#ifndef COOPER_IO_IMAGES_IMGPROC_INTERPOLATION_WEIGHTS_H_
#define COOPER_IO_IMAGES_IMGPROC_INTERPOLATION_WEIGHTS_H_

// The weights of the pixels around a place, with OpenCV's rounding. `fraction`, in [0, 1), is the
// distance from the tap kTaps / 2 - 1 towards the next one.

#include <array>

namespace cooper {

template <int kTaps>
std::array<float, kTaps> InterpolationWeights(float fraction);

template <>
std::array<float, 2> InterpolationWeights<2>(float fraction);  // linear
template <>
std::array<float, 4> InterpolationWeights<4>(float fraction);  // cubic
template <>
std::array<float, 8> InterpolationWeights<8>(float fraction);  // Lanczos

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_IMGPROC_INTERPOLATION_WEIGHTS_H_
