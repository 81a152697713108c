#include "io/images/imgproc/warp_image.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "io/images/codec/image_codec.h"
#include "io/images/imgproc/interpolation_weights.h"

namespace cooper {
namespace {

constexpr int kPlaceBits = 5;  // of the fraction of a place
constexpr int kPlaces = 1 << kPlaceBits;
constexpr int kMapBits = 10;     // of the fraction in computing places
constexpr int kWeightBits = 15;  // of the products of two weights
constexpr int64_t kMaxExtent = 32767;

// Returns the map from the result to the image.
AffineMap Inverse(const AffineMap& m) {
  const double determinant = m[0] * m[4] - m[1] * m[3];
  const double d = determinant == 0 ? 0 : 1 / determinant;
  AffineMap inverse = {m[4] * d, m[1] * -d, 0, m[3] * -d, m[0] * d, 0};
  inverse[2] = -inverse[0] * m[2] - inverse[1] * m[5];
  inverse[5] = -inverse[3] * m[2] - inverse[4] * m[5];
  return inverse;
}

// Returns value * 2^kMapBits, rounded; far outside of images stays far outside.
int64_t ToFixed(double value) {
  constexpr double kMost = 1 << 30;
  const double fixed = value * (1 << kMapBits);
  return std::llrint(fixed < -kMost ? -kMost : fixed < kMost ? fixed : kMost);  // NaN: kMost
}

// Returns the kTaps x kTaps weights of each of the kPlaces x kPlaces fractions, row by row. They
// add up to 2^kWeightBits: a difference is given to the largest or the smallest weight in the
// middle, or rather behind it, as in OpenCV.
template <int kTaps>
std::vector<int16_t> MakeTable() {
  constexpr int kHalf = kTaps / 2;
  std::vector<int16_t> table;
  for (int row = 0; row < kPlaces; ++row) {
    for (int column = 0; column < kPlaces; ++column) {
      const auto vertical = InterpolationWeights<kTaps>(static_cast<float>(row) / kPlaces);
      const auto horizontal = InterpolationWeights<kTaps>(static_cast<float>(column) / kPlaces);
      std::array<int16_t, kTaps * kTaps> weights;
      int sum = 0;
      for (size_t i = 0; i < weights.size(); ++i) {
        const float weight = vertical[i / kTaps] * horizontal[i % kTaps];
        const long rounded = std::lrint(weight * (1 << kWeightBits));
        weights[i] = static_cast<int16_t>(std::min<long>(rounded, INT16_MAX));
        sum += weights[i];
      }
      const int difference = sum - (1 << kWeightBits);
      size_t least = kHalf * kTaps + kHalf, most = least;
      if (kTaps > 2) {
        for (const size_t i : {least, least + 1, least + kTaps, least + kTaps + 1}) {
          if (weights[i] < weights[least]) {
            least = i;
          } else if (weights[i] > weights[most]) {
            most = i;
          }
        }
      }
      weights[difference < 0 ? most : least] -= static_cast<int16_t>(difference);
      table.insert(table.end(), weights.begin(), weights.end());
    }
  }
  return table;
}

// Reads pixels of an image and the fill around it.
class Pixels {
 public:
  Pixels(const Image& image, uint8_t fill) : image_(image), fill_(fill) {}
  int32_t At(int64_t row, int64_t column, int64_t channel) const {
    const bool is_inside = row >= 0 && row < image_.height && column >= 0 && column < image_.width;
    if (is_inside) return image_.at(row, column)[channel];
    return channel == 3 ? 0 : fill_;
  }

 private:
  const Image& image_;
  const uint8_t fill_;
};

// Calls set(x, y, to) for each pixel of the result with its place, in units of 1/2^bits pixels.
template <typename Set>
void ForEachPlace(const AffineMap& map, int bits, Image* result, Set set) {
  const int shift = kMapBits - bits;
  const int64_t half = int64_t{1} << (shift - 1);
  std::vector<int64_t> xs, ys;
  for (int64_t column = 0; column < result->width; ++column) {
    xs.push_back(ToFixed(map[0] * static_cast<double>(column)));
    ys.push_back(ToFixed(map[3] * static_cast<double>(column)));
  }
  uint8_t* to = result->pixels.data();
  for (int64_t row = 0; row < result->height; ++row) {
    const int64_t x = ToFixed(map[1] * static_cast<double>(row) + map[2]) + half;
    const int64_t y = ToFixed(map[4] * static_cast<double>(row) + map[5]) + half;
    for (size_t i = 0; i < xs.size(); ++i) {
      set((x + xs[i]) >> shift, (y + ys[i]) >> shift, to);
      to += result->channels;
    }
  }
}

void WarpNearest(const Pixels& pixels, const AffineMap& map, Image* result) {
  ForEachPlace(map, 0, result, [&](int64_t x, int64_t y, uint8_t* to) {
    for (int64_t k = 0; k < result->channels; ++k) {
      to[k] = static_cast<uint8_t>(pixels.At(y, x, k));
    }
  });
}

template <int kTaps>
void WarpByTable(const Pixels& pixels, const AffineMap& map, Image* result) {
  static const auto* const table = new std::vector<int16_t>(MakeTable<kTaps>());
  ForEachPlace(map, kPlaceBits, result, [&](int64_t x, int64_t y, uint8_t* to) {
    const int64_t place = (y & (kPlaces - 1)) * kPlaces + (x & (kPlaces - 1));
    const int16_t* weights = table->data() + place * (kTaps * kTaps);
    const int64_t left = (x >> kPlaceBits) - (kTaps / 2 - 1);
    const int64_t top = (y >> kPlaceBits) - (kTaps / 2 - 1);
    for (int64_t k = 0; k < result->channels; ++k) {
      int32_t sum = 1 << (kWeightBits - 1);
      for (int64_t i = 0; i < kTaps * kTaps; ++i) {
        sum += pixels.At(top + i / kTaps, left + i % kTaps, k) * weights[i];
      }
      to[k] = static_cast<uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
    }
  });
}

}  // namespace

absl::StatusOr<Image> WarpImage(const Image& image, const AffineMap& map, int64_t height,
                                int64_t width, InterMethod method, uint8_t fill) {
  if (image.pixels.empty() || std::max(image.height, image.width) > kMaxExtent || height < 1 ||
      width < 1 || height > kMaxImagePixels / width) {
    return absl::InvalidArgumentError(absl::StrCat(
        "an image of ", image.height, " x ", image.width, " pixels cannot be mapped to ", height,
        " x ", width, ", expected extents of at least 1, at most ", kMaxExtent,
        " in the image, and at most ", kMaxImagePixels, " pixels"));
  }
  const AffineMap inverse = Inverse(map);
  const Pixels pixels(image, fill);
  Image result{.height = height, .width = width, .channels = image.channels};
  result.pixels.resize(static_cast<size_t>(height * width * image.channels));
  switch (method) {
    case InterMethod::kNearest:
      WarpNearest(pixels, inverse, &result);
      return result;
    case InterMethod::kBilinear:
    case InterMethod::kArea:
      WarpByTable<2>(pixels, inverse, &result);
      return result;
    case InterMethod::kCubic:
      WarpByTable<4>(pixels, inverse, &result);
      return result;
    case InterMethod::kLanczos:
      WarpByTable<8>(pixels, inverse, &result);
      return result;
    default:
      break;
  }
  return absl::InvalidArgumentError(absl::StrCat("inter_method is ", static_cast<int>(method),
                                                 ", expected 0 to 4 for one image"));
}

}  // namespace cooper
