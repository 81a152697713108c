#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_WINOGRAD_TILE_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_WINOGRAD_TILE_H_

// The transforms of Winograd's algorithm for windows of 3 x 3 and tiles of 4 x 4 results (Lavin and
// Gray, Fast Algorithms for Convolutional Neural Networks, 2016), in float32. With * for the
// product of elements:
//
//   results = A^T [(G window G^T) * (B^T image B)] A
//
// where the tile of the image and the products have 6 x 6 elements. A convolution sums the products
// over the channels before it applies A, so each of the 36 elements is a matrix product of its own.
// A tile of 16 results takes 36 multiplications for each channel instead of 144.
//
// The matrices are those of polynomials that are multiplied at the points 0, +-1/sqrt(2), +-sqrt(2)
// and infinity. With the usual points 0, +-1, +-2 rounding errors are three to four times as large.

#include <cstdint>
#include <numbers>

namespace cooper {

inline constexpr int kWinogradResults = 4;    // the side of a tile of results
inline constexpr int kWinogradSide = 6;       // the side of a transformed tile
inline constexpr int kWinogradElements = 36;  // elements of a transformed tile
// The filters whose transformed weights lie next to each other, for each channel.
inline constexpr int kWinogradFilters = 16;

inline constexpr auto kWinogradRoot = std::numbers::sqrt2_v<float>;

// Computes one line of B^T x: 6 elements that are `stride` vectors apart, in place. V is a number
// or a vector of the compiler.
template <typename V>
inline void TransformImageLine(V* x, int stride) {
  const V x0 = x[0], x1 = x[stride], x2 = x[2 * stride], x3 = x[3 * stride], x4 = x[4 * stride],
          x5 = x[5 * stride];
  const V even = x4 - x2 * 2.0F, odd = x3 * (kWinogradRoot / 2) - x1 * kWinogradRoot;
  const V far_even = x4 - x2 * 0.5F, far_odd = x3 * kWinogradRoot - x1 * (kWinogradRoot / 2);
  x[0] = x0 - x2 * 2.5F + x4;
  x[stride] = even + odd;
  x[2 * stride] = even - odd;
  x[3 * stride] = far_even + far_odd;
  x[4 * stride] = far_even - far_odd;
  x[5 * stride] = x1 - x3 * 2.5F + x5;
}

// Computes one line of A^T x: the first 4 of 6 elements that are `stride` vectors apart, in place.
template <typename V>
inline void TransformResultLine(V* x, int stride) {
  const V x0 = x[0], x1 = x[stride], x2 = x[2 * stride], x3 = x[3 * stride], x4 = x[4 * stride],
          x5 = x[5 * stride];
  const V sum = x1 + x2, difference = x1 - x2, far_sum = x3 + x4, far_difference = x3 - x4;
  x[0] = x0 + sum + far_sum;
  x[stride] = difference * (kWinogradRoot / 2) + far_difference * kWinogradRoot;
  x[2 * stride] = sum * 0.5F + far_sum * 2.0F;
  x[3 * stride] = difference * (kWinogradRoot / 4) + far_difference * (2 * kWinogradRoot) + x5;
}

// Computes G window G^T for a window of 3 x 3 in double, rounded at the end.
inline void TransformWindow(const float* window, float (&out)[kWinogradElements]) {
  constexpr double kRoot = std::numbers::sqrt2;
  constexpr double kG[kWinogradSide][3] = {{1, 0, 0},
                                           {-2.0 / 3, -kRoot / 3, -1.0 / 3},
                                           {-2.0 / 3, kRoot / 3, -1.0 / 3},
                                           {1.0 / 6, kRoot / 6, 1.0 / 3},
                                           {1.0 / 6, -kRoot / 6, 1.0 / 3},
                                           {0, 0, 1}};
  for (int i = 0; i < kWinogradSide; ++i) {
    double line[3];
    for (int x = 0; x < 3; ++x) {
      line[x] = kG[i][0] * window[x] + kG[i][1] * window[3 + x] + kG[i][2] * window[6 + x];
    }
    for (int j = 0; j < kWinogradSide; ++j) {
      out[i * kWinogradSide + j] =
          static_cast<float>(line[0] * kG[j][0] + line[1] * kG[j][1] + line[2] * kG[j][2]);
    }
  }
}

// Transforms a weight (filters, channels, 3, 3), of whole slices of kWinogradFilters filters, to
// WinogradWeightParam::kTileFormat. Uses several threads.
void TransformWinogradWeight(int64_t filters, int64_t channels, const float* weight, float* out);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_WINOGRAD_TILE_H_
