#include "io/images/imgproc/resize_image.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "io/images/codec/image_codec.h"
#include "io/images/imgproc/interpolation_weights.h"

namespace cooper {
namespace {

constexpr int kWeightBits = 11;
constexpr float kWeightOne = 1 << kWeightBits;

// The number of source pixels per pixel of the result, rounded as in OpenCV: from the inverse.
double Scale(int64_t source, int64_t target) {
  return 1.0 / (static_cast<double>(target) / static_cast<double>(source));
}

// Converts as OpenCV's saturate_cast: halves are rounded to even.
template <typename Number>
uint8_t ToPixel(Number value) {
  if constexpr (std::is_floating_point_v<Number>) {
    return ToPixel(static_cast<int32_t>(std::lrint(value)));
  } else {
    return static_cast<uint8_t>(std::clamp<Number>(value, 0, 255));
  }
}

// The rows or columns of the source that make one of the result, and their weights.
template <int kTaps>
struct Taps {
  int64_t sources[kTaps];  // consecutive, except at the borders
  int32_t weights[kTaps];
};

// Where a row or column of the result lies in the source: between `first` and the next one.
struct Place {
  int64_t first;
  float fraction;
};

Place FindPlace(int64_t i, double scale) {
  const auto place = static_cast<float>((static_cast<double>(i) + 0.5) * scale - 0.5);
  const float first = std::floor(place);
  return {static_cast<int64_t>(first), place - first};
}

// The place that OpenCV uses for areas where an extent grows.
Place FindAreaPlace(int64_t i, double scale, double inverse) {
  const double first = std::floor(static_cast<double>(i) * scale);
  const auto fraction = static_cast<float>(static_cast<double>(i + 1) - (first + 1) * inverse);
  return {static_cast<int64_t>(first), fraction <= 0 ? 0.0f : fraction - std::floor(fraction)};
}

// Returns the taps around a place, which are replaced by the border's where they are outside.
template <int kTaps>
Taps<kTaps> FindTaps(Place place, int64_t extent, bool is_column) {
  // A column outside gets the weight 0 in linear interpolation. A row outside keeps its weight,
  // which is rounded differently.
  if (kTaps == 2 && is_column && (place.first < 0 || place.first >= extent - 1)) {
    place = {place.first < 0 ? 0 : extent - 1, 0};
  }
  const std::array<float, kTaps> weights = InterpolationWeights<kTaps>(place.fraction);
  Taps<kTaps> taps;
  for (int k = 0; k < kTaps; ++k) {
    taps.sources[k] = std::clamp<int64_t>(place.first - (kTaps / 2 - 1) + k, 0, extent - 1);
    taps.weights[k] =
        static_cast<int32_t>(std::lrint(weights[static_cast<size_t>(k)] * kWeightOne));
  }
  return taps;
}

// Sets the sums of the weighted pixels of one row of the source.
template <int kTaps>
void SumColumns(const Image& image, int64_t row, const std::vector<Taps<kTaps>>& columns,
                int32_t* to) {
  const uint8_t* pixels = image.at(row, 0);
  for (const Taps<kTaps>& column : columns) {
    for (int64_t k = 0; k < image.channels; ++k) {
      int32_t sum = 0;
      for (int i = 0; i < kTaps; ++i) {
        sum += pixels[column.sources[i] * image.channels + k] * column.weights[i];
      }
      *to++ = sum;
    }
  }
}

// Resizes by taps of columns, then of rows. sum_rows(rows, weights, size, to) writes a row of the
// result from kTaps rows of sums.
template <int kTaps, typename SumRows>
void ResizeByTaps(const Image& image, const std::vector<Taps<kTaps>>& rows,
                  const std::vector<Taps<kTaps>>& columns, SumRows sum_rows, Image* result) {
  const auto size = static_cast<size_t>(result->width * image.channels);
  // Row r of the source is in buffer r % kTaps: rows of the result share rows of the source.
  std::vector<int32_t> buffers[kTaps];
  int64_t buffered[kTaps];
  for (int i = 0; i < kTaps; ++i) {
    buffers[i].resize(size);
    buffered[i] = -1;
  }
  uint8_t* to = result->pixels.data();
  for (const Taps<kTaps>& row : rows) {
    const int32_t* sums[kTaps];
    for (int i = 0; i < kTaps; ++i) {
      const int64_t source = row.sources[i], place = source % kTaps;
      if (buffered[place] != source) {
        SumColumns(image, source, columns, buffers[place].data());
        buffered[place] = source;
      }
      sums[i] = buffers[place].data();
    }
    sum_rows(sums, row.weights, size, to);
    to += size;
  }
}

void SumLinearRows(const int32_t* const (&sums)[2], const int32_t (&weights)[2], size_t size,
                   uint8_t* to) {
  for (size_t i = 0; i < size; ++i) {
    const int32_t sum =
        ((weights[0] * (sums[0][i] >> 4)) >> 16) + ((weights[1] * (sums[1][i] >> 4)) >> 16);
    to[i] = static_cast<uint8_t>((sum + 2) >> 2);
  }
}

// The sums stay below 2^31: for Lanczos, whose weights swing most, 255 * 2^22 * 1.98.
template <int kTaps>
void SumFixedRows(const int32_t* const (&sums)[kTaps], const int32_t (&weights)[kTaps],
                  size_t begin, size_t end, uint8_t* to) {
  for (size_t i = begin; i < end; ++i) {
    int32_t sum = 1 << (2 * kWeightBits - 1);
    for (int k = 0; k < kTaps; ++k) sum += sums[k][i] * weights[k];
    to[i] = ToPixel(sum >> (2 * kWeightBits));
  }
}

void SumLanczosRows(const int32_t* const (&sums)[8], const int32_t (&weights)[8], size_t size,
                    uint8_t* to) {
  SumFixedRows<8>(sums, weights, 0, size, to);
}

// OpenCV computes eight elements at a time as floats, the rest as integers.
void SumCubicRows(const int32_t* const (&sums)[4], const int32_t (&weights)[4], size_t size,
                  uint8_t* to) {
  constexpr float kScale = 1.0f / (kWeightOne * kWeightOne);
  float factors[4];
  for (int k = 0; k < 4; ++k) factors[k] = static_cast<float>(weights[k]) * kScale;
  const size_t end = size / 8 * 8;
  for (size_t i = 0; i < end; ++i) {
    float sum = static_cast<float>(sums[0][i]) * factors[0];
    for (int k = 1; k < 4; ++k) sum += static_cast<float>(sums[k][i]) * factors[k];
    to[i] = ToPixel(sum);
  }
  SumFixedRows<4>(sums, weights, end, size, to);
}

template <int kTaps, typename SumRows>
void ResizeByKernel(const Image& image, SumRows sum_rows, Image* result) {
  const auto taps_of = [](int64_t source, int64_t target, bool are_columns) {
    std::vector<Taps<kTaps>> taps;
    for (int64_t i = 0; i < target; ++i) {
      taps.push_back(FindTaps<kTaps>(FindPlace(i, Scale(source, target)), source, are_columns));
    }
    return taps;
  };
  ResizeByTaps(image, taps_of(image.height, result->height, false),
               taps_of(image.width, result->width, true), sum_rows, result);
}

void ResizeNearest(const Image& image, Image* result) {
  const double row_scale = Scale(image.height, result->height);
  const double column_scale = Scale(image.width, result->width);
  const auto source = [](int64_t i, double scale, int64_t extent) {
    return std::min(static_cast<int64_t>(std::floor(static_cast<double>(i) * scale)), extent - 1);
  };
  for (int64_t row = 0; row < result->height; ++row) {
    const int64_t from_row = source(row, row_scale, image.height);
    for (int64_t column = 0; column < result->width; ++column) {
      std::memcpy(result->at(row, column),
                  image.at(from_row, source(column, column_scale, image.width)),
                  static_cast<size_t>(image.channels));
    }
  }
}

// Sets pixels to the means of height x width blocks.
void AverageBlocks(const Image& image, int64_t height, int64_t width, Image* result) {
  const float factor = 1.0f / static_cast<float>(height * width);
  const bool is_quarter = height == 2 && width == 2;  // rounds halves up
  for (int64_t row = 0; row < result->height; ++row) {
    for (int64_t column = 0; column < result->width; ++column) {
      uint8_t* to = result->at(row, column);
      for (int64_t k = 0; k < image.channels; ++k) {
        int64_t sum = 0;
        for (int64_t y = row * height; y < (row + 1) * height; ++y) {
          const uint8_t* from = image.at(y, column * width) + k;
          for (int64_t x = 0; x < width; ++x) sum += from[x * image.channels];
        }
        to[k] = is_quarter ? static_cast<uint8_t>((sum + 2) >> 2)
                           : ToPixel(static_cast<float>(sum) * factor);
      }
    }
  }
}

// A source row or column that is a part of one of the result.
struct AreaPart {
  int64_t target;
  int64_t source;
  float weight;
};

std::vector<AreaPart> FindAreaParts(int64_t source, int64_t target) {
  constexpr double kLeast = 1e-3;  // smaller parts are left out
  const double scale = Scale(source, target);
  std::vector<AreaPart> parts;
  for (int64_t i = 0; i < target; ++i) {
    const double begin = static_cast<double>(i) * scale, end = begin + scale;
    const double extent = std::min(scale, static_cast<double>(source) - begin);
    const auto last = std::min(static_cast<int64_t>(std::floor(end)), source - 1);
    const auto first = std::min(static_cast<int64_t>(std::ceil(begin)), last);
    const double before = static_cast<double>(first) - begin,
                 after = end - static_cast<double>(last);
    if (before > kLeast) parts.push_back({i, first - 1, static_cast<float>(before / extent)});
    for (int64_t k = first; k < last; ++k) {
      parts.push_back({i, k, static_cast<float>(1.0 / extent)});
    }
    if (after > kLeast) {
      parts.push_back({i, last, static_cast<float>(std::min({after, 1.0, extent}) / extent)});
    }
  }
  return parts;
}

// Sets pixels to the means of what they cover, where both extents shrink.
void AverageAreas(const Image& image, Image* result) {
  const std::vector<AreaPart> columns = FindAreaParts(image.width, result->width);
  const auto size = static_cast<size_t>(result->width * image.channels);
  std::vector<float> row_sums(size), sums(size);
  int64_t target = 0;
  const auto write = [&] {
    uint8_t* to = result->at(target, 0);
    for (size_t i = 0; i < size; ++i) to[i] = ToPixel(sums[i]);
  };
  for (const AreaPart& row : FindAreaParts(image.height, result->height)) {
    std::fill(row_sums.begin(), row_sums.end(), 0.0f);
    for (const AreaPart& column : columns) {
      const uint8_t* from = image.at(row.source, column.source);
      float* to = row_sums.data() + column.target * image.channels;
      for (int64_t k = 0; k < image.channels; ++k) {
        to[k] += static_cast<float>(from[k]) * column.weight;
      }
    }
    if (row.target != target) {
      write();
      target = row.target;
      std::fill(sums.begin(), sums.end(), 0.0f);
    }
    for (size_t i = 0; i < size; ++i) sums[i] += row.weight * row_sums[i];
  }
  write();
}

void ResizeArea(const Image& image, Image* result) {
  const int64_t height = image.height / result->height, width = image.width / result->width;
  if (image.height < result->height || image.width < result->width) {
    const auto taps_of = [](int64_t source, int64_t target, bool are_columns) {
      std::vector<Taps<2>> taps;
      const double inverse = static_cast<double>(target) / static_cast<double>(source);
      for (int64_t i = 0; i < target; ++i) {
        taps.push_back(FindTaps<2>(FindAreaPlace(i, 1.0 / inverse, inverse), source, are_columns));
      }
      return taps;
    };
    ResizeByTaps(image, taps_of(image.height, result->height, false),
                 taps_of(image.width, result->width, true), SumLinearRows, result);
  } else if (image.height == height * result->height && image.width == width * result->width) {
    AverageBlocks(image, height, width, result);
  } else {
    AverageAreas(image, result);
  }
}

}  // namespace

absl::Status CheckInterMethod(InterMethod method) {
  const int number = static_cast<int>(method);
  if ((number >= 0 && number <= 4) || number == 9 || number == 10) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("inter_method is ", number, ", expected 0 to 4, 9 or 10"));
}

