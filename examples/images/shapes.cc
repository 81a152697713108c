#include "examples/images/shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "io/images/codec/image_codec.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Returns whether a point, from -1 to 1 on both axes of the box, belongs to the shape.
bool Covers(int kind, double x, double y) {
  switch (kind) {
    case 0:
      return x * x + y * y <= 1;
    case 1:
      return true;
    default:
      return 2 * std::abs(x) <= y + 1;  // with its tip at the top
  }
}

}  // namespace

DrawnShape RandomShape(int side, int min_side, int max_side, RandomGenerator& random) {
  const auto between = [&random](int first, int last) {
    return first + static_cast<int>(random.NextBelow(last - first + 1));
  };
  const int width = between(min_side, max_side);
  // The sides differ by at most a quarter.
  const int height = std::clamp(width + between(-width / 4, width / 4), min_side, max_side);
  return {.kind = between(0, kNumShapes - 1),
          .left = between(0, side - width),
          .top = between(0, side - height),
          .width = width,
          .height = height};
}

Image DrawShapes(int side, absl::Span<const DrawnShape> shapes, RandomGenerator& random) {
  Image image = {.height = side, .width = side, .channels = 3};
  image.pixels.resize(static_cast<size_t>(side) * side * 3);
  for (uint8_t& pixel : image.pixels) pixel = static_cast<uint8_t>(random.NextBelow(192));
  for (const DrawnShape& shape : shapes) {
    std::array<uint8_t, 3> colour;
    for (uint8_t& part : colour) part = static_cast<uint8_t>(32 + random.NextBelow(224));
    for (int row = 0; row < shape.height; ++row) {
      for (int column = 0; column < shape.width; ++column) {
        const double x = (2 * column + 1.0) / shape.width - 1;
        const double y = (2 * row + 1.0) / shape.height - 1;
        if (!Covers(shape.kind, x, y)) continue;
        std::copy(colour.begin(), colour.end(), image.at(shape.top + row, shape.left + column));
      }
    }
  }
  return image;
}

absl::Status WritePng(const Image& image, const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(const std::string bytes, EncodePng(image));
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  if (file.fail()) return absl::UnavailableError(absl::StrCat("cannot write ", path));
  return absl::OkStatus();
}

}  // namespace cooper
