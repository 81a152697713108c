// Compares cooper's Winograd product with sums in double, for all blocks of the processor.

#include "executor/kernels/convolution/winograd_product.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "executor/kernels/convolution/winograd_tile.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/cpu_level.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

using Options = BlockedProduct::Options;

// Returns the sizes of blocks for which this processor has instructions. A program that is compiled
// for one level runs the product as it was compiled, with blocks of any size.
std::vector<int> Blocks() {
#ifdef COOPER_CPU_LEVELS
  std::vector<int> blocks;
  if (HighestCpuLevel() >= CpuLevel::kAvx2) blocks.push_back(8);
  if (HighestCpuLevel() >= CpuLevel::kAvx512) blocks.push_back(16);
  return blocks;
#else
  return {8, 16};
#endif
}

// A convolution of 3 x 3 windows over images (batch, channels, rows, columns).
ConvolutionProduct Product(int64_t batch, int64_t channels, int64_t filters, int64_t rows,
                           int64_t columns, int64_t pad_rows, int64_t pad_columns) {
  ConvolutionProduct p;
  p.batch = batch;
  p.groups = 1;
  p.filters = filters;
  p.g.channels = channels;
  const int64_t in[] = {rows, columns}, pad[] = {pad_rows, pad_columns};
  for (int i = 0; i < 2; ++i) {
    p.g.in[i + 1] = in[i];
    p.g.kernel[i + 1] = 3;
    p.g.pad[i + 1] = pad[i];
    p.g.out[i + 1] = in[i] + 2 * pad[i] - 2;
  }
  return p;
}

// Returns `size` numbers in [-1, 1), the same ones for the same seed.
std::vector<float> Numbers(int64_t size, uint32_t seed) {
  std::vector<float> numbers(size);
  for (float& number : numbers) {
    seed = seed * 1664525 + 1013904223;
    number = static_cast<float>(static_cast<int32_t>(seed)) * 0x1p-31F;
  }
  return numbers;
}

// Returns the offset of an element in an array (batch, channels / block, rows, columns, block).
int64_t Blocked(int block, int64_t n, int64_t channels, int64_t c, int64_t size, int64_t at) {
  return ((n * channels + c / block * block) * size) + at * block + c % block;
}

struct Arrays {
  std::vector<float> image, weight, bias, map;
  explicit Arrays(const ConvolutionProduct& p)
      : image(Numbers(p.batch * p.image_step(), 1)),
        weight(Numbers(p.weight_step(), 2)),
        bias(Numbers(p.filters, 3)),
        map(Numbers(p.batch * p.map_step(), 4)) {}
};

// Returns the results, rounded from double.
std::vector<float> Expected(const ConvolutionProduct& p, int block, const Options& options,
                            const Arrays& a) {
  std::vector<float> map = a.map;
  const WindowGeometry& g = p.g;
  for (int64_t n = 0; n < p.batch; ++n) {
    for (int64_t f = 0; f < p.filters; ++f) {
      for (int64_t y = 0; y < g.out[1]; ++y) {
        for (int64_t x = 0; x < g.out[2]; ++x) {
          double sum = options.bias ? a.bias[f] : 0;
          for (int64_t c = 0; c < g.channels; ++c) {
            for (int64_t k = 0; k < 9; ++k) {
              const int64_t row = y + k / 3 - g.pad[1], column = x + k % 3 - g.pad[2];
              if (row < 0 || row >= g.in[1] || column < 0 || column >= g.in[2]) continue;
              sum +=
                  static_cast<double>(a.weight[(f * g.channels + c) * 9 + k]) *
                  a.image[Blocked(block, n, g.channels, c, g.image_size(), row * g.in[2] + column)];
            }
          }
          float& result = map[Blocked(block, n, p.filters, f, g.columns(), y * g.out[2] + x)];
          if (options.add) sum += result;
          result = static_cast<float>(options.relu ? std::max(sum, 0.0) : sum);
        }
      }
    }
  }
  return map;
}

