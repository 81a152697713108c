#include "executor/kernels/convolution/winograd_product.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "absl/status/status.h"
#include "executor/kernels/convolution/convolution_parts.h"
#include "executor/kernels/convolution/thread_buffers.h"
#include "executor/kernels/convolution/winograd_tile.h"
#include "ndarray/threads/cpu_level.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/fused/winograd_weight_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {
namespace {

// The channels of a block, and a vector of them.
constexpr int kLanes = 8;
using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));

// Functions take Lanes by reference, since a program for any x86-64 cannot pass them in registers.
void Load(const float* from, Lanes& lanes) { std::memcpy(&lanes, from, sizeof(lanes)); }
void Store(const Lanes& lanes, float* to) { std::memcpy(to, &lanes, sizeof(lanes)); }

// The usual number of tiles in a group, which are transformed together. A weight element that is
// read from the shared cache serves as many multiplications.
constexpr int64_t kTiles = 24;
// The rows of a product whose sums the 16 registers of AVX2 hold, beside the factors.
constexpr int kMaxRows = 6;
// Distances between the 36 elements of a transformed tile are padded by a cache line: otherwise all
// of them would often fall into the same few sets of a cache.
constexpr int64_t kPadding = 16;

// Computes sums (kRows, 16) = v (kRows, depth) * u (depth, 16). Rows of v are v_stride apart.
template <int kRows>
void Multiply(int64_t depth, const float* v, int64_t v_stride, const float* u, float* sums) {
  Lanes left[kRows] = {}, right[kRows] = {};
  for (int64_t c = 0; c < depth; ++c) {
    Lanes u_left, u_right;
    Load(u + c * kWinogradFilters, u_left);
    Load(u + c * kWinogradFilters + kLanes, u_right);
#pragma GCC unroll 6
    for (int i = 0; i < kRows; ++i) {
      const float factor = v[i * v_stride + c];
      left[i] += u_left * factor;
      right[i] += u_right * factor;
    }
  }
  for (int i = 0; i < kRows; ++i) {
    Store(left[i], sums + i * kWinogradFilters);
    Store(right[i], sums + i * kWinogradFilters + kLanes);
  }
}

// Calls Multiply for all `rows`, in groups of nearly equal size.
void MultiplyAll(int64_t rows, int64_t depth, const float* v, const float* u, float* sums) {
  const int64_t groups = (rows + kMaxRows - 1) / kMaxRows;
  for (int64_t i = 0; i < groups; ++i) {
    const int64_t first = rows * i / groups, count = rows * (i + 1) / groups - first;
    const float* const from = v + first * depth;
    float* const to = sums + first * kWinogradFilters;
    switch (count) {
      case 6:
        Multiply<6>(depth, from, depth, u, to);
        break;
      case 5:
        Multiply<5>(depth, from, depth, u, to);
        break;
      case 4:
        Multiply<4>(depth, from, depth, u, to);
        break;
      case 3:
        Multiply<3>(depth, from, depth, u, to);
        break;
      case 2:
        Multiply<2>(depth, from, depth, u, to);
        break;
      default:
        Multiply<1>(depth, from, depth, u, to);
    }
  }
}

// Returns the number of tiles that cover an axis of `extent` results.
int64_t TilesAlong(int64_t extent) { return (extent + kWinogradResults - 1) / kWinogradResults; }

class WinogradProduct : public BlockedProduct {
 public:
  WinogradProduct(const ConvolutionProduct& shape, const Options& options)
      : p_(shape), options_(options) {
    const auto& g = p_.g;
    down_ = TilesAlong(g.out[1]);
    across_ = TilesAlong(g.out[2]);
    tiles_ = p_.batch * down_ * across_;
    groups_ = std::max<int64_t>(1, (tiles_ + kTiles / 2) / kTiles);
    // Few groups are cut by filters too, which costs another transform of the images.
    const int64_t threads = NumThreads();
    const int64_t filters = p_.filters / kWinogradFilters;
    slices_ = groups_ >= 4 * threads || groups_ % threads == 0 ? 1 : std::min(threads, filters);
    buffers_ = std::min(groups_ * slices_, threads);
    const int64_t most = (tiles_ + groups_ - 1) / groups_;
    image_step_ = most * g.channels + kPadding;
    sums_step_ = most * kWinogradFilters + kPadding;
    buffer_elements_ = kWinogradElements * (image_step_ + sums_step_);
    workspace_bytes_ = buffers_ * buffer_elements_ * static_cast<int64_t>(sizeof(float));
  }

