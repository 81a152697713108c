#ifndef COOPER_EXAMPLES_IMAGES_SHAPES_H_
#define COOPER_EXAMPLES_IMAGES_SHAPES_H_

// Draws generated pictures of coloured shapes, for the examples that learn from image files.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "io/images/codec/image.h"
#include "ndarray/random/random.h"

namespace cooper {

// The kinds of shapes.
inline constexpr const char* kShapeNames[] = {"disc", "square", "triangle"};
inline constexpr int kNumShapes = 3;

// A shape fills a box of the picture: a disc or a triangle touches its edges.
struct DrawnShape {
  int kind = 0;                                  // of kShapeNames
  int left = 0, top = 0, width = 0, height = 0;  // in pixels
};

// Returns a shape with sides of min_side to max_side pixels inside a picture with sides of `side`.
DrawnShape RandomShape(int side, int min_side, int max_side, RandomGenerator& random);

// Returns a square picture of these shapes, each in a colour of its own, on noise.
Image DrawShapes(int side, absl::Span<const DrawnShape> shapes, RandomGenerator& random);

// Writes a picture as PNG. kUnavailable, with the path, if that fails; the folder must exist.
absl::Status WritePng(const Image& image, const std::string& path);

}  // namespace cooper

#endif  // COOPER_EXAMPLES_IMAGES_SHAPES_H_
