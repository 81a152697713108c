// Compares the products of convolutions, depthwise ones too, with their definition. Values are
// small integers, whose sums are exact in any order.

#include "executor/kernels/convolution/convolution_product.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/kernels/convolution/depthwise_product.h"
#include "gtest/gtest.h"
#include "ndarray/threads/each_cpu_level.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// A convolution. Channels and filters are those of a group; extents are of depth, rows and columns.
struct Case {
  int64_t batch, groups, channels, filters;
  int64_t in[3], kernel[3], stride[3] = {1, 1, 1}, dilate[3] = {1, 1, 1}, pad[3] = {0, 0, 0};
};

ConvolutionProduct ProductOf(const Case& c) {
  ConvolutionProduct p;
  p.batch = c.batch;
  p.groups = c.groups;
  p.filters = c.filters;
  p.g.channels = c.channels;
  for (int i = 0; i < 3; ++i) {
    p.g.in[i] = c.in[i];
    p.g.kernel[i] = c.kernel[i];
    p.g.stride[i] = c.stride[i];
    p.g.dilate[i] = c.dilate[i];
    p.g.pad[i] = c.pad[i];
    p.g.out[i] = (c.in[i] + 2 * c.pad[i] - c.dilate[i] * (c.kernel[i] - 1) - 1) / c.stride[i] + 1;
  }
  return p;
}

// Calls fn(output, kernel) with the positions of each pair along an axis whose product is not
// padding, and with the position in the image.
template <typename Fn>
void ForEachPair(const WindowGeometry& g, int axis, const Fn& fn) {
  for (int64_t o = 0; o < g.out[axis]; ++o) {
    for (int64_t k = 0; k < g.kernel[axis]; ++k) {
      const int64_t i = o * g.stride[axis] + k * g.dilate[axis] - g.pad[axis];
      if (i >= 0 && i < g.in[axis]) fn(o, k, i);
    }
  }
}

// Calls fn(map element, weight element, image element) for each product of the convolution.
template <typename Fn>
void ForEachProduct(const ConvolutionProduct& p, const Fn& fn) {
  const WindowGeometry& g = p.g;
  ForEachPair(g, 0, [&](int64_t oz, int64_t kz, int64_t iz) {
    ForEachPair(g, 1, [&](int64_t oy, int64_t ky, int64_t iy) {
      ForEachPair(g, 2, [&](int64_t ox, int64_t kx, int64_t ix) {
        const int64_t o = (oz * g.out[1] + oy) * g.out[2] + ox;
        const int64_t k = (kz * g.kernel[1] + ky) * g.kernel[2] + kx;
        const int64_t i = (iz * g.in[1] + iy) * g.in[2] + ix;
        for (int64_t item = 0; item < p.batch * p.groups; ++item) {
          for (int64_t f = 0; f < p.filters; ++f) {
            for (int64_t c = 0; c < g.channels; ++c) {
              fn((item * p.filters + f) * g.columns() + o,
                 ((item % p.groups * p.filters + f) * g.channels + c) * g.kernel_size() + k,
                 (item * g.channels + c) * g.image_size() + i);
            }
          }
        }
      });
    });
  });
}

template <typename T>
std::vector<T> Integers(int64_t size, int64_t step) {
  std::vector<T> values(size);
  for (int64_t i = 0; i < size; ++i) values[i] = static_cast<T>(i * i * step % 13 - 6);
  return values;
}

