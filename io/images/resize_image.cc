#include "io/images/resize_image.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "io/images/image_codec.h"

namespace cooper {
namespace {

constexpr int kWeightBits = 11;
constexpr float kWeightOne = 1 << kWeightBits;

// The number of source pixels per pixel of the result, rounded as in OpenCV: from the inverse.
double Scale(int64_t source, int64_t target) {
  return 1.0 / (static_cast<double>(target) / static_cast<double>(source));
}

// The two neighbours of a result's row or column in the source, and their weights.
struct Neighbours {
  int64_t first;
  int64_t second;
  int32_t first_weight;
  int32_t second_weight;
};

// Returns the neighbours of each row or column. A column outside the image gets the weight 0. A row
// outside keeps its weight and is replaced by the border's row, which is rounded differently.
std::vector<Neighbours> FindNeighbours(int64_t source, int64_t target, bool are_columns) {
  std::vector<Neighbours> neighbours(static_cast<size_t>(target));
  const double scale = Scale(source, target);
  for (int64_t i = 0; i < target; ++i) {
    float fraction = static_cast<float>((static_cast<double>(i) + 0.5) * scale - 0.5);
    auto first = static_cast<int64_t>(std::floor(fraction));
    fraction -= static_cast<float>(first);
    if (are_columns && (first < 0 || first >= source - 1)) {
      first = first < 0 ? 0 : source - 1;
      fraction = 0;
    }
    neighbours[static_cast<size_t>(i)] = {
        .first = std::clamp<int64_t>(first, 0, source - 1),
        .second = std::clamp<int64_t>(first + 1, 0, source - 1),
        .first_weight = static_cast<int32_t>(std::lrint((1.0f - fraction) * kWeightOne)),
        .second_weight = static_cast<int32_t>(std::lrint(fraction * kWeightOne))};
  }
  return neighbours;
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

void Halve(const Image& image, Image* result) {
  for (int64_t row = 0; row < result->height; ++row) {
    for (int64_t column = 0; column < result->width; ++column) {
      const uint8_t* upper = image.at(2 * row, 2 * column);
      const uint8_t* lower = image.at(2 * row + 1, 2 * column);
      uint8_t* to = result->at(row, column);
      for (int64_t k = 0; k < image.channels; ++k) {
        const int64_t right = k + image.channels;
        to[k] = static_cast<uint8_t>((upper[k] + upper[right] + lower[k] + lower[right] + 2) >> 2);
      }
    }
  }
}

// Interpolates one row of the source, with weights of 11 bits.
void InterpolateColumns(const Image& image, int64_t row, const std::vector<Neighbours>& columns,
                        std::vector<int32_t>* out) {
  const uint8_t* pixels = image.at(row, 0);
  int32_t* to = out->data();
  for (const Neighbours& column : columns) {
    const uint8_t* first = pixels + column.first * image.channels;
    const uint8_t* second = pixels + column.second * image.channels;
    for (int64_t k = 0; k < image.channels; ++k) {
      *to++ = first[k] * column.first_weight + second[k] * column.second_weight;
    }
  }
}

void ResizeBilinear(const Image& image, Image* result) {
  const std::vector<Neighbours> columns =
      FindNeighbours(image.width, result->width, /*are_columns=*/true);
  const std::vector<Neighbours> rows =
      FindNeighbours(image.height, result->height, /*are_columns=*/false);
  // The last two interpolated rows of the source: rows of the result share them when enlarging.
  const auto row_size = static_cast<size_t>(result->width * image.channels);
  std::vector<int32_t> buffers[2] = {std::vector<int32_t>(row_size),
                                     std::vector<int32_t>(row_size)};
  int64_t buffered[2] = {-1, -1};
  const auto row_of = [&](int64_t row, int64_t other) {
    if (buffered[0] == row) return 0;
    if (buffered[1] == row) return 1;
    const int place = buffered[0] == other ? 1 : 0;
    InterpolateColumns(image, row, columns, &buffers[place]);
    buffered[place] = row;
    return place;
  };
  uint8_t* to = result->pixels.data();
  for (const Neighbours& row : rows) {
    const int32_t* first = buffers[row_of(row.first, row.second)].data();
    const int32_t* second = buffers[row_of(row.second, row.first)].data();
    for (size_t i = 0; i < row_size; ++i) {
      const int32_t sum = ((row.first_weight * (first[i] >> 4)) >> 16) +
                          ((row.second_weight * (second[i] >> 4)) >> 16);
      *to++ = static_cast<uint8_t>((sum + 2) >> 2);
    }
  }
}

}  // namespace

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
  if (method == InterMethod::kNearest) {
    ResizeNearest(image, &result);
  } else if (image.height == 2 * height && image.width == 2 * width) {
    Halve(image, &result);
  } else {
    ResizeBilinear(image, &result);
  }
  return result;
}

absl::StatusOr<Image> ResizeShorterEdge(const Image& image, int64_t edge, InterMethod method) {
  const int64_t shorter = std::max<int64_t>(std::min(image.height, image.width), 1);
  return ResizeImage(image, edge * image.height / shorter, edge * image.width / shorter, method);
}

}  // namespace cooper