absl::StatusOr<Image> ResizeImage(const Image& image, int64_t height, int64_t width,
                                  InterMethod method) {
  if (image.pixels.empty() || height < 1 || width < 1 || height > kMaxImagePixels / width) {
    return absl::InvalidArgumentError(absl::StrCat(
        "an image of ", image.height, " x ", image.width, " pixels cannot be resized to ", height,
        " x ", width, ", expected extents of at least 1 and at most ", kMaxImagePixels, " pixels"));
  }
  if (height == image.height && width == image.width) return image;
  Image result{.height = height, .width = width, .channels = image.channels};
  result.pixels.resize(static_cast<size_t>(height * width * image.channels));
  switch (method) {
    case InterMethod::kNearest:
      ResizeNearest(image, &result);
      return result;
    case InterMethod::kBilinear:
      if (image.height == 2 * height && image.width == 2 * width) {
        AverageBlocks(image, 2, 2, &result);
      } else {
        ResizeByKernel<2>(image, SumLinearRows, &result);
      }
      return result;
    case InterMethod::kCubic:
      ResizeByKernel<4>(image, SumCubicRows, &result);
      return result;
    case InterMethod::kArea:
      ResizeArea(image, &result);
      return result;
    case InterMethod::kLanczos:
      ResizeByKernel<8>(image, SumLanczosRows, &result);
      return result;
    default:
      break;
  }
  return absl::InvalidArgumentError(absl::StrCat("inter_method is ", static_cast<int>(method),
                                                 ", expected 0 to 4 for one image"));
}

}  // namespace cooper