  void Run(const Arrays& arrays, char* workspace) const override {
    ForEachPartWithBuffer(groups_ * slices_, buffers_, [&](int64_t item, int64_t k) {
      float* const buffer = reinterpret_cast<float*>(workspace) + k * buffer_elements_;
      RunAtCpuLevel([&] { RunItem(item, arrays, buffer); });
    });
  }

  std::optional<WeightPacking> packing() const override {
    const WinogradWeightParam param{.filters = p_.filters,
                                    .channels = p_.g.channels,
                                    .slice = kWinogradFilters,
                                    .format = WinogradWeightParam::kTileFormat,
                                    .alpha = kWinogradSide,
                                    .filter_block = kWinogradFilters};
    return WeightPacking{.op = "_winograd_weight",
                         .attrs = ParamDeclaration<WinogradWeightParam>::Schema()->Print(&param),
                         .elements = param.num_elements()};
  }

 private:
  // A tile of 4 x 4 results: its image of the batch and the first row and column of its results.
  struct Tile {
    int64_t image, row, column;
  };
  Tile TileAt(int64_t i) const {
    return {i / (down_ * across_), i / across_ % down_ * kWinogradResults,
            i % across_ * kWinogradResults};
  }

  // Computes the results of a group of tiles for a slice of the filters.
  void RunItem(int64_t item, const Arrays& arrays, float* buffer) const {
    const int64_t group = item / slices_, slice = item % slices_;
    const int64_t first = tiles_ * group / groups_, last = tiles_ * (group + 1) / groups_;
    float* const sums = buffer + kWinogradElements * image_step_;
    const int64_t channels = p_.g.channels;
    for (int64_t block = 0; block < channels / kLanes; ++block) {
      for (int64_t i = first; i < last; ++i) {
        TransformImage(TileAt(i), block, arrays.image,
                       buffer + (i - first) * channels + block * kLanes);
      }
    }
    const int64_t filters = p_.filters / kWinogradFilters;
    for (int64_t f = filters * slice / slices_; f < filters * (slice + 1) / slices_; ++f) {
      const float* weight = arrays.weight + f * kWinogradElements * channels * kWinogradFilters;
      for (int64_t e = 0; e < kWinogradElements; ++e) {
        MultiplyAll(last - first, channels, buffer + e * image_step_, weight,
                    sums + e * sums_step_);
        weight += channels * kWinogradFilters;
      }
      for (int64_t i = first; i < last; ++i) {
        for (int half = 0; half < kWinogradFilters / kLanes; ++half) {
          TransformResults(TileAt(i), f * kWinogradFilters / kLanes + half, arrays,
                           sums + (i - first) * kWinogradFilters + half * kLanes);
        }
      }
    }
  }

  // Transforms the part of the image that a tile reads, for a block of channels. Elements outside
  // of the image are 0. Element e of the transformed tile goes to to[e * image_step_].
  void TransformImage(const Tile& tile, int64_t block, const float* image, float* to) const {
    const auto& g = p_.g;
    const float* const from =
        image + (tile.image * g.channels / kLanes + block) * g.image_size() * kLanes;
    Lanes x[kWinogradElements];
    const int64_t top = tile.row - g.pad[1], left = tile.column - g.pad[2];
    const bool inside =
        top >= 0 && left >= 0 && top + kWinogradSide <= g.in[1] && left + kWinogradSide <= g.in[2];
    for (int i = 0; i < kWinogradSide; ++i) {
      for (int j = 0; j < kWinogradSide; ++j) {
        const int64_t row = top + i, column = left + j;
        Lanes& element = x[i * kWinogradSide + j];
        if (inside || (row >= 0 && row < g.in[1] && column >= 0 && column < g.in[2])) {
          Load(from + (row * g.in[2] + column) * kLanes, element);
        } else {
          element = Lanes{};
        }
      }
    }
    for (int i = 0; i < kWinogradSide; ++i) TransformImageLine(x + i, kWinogradSide);
    for (int i = 0; i < kWinogradSide; ++i) TransformImageLine(x + i * kWinogradSide, 1);
    for (int e = 0; e < kWinogradElements; ++e) Store(x[e], to + e * image_step_);
  }