// Returns the results of a product that is made for `threads` threads.
std::vector<float> Results(const ConvolutionProduct& p, int block, const Options& options, Arrays a,
                           int threads) {
  SetNumThreads(threads);
  const auto product = *MakeWinogradProduct(p, block, options);
  std::vector<float> weight(p.filters * p.g.channels * kWinogradElements);
  TransformWinogradWeight(p.filters, p.g.channels, a.weight.data(), weight.data());
  std::vector<float> workspace(product->workspace_bytes() / sizeof(float));
  product->Run({.image = a.image.data(),
                .weight = weight.data(),
                .map = a.map.data(),
                .bias = a.bias.data()},
               reinterpret_cast<char*>(workspace.data()));
  SetNumThreads(0);
  return a.map;
}

// Returns convolutions whose channels are multiples of `block`.
std::vector<ConvolutionProduct> Products(int64_t block) {
  return {
      Product(1, block, 16, 4, 4, 0, 0),        Product(1, block, 16, 1, 1, 1, 1),
      Product(3, 3 * block, 48, 7, 7, 1, 1),    Product(1, 2 * block, 32, 1, 121, 2, 1),
      Product(1, 2 * block, 32, 61, 7, 5, 0),   Product(2, 5 * block, 16, 17, 30, 1, 2),
      Product(1, block, 80, 3, 3, 1, 1),        Product(8, 2 * block, 16, 12, 12, 1, 1),
      Product(1, 16 * block, 16, 30, 30, 1, 1), Product(1, 2 * block, 48, 14, 14, 1, 1),
      Product(1, 128, 272, 14, 9, 1, 1),
  };
}

TEST(WinogradProductTest, IsCloseToSumsInDouble) {
  if (Blocks().empty()) GTEST_SKIP() << "a processor without AVX2";
  for (const int block : Blocks()) {
    for (const ConvolutionProduct& p : Products(block)) {
      SCOPED_TRACE(testing::Message()
                   << p.g.channels << " channels of " << p.g.in[1] << " x " << p.g.in[2]);
      for (const Options& options :
           {Options{}, Options{.bias = true, .relu = true}, Options{.bias = true, .add = true},
            Options{.relu = true, .add = true}}) {
        const Arrays arrays(p);
        const std::vector<float> expected = Expected(p, block, options, arrays);
        const std::vector<float> one = Results(p, block, options, arrays, 1);
        // Errors grow with the root of the number of terms, which are below 1.
        const float tolerance = 4e-6F * std::sqrt(static_cast<float>(p.g.rows()));
        for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(one[i], expected[i], tolerance);
        for (const int threads : {2, 3, 5}) {
          EXPECT_EQ(Results(p, block, options, arrays, threads), one);
        }
      }
    }
  }
}

TEST(WinogradProductTest, ReluGivesZeroForNan) {
  if (Blocks().empty()) GTEST_SKIP() << "a processor without AVX2";
  for (const int block : Blocks()) {
    const ConvolutionProduct p = Product(1, block, 16, 4, 4, 1, 1);
    Arrays arrays(p);
    std::ranges::fill(arrays.image, std::numeric_limits<float>::quiet_NaN());
    EXPECT_EQ(Results(p, block, {.relu = true}, arrays, 1), std::vector<float>(arrays.map.size()));
  }
}

TEST(WinogradProductTest, RefusesOtherConvolutions) {
  const ConvolutionProduct good = Product(1, 16, 16, 6, 6, 1, 1);
  const auto refused = StatusIs(absl::StatusCode::kUnimplemented, testing::_);
  for (const Options& options :
       {Options{.result = BlockedProduct::Result::kImage}, Options{.plain_image = true},
        Options{.scales = true}, Options{.clip = true}}) {
    EXPECT_THAT(MakeWinogradProduct(good, 8, options), refused);
  }
  std::vector<ConvolutionProduct> others(8, good);
  others[0].groups = 2;
  others[1].filters = 24;
  others[2].g.channels = 12;
  others[3].g.kernel[2] = 5;
  others[4].g.stride[1] = 2;
  others[5].g.dilate[2] = 2;
  others[6].g.kernel[0] = 3;
  others[7].g.in[0] = others[7].g.out[0] = 2;
  for (const ConvolutionProduct& p : others) EXPECT_THAT(MakeWinogradProduct(p, 8, {}), refused);
  EXPECT_THAT(MakeWinogradProduct(Product(1, 24, 16, 6, 6, 1, 1), 16, {}), refused);
}

}  // namespace
}  // namespace cooper
