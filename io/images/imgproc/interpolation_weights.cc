#include "io/images/imgproc/interpolation_weights.h"

#include <cfloat>
#include <cmath>
#include <cstddef>

namespace cooper {

template <>
std::array<float, 2> InterpolationWeights<2>(float fraction) {
  return {1.0f - fraction, fraction};
}

template <>
std::array<float, 4> InterpolationWeights<4>(float fraction) {
  constexpr float kA = -0.75f;
  const float x = fraction;
  const float first = ((kA * (x + 1) - 5 * kA) * (x + 1) + 8 * kA) * (x + 1) - 4 * kA;
  const float second = ((kA + 2) * x - (kA + 3)) * x * x + 1;
  const float third = ((kA + 2) * (1 - x) - (kA + 3)) * (1 - x) * (1 - x) + 1;
  return {first, second, third, 1.0f - first - second - third};
}

template <>
std::array<float, 8> InterpolationWeights<8>(float fraction) {
  if (fraction < FLT_EPSILON) return {0, 0, 0, 1, 0, 0, 0, 0};
  // The sines of all taps follow from that of the first: they are a quarter of pi apart.
  constexpr double kHalf = 0.70710678118654752440084436210485;
  constexpr double kTurns[8][2] = {{1, 0},  {-kHalf, -kHalf}, {0, 1},  {kHalf, -kHalf},
                                   {-1, 0}, {kHalf, kHalf},   {0, -1}, {-kHalf, kHalf}};
  const double angle = -(fraction + 3) * M_PI * 0.25;
  const double sine = std::sin(angle), cosine = std::cos(angle);
  std::array<float, 8> weights;
  float sum = 0;
  for (size_t k = 0; k < weights.size(); ++k) {
    const double y = -(fraction + 3 - static_cast<float>(k)) * M_PI * 0.25;
    weights[k] = static_cast<float>((kTurns[k][0] * sine + kTurns[k][1] * cosine) / (y * y));
    sum += weights[k];
  }
  for (float& weight : weights) weight *= 1.0f / sum;
  return weights;
}

}  // namespace cooper
