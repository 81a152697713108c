#include "tests/passes/random_images.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace cooper {
namespace {

std::string Pair(int64_t value) { return absl::StrCat("(", value, ", ", value, ")"); }

GraphValue Convolve(GraphDraft& g, const GraphValue& image) {
  const int64_t channels = image.shape[1];
  const int64_t kernel = g.Pick<int64_t>({1, 3});
  const bool depthwise = g.Chance(0.2);
  const int64_t filters = depthwise ? channels : g.Pick<int64_t>({16, 16, 32, 32, 48, 5});
  const GraphValue map = g.Apply("Convolution", {image},
                                 {{"kernel", Pair(kernel)},
                                  {"pad", Pair(kernel / 2)},
                                  {"stride", Pair(g.Between(1, 2))},
                                  {"num_filter", absl::StrCat(filters)},
                                  {"num_group", absl::StrCat(depthwise ? channels : 1)},
                                  {"no_bias", g.Flag(0.5)}});
  // Values stay of order one.
  return g.Apply("tanh", {g.Apply("_mul_scalar", {map}, {{"scalar", "0.3"}})});
}

GraphValue Pool(GraphDraft& g, const GraphValue& image) {
  return g.Apply("Pooling", {image},
                 {{"kernel", Pair(2)},
                  {"pad", Pair(1)},
                  {"pool_type", g.Pick<std::string>({"avg", "sum"})},
                  {"count_include_pad", g.Flag(0.5)}});
}

// Combines an image with another one of the same extents, if there is one.
GraphValue Combine(GraphDraft& g, const std::vector<GraphValue>& images) {
  const GraphValue& image = images.back();
  for (const GraphValue& other : images) {
    if (other.shape == image.shape && g.Chance(0.5)) {
      return g.Apply("elemwise_add", {image, other});
    }
    if (other.shape[2] == image.shape[2] && other.shape[3] == image.shape[3]) {
      return g.Apply("Concat", {image, other}, {{"dim", "1"}});
    }
  }
  return g.Apply("sigmoid", {image});
}

}  // namespace

void ConvolveImages(GraphDraft& g) {
  const Shape shape = {g.batch(), g.Pick<int64_t>({1, 3, 16, 32}), g.Between(4, 9),
                       g.Between(4, 9)};
  std::vector<GraphValue> images = {{g.Variable(g.Name("image"), shape), shape}};
  images.push_back(Convolve(g, images.back()));
  for (int64_t i = g.Between(1, 5); i > 0; --i) {
    const double kind = g.random().NextUniform();
    if (kind < 0.4) {
      images.push_back(Convolve(g, images.back()));
    } else if (kind < 0.6) {
      images.push_back(Pool(g, images.back()));
    } else {
      images.push_back(Combine(g, images));
    }
  }
  g.AddResult(g.Apply("tanh", {g.Apply("Flatten", {images.back()})}).symbol);
  if (g.Chance(0.3)) g.AddResult(images[images.size() / 2].symbol);
}

}  // namespace cooper