  // Transforms the sums of a tile, of which element e lies at sums[e * sums_step_], and stores the
  // results that lie inside of the map.
  void TransformResults(const Tile& tile, int64_t block, const Arrays& arrays,
                        const float* sums) const {
    const auto& g = p_.g;
    Lanes x[kWinogradElements];
    for (int e = 0; e < kWinogradElements; ++e) Load(sums + e * sums_step_, x[e]);
    for (int i = 0; i < kWinogradSide; ++i) TransformResultLine(x + i, kWinogradSide);
    for (int i = 0; i < kWinogradResults; ++i) TransformResultLine(x + i * kWinogradSide, 1);
    float* const map =
        arrays.map + (tile.image * p_.filters / kLanes + block) * g.columns() * kLanes;
    Lanes bias = {};
    if (options_.bias) Load(arrays.bias + block * kLanes, bias);
    const int64_t rows = std::min<int64_t>(kWinogradResults, g.out[1] - tile.row);
    const int64_t columns = std::min<int64_t>(kWinogradResults, g.out[2] - tile.column);
    for (int64_t i = 0; i < rows; ++i) {
      float* const to = map + ((tile.row + i) * g.out[2] + tile.column) * kLanes;
      for (int64_t j = 0; j < columns; ++j) {
        Lanes result = x[i * kWinogradSide + j] + bias;
        if (options_.add) {
          Lanes previous;
          Load(to + j * kLanes, previous);
          result += previous;
        }
        if (options_.relu) result = result > 0.0F ? result : Lanes{};  // 0 for NaN, as oneDNN's
        Store(result, to + j * kLanes);
      }
    }
  }

  const ConvolutionProduct p_;
  const Options options_;
  int64_t down_, across_, tiles_;  // tiles down and across a map, and in the whole batch
  int64_t groups_, slices_;        // groups of tiles, slices of filters
  int64_t buffers_;                // workspaces, one for each thread that computes
  int64_t image_step_, sums_step_, buffer_elements_;
};

// Returns whether the algorithm can compute the convolution.
bool HasTiles(const ConvolutionProduct& shape) {
  return HasDense3x3Windows(shape.g) && shape.groups == 1 && shape.g.channels % kLanes == 0 &&
         shape.filters % kWinogradFilters == 0;
}

}  // namespace

bool HasWinogradTiles() {
#ifdef __AVX2__  // the whole program is compiled for AVX2 and has a single level
  const bool has_avx2 = true;
#else
  const bool has_avx2 = HighestCpuLevel() >= CpuLevel::kAvx2;
#endif
  return has_avx2 && OneDnnChannelBlock() == kLanes;
}

bool SuitsWinogradTiles(const ConvolutionProduct& shape) {
  const int64_t tiles = TilesAlong(shape.g.out[1]) * TilesAlong(shape.g.out[2]);
  return HasTiles(shape) && shape.g.columns() >= 8 * tiles && shape.batch * tiles >= 4;
}

absl::StatusOr<std::unique_ptr<const BlockedProduct>> MakeWinogradProduct(
    const ConvolutionProduct& shape, const BlockedProduct::Options& options) {
  if (!HasTiles(shape) || options.result != BlockedProduct::Result::kMap || options.plain_image ||
      options.scales || options.clip) {
    return absl::UnimplementedError("a convolution that Winograd's algorithm does not compute");
  }
  return std::make_unique<const WinogradProduct>(shape, options);
}

}  // namespace cooper