const Case kCases[] = {
    // Depthwise.
    {2, 3, 1, 1, {1, 9, 11}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
    {1, 2, 1, 1, {1, 40, 56}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
    {3, 40, 1, 1, {1, 7, 7}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}},
    {1, 3, 1, 1, {1, 17, 30}, {1, 5, 5}, {1, 1, 1}, {1, 1, 1}, {0, 2, 2}},
    {2, 2, 1, 1, {1, 12, 9}, {1, 2, 4}, {1, 3, 2}, {1, 1, 1}, {0, 0, 3}},
    {1, 2, 1, 1, {1, 20, 33}, {1, 3, 3}, {1, 1, 1}, {1, 2, 3}, {0, 2, 0}},
    {1, 2, 1, 1, {1, 21, 25}, {1, 3, 3}, {1, 2, 3}, {1, 2, 2}, {0, 4, 1}},
    {2, 5, 1, 1, {1, 1, 70}, {1, 1, 7}, {1, 1, 1}, {1, 1, 1}, {0, 0, 3}},
    {1, 2, 1, 1, {1, 6, 8}, {1, 1, 1}, {1, 2, 2}},
    {1, 2, 1, 1, {1, 3, 3}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 5, 4}},  // windows of padding
    {1, 2, 1, 1, {1, 1, 1}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
    {1, 2, 1, 1, {1, 8, 8}, {1, 2, 2}, {1, 4, 4}},  // not all elements are in a window
    // Chunks of lines, for which columns are larger than the cache.
    {1, 1, 32, 8, {1, 40, 40}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
    {2, 2, 24, 5, {1, 61, 43}, {1, 3, 3}, {1, 2, 1}, {1, 1, 2}, {0, 1, 2}},
    {3, 1, 40, 3, {1, 33, 70}, {1, 5, 1}, {1, 1, 2}, {1, 3, 1}, {0, 6, 0}},
    // Chunks of planes, and of lines of planes.
    {1, 1, 4, 6, {40, 5, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {2, 1, 8, 4, {41, 6, 5}, {3, 2, 3}, {2, 1, 1}, {2, 1, 1}, {2, 0, 1}},
    {1, 2, 16, 3, {5, 30, 31}, {2, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 0}},
    // Parts of lines.
    {2, 1, 8, 3, {1, 1, 3333}, {1, 1, 5}, {1, 1, 1}, {1, 1, 2}, {0, 0, 4}},
    {1, 1, 2, 3, {2, 3, 4101}, {1, 2, 3}, {1, 1, 2}, {1, 1, 1}, {0, 1, 0}},
    // Parts of channels that are not equally large.
    {1, 1, 5, 3, {1, 12, 122}, {1, 5, 8}},
    {1, 1, 11, 3, {1, 13, 120}, {1, 6, 6}},
    // Nearly depthwise: padding of depth, and strides and dilations that make planes large.
    {1, 2, 1, 1, {1, 5, 6}, {1, 3, 3}, {3, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {1, 2, 1, 1, {1, 5, 6}, {1, 3, 3}, {1, 1 << 30, 1 << 30}, {1, 1, 1}, {0, 1, 1}},
    {1, 2, 1, 1, {1, 9, 9}, {1, 2, 2}, {1, 1, 1}, {1, 300, 300}, {0, 150, 150}},
    {1, 2, 1, 1, {1, 5000, 1}, {1, 3, 1}, {1, 1, 1}, {1, 1, 1}, {0, 1, 0}},
    // Nothing.
    {0, 1, 4, 3, {1, 5, 6}, {1, 3, 3}},
    {0, 4, 1, 1, {1, 5, 6}, {1, 3, 3}},
    // Without columns, and depthwise volumes.
    {2, 2, 3, 4, {2, 3, 5}, {1, 1, 1}},
    {2, 3, 1, 1, {5, 6, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
};

// Checks that fn(result, workspace) computes result = `sums`, or adds them with `add`, at each
// level and with different numbers of threads, in a workspace of `elements` elements.
template <typename T, typename Fn>
void Check(const std::vector<T>& sums, bool add, int64_t elements, const Fn& fn) {
  constexpr int64_t kGuard = 64;
  const std::vector<T> garbage(elements + kGuard, std::numeric_limits<T>::infinity());
  const auto before = Integers<T>(static_cast<int64_t>(sums.size()), 7);
  std::vector<T> expected = sums;
  for (size_t i = 0; add && i < sums.size(); ++i) expected[i] += before[i];
  for (const int threads : {1, 2, 3, 20}) {
    SetNumThreads(threads);
    ForEachCpuLevel([&] {
      std::vector<T> actual = before, workspace = garbage;
      fn(actual.data(), workspace.data());
      EXPECT_EQ(actual, expected) << threads << " threads";
      EXPECT_EQ(std::count(workspace.end() - kGuard, workspace.end(), garbage[0]), kGuard);
    });
  }
  SetNumThreads(0);
}

template <typename T>
void CheckProducts() {
  for (const Case& test : kCases) {
    const ConvolutionProduct p = ProductOf(test);
    const auto image = Integers<T>(p.batch * p.groups * p.image_step(), 1);
    const auto weight = Integers<T>(p.groups * p.weight_step(), 3);
    const auto map = Integers<T>(p.batch * p.groups * p.map_step(), 5);
    std::vector<T> of_image(image.size()), of_weight(weight.size()), of_map(map.size());
    ForEachProduct(p, [&](int64_t m, int64_t w, int64_t i) {
      of_map[m] += image[i] * weight[w];
      of_image[i] += map[m] * weight[w];
      of_weight[w] += map[m] * image[i];
    });
    const int64_t elements = ProductWorkspaceElements(p, sizeof(T));
    for (const bool add : {false, true}) {
      SCOPED_TRACE(absl::StrCat("case ", &test - kCases, add ? ", added" : ""));
      Check(of_map, add, elements, [&](T* result, T* workspace) {
        MapFromImage(p, image.data(), weight.data(), result, add, workspace);
      });
      Check(of_image, add, elements, [&](T* result, T* workspace) {
        ImageFromMap(p, map.data(), weight.data(), result, add, workspace);
      });
      Check(of_weight, add, elements, [&](T* result, T* workspace) {
        WeightFromBoth(p, image.data(), map.data(), result, add, workspace);
      });
    }
  }
}

TEST(ConvolutionProductTest, FloatsMatchTheDefinition) { CheckProducts<float>(); }
TEST(ConvolutionProductTest, DoublesMatchTheDefinition) { CheckProducts<double>(); }

TEST(DepthwiseProductTest, ServesGroupsOfOneChannel) {
  const ConvolutionProduct good = ProductOf(kCases[0]);
  EXPECT_TRUE(IsDepthwise(good));
  std::vector<ConvolutionProduct> others(6, good);
  others[0].groups = 1;
  others[1].filters = 2;
  others[2].g.channels = 2;
  others[3].g.kernel[0] = 2;
  others[4].g.pad[0] = 1;
  others[5].g.dilate[1] = others[5].g.dilate[2] = int64_t{1} << 30;
  for (const ConvolutionProduct& p : others) EXPECT_FALSE(IsDepthwise(p));
}

// A pixel that no window covers does not reach the gradient.
TEST(DepthwiseProductTest, InfinityOutsideOfWindowsIsIgnored) {
  const ConvolutionProduct p = ProductOf({1, 2, 1, 1, {1, 3, 10}, {1, 3, 3}, {1, 1, 2}});
  ASSERT_TRUE(IsDepthwise(p));
  std::vector<float> image(2 * p.image_step(), 1), map(2 * p.map_step(), 1), weight(2 * 9);
  for (int64_t i = 9; i < 60; i += 10) image[i] = std::numeric_limits<float>::infinity();
  std::vector<float> workspace(ProductWorkspaceElements(p, sizeof(float)));
  DepthwiseWeight(p, image.data(), map.data(), weight.data(), /*add=*/false, workspace.data());
  EXPECT_EQ(weight, std::vector<float>(18, 4));
}

// The columns of a whole image take 87 MB.
TEST(ConvolutionProductTest, WorkspaceHasTheColumnsOfChunks) {
  const ConvolutionProduct p =
      ProductOf({2, 1, 16, 32, {16, 56, 56}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}});
  EXPECT_LE(ProductWorkspaceElements(p, sizeof(float)) * 4, 22 << 20);
}

}  // namespace
}  // namespace cooper
