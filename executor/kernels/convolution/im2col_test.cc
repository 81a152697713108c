#include "executor/kernels/convolution/im2col.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "executor/kernels/convolution/convolution_geometry.h"
#include "gtest/gtest.h"

namespace cooper {
namespace {

// Calls fn(row, column, pixel) for every element of the columns, by the definition of
// WindowGeometry; `pixel` is -1 in the padding.
template <typename Fn>
void ForEachElement(const WindowGeometry& g, const Fn& fn) {
  for (int64_t row = 0; row < g.rows(); ++row) {
    const int64_t element = row % g.kernel_size();
    const int64_t k[3] = {element / g.kernel[2] / g.kernel[1], element / g.kernel[2] % g.kernel[1],
                          element % g.kernel[2]};
    for (int64_t column = 0; column < g.columns(); ++column) {
      const int64_t o[3] = {column / g.out[2] / g.out[1], column / g.out[2] % g.out[1],
                            column % g.out[2]};
      int64_t pixel = row / g.kernel_size();
      bool inside = true;
      for (int i = 0; i < 3; ++i) {
        const int64_t at = o[i] * g.stride[i] + k[i] * g.dilate[i] - g.pad[i];
        inside = inside && at >= 0 && at < g.in[i];
        pixel = pixel * g.in[i] + at;
      }
      fn(row, column, inside ? pixel : -1);
    }
  }
}

void ExpectByDefinition(const WindowGeometry& g) {
  const int64_t size = g.rows() * g.columns(), pixels = g.channels * g.image_size();
  std::vector<float> image(pixels), columns(size, -1), from(size), sums(pixels, -1);
  for (int64_t i = 0; i < pixels; ++i) image[i] = static_cast<float>(i + 1);
  for (int64_t i = 0; i < size; ++i) from[i] = static_cast<float>(i % 101 + 1);
  Im2Col(g, image.data(), columns.data());
  Col2Im(g, from.data(), sums.data(), /*add=*/false);
  std::vector<float> added = image;
  Col2Im(g, from.data(), added.data(), /*add=*/true);
  std::vector<float> expected(pixels);
  ForEachElement(g, [&](int64_t row, int64_t column, int64_t pixel) {
    const int64_t at = row * g.columns() + column;
    EXPECT_EQ(columns[at], pixel < 0 ? 0 : image[pixel]) << "row " << row << ", column " << column;
    if (pixel >= 0) expected[pixel] += from[at];
  });
  for (int64_t i = 0; i < pixels; ++i) {
    EXPECT_EQ(sums[i], expected[i]) << "pixel " << i;
    EXPECT_EQ(added[i], expected[i] + image[i]) << "pixel " << i;
  }
}

// Sums of small integers are exact, so the order of additions does not matter here.
TEST(Im2ColTest, IsTheDefinitionAtAllStridesAndPaddings) {
  for (const int64_t kernel : {1, 2, 3, 4, 5}) {
    for (const int64_t stride : {1, 2, 3}) {
      for (const int64_t dilate : {1, 2}) {
        for (const int64_t pad : {0, 1, 2, 4}) {
          for (const int64_t in : {1, 2, 7, 70}) {
            WindowGeometry g;
            g.channels = 2;
            for (int i = 1; i < 3; ++i) {
              g.in[i] = i == 1 ? std::min<int64_t>(in, 7) : in;
              g.kernel[i] = kernel;
              g.stride[i] = stride;
              g.dilate[i] = dilate;
              g.pad[i] = pad;
              const int64_t room = g.in[i] + 2 * pad - (kernel - 1) * dilate - 1;
              g.out[i] = room < 0 ? 0 : room / stride + 1;
            }
            SCOPED_TRACE(testing::Message()
                         << "kernel " << kernel << ", stride " << stride << ", dilate " << dilate
                         << ", pad " << pad << ", in " << in);
            if (g.columns() > 0) ExpectByDefinition(g);
          }
        }
      }
    }
  }
}

TEST(Im2ColTest, HasThreeSpatialAxes) {
  for (const int64_t stride : {1, 2}) {
    WindowGeometry g;
    for (int i = 0; i < 3; ++i) {
      g.in[i] = 5 + i;
      g.kernel[i] = 3;
      g.stride[i] = stride;
      g.pad[i] = 1;
      g.out[i] = (g.in[i] - 1) / stride + 1;
    }
    ExpectByDefinition(g);
  }
}

}  // namespace
}  // namespace cooper
