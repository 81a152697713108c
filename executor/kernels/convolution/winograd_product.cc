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

// A vector of the channels of a block, of which there are 8 or 16.
template <int kLanes>
using Vector __attribute__((vector_size(kLanes * sizeof(float)))) = float;

// Functions take vectors by reference, since a program for any x86-64 cannot pass them in
// registers.
template <typename Lanes>
void Load(const float* from, Lanes& lanes) {
  std::memcpy(&lanes, from, sizeof(lanes));
}
template <typename Lanes>
void Store(const Lanes& lanes, float* to) {
  std::memcpy(to, &lanes, sizeof(lanes));
}

// The usual number of tiles in a group, which are transformed together. A weight element that is
// read from the shared cache serves as many multiplications.
constexpr int64_t kTiles = 24;
// The rows of a product. Each has two vectors of sums, which stay in registers: in 12 of AVX2's 16,
// or 24 of AVX-512's 32.
template <int kLanes>
constexpr int kMaxRows = kLanes == 16 ? 12 : 6;
// Distances between the 36 elements of a transformed tile are padded by a cache line: otherwise all
// of them would often fall into the same few sets of a cache.
constexpr int64_t kPadding = 16;

// The layout of a product sums = v * u. Channel c of row i is v[c / kLanes * v_step + i * kLanes +
// c % kLanes], so that all rows are at constant distances. Vector k of the filters is u[c *
// kWinogradFilters + k * u_step], and its sums are sums[i * kWinogradFilters + k * sums_step].
struct ProductLayout {
  int64_t blocks;  // of kLanes channels
  int64_t v_step, u_step, sums_step;
};

// Computes the product for kRows rows and kVectors vectors of filters.
template <int kLanes, int kVectors, int kRows>
void Multiply(const ProductLayout& layout, const float* v, const float* u, float* sums) {
  Vector<kLanes> own[kRows][kVectors] = {};
  for (int64_t b = 0; b < layout.blocks; ++b, v += layout.v_step) {
    for (int c = 0; c < kLanes; ++c, u += kWinogradFilters) {
      Vector<kLanes> filters[kVectors];
#pragma GCC unroll 2
      for (int k = 0; k < kVectors; ++k) Load(u + k * layout.u_step, filters[k]);
#pragma GCC unroll 12
      for (int i = 0; i < kRows; ++i) {
        const float factor = v[i * kLanes + c];
#pragma GCC unroll 2
        for (int k = 0; k < kVectors; ++k) own[i][k] += filters[k] * factor;
      }
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int k = 0; k < kVectors; ++k) {
      Store(own[i][k], sums + i * kWinogradFilters + k * layout.sums_step);
    }
  }
}

// Calls Multiply for `count` rows, at most kRows.
template <int kLanes, int kVectors, int kRows>
void MultiplyGroup(int64_t count, const ProductLayout& layout, const float* v, const float* u,
                   float* sums) {
  if constexpr (kRows > 1) {
    if (count < kRows) {
      return MultiplyGroup<kLanes, kVectors, kRows - 1>(count, layout, v, u, sums);
    }
  }
  Multiply<kLanes, kVectors, kRows>(layout, v, u, sums);
}

// Multiplies all `rows`, in groups of nearly equal size.
template <int kLanes, int kVectors>
void MultiplyAll(int64_t rows, const ProductLayout& layout, const float* v, const float* u,
                 float* sums) {
  constexpr int kRows = kMaxRows<kLanes>;
  const int64_t groups = (rows + kRows - 1) / kRows;
  for (int64_t i = 0; i < groups; ++i) {
    const int64_t first = rows * i / groups, count = rows * (i + 1) / groups - first;
    MultiplyGroup<kLanes, kVectors, kRows>(count, layout, v + first * kLanes, u,
                                           sums + first * kWinogradFilters);
  }
}

// The fewest tiles of a group that is made smaller than kTiles for another thread.
constexpr int64_t kMinTiles = 6;

// Returns whether the transformed weight has at most 4.5 MB, so that reading it costs little even
// for a few tiles (measured on Zen 5).
bool HasSmallWeight(const ConvolutionProduct& shape) {
  return shape.g.channels * shape.filters <= 32768;
}

// Returns the number of tiles that cover an axis of `extent` results.
int64_t TilesAlong(int64_t extent) { return (extent + kWinogradResults - 1) / kWinogradResults; }

template <int kLanes>
class WinogradProduct : public BlockedProduct {
 public:
  WinogradProduct(const ConvolutionProduct& shape, const Options& options)
      : p_(shape), options_(options) {
    const auto& g = p_.g;
    down_ = TilesAlong(g.out[1]);
    across_ = TilesAlong(g.out[2]);
    tiles_ = p_.batch * down_ * across_;
    groups_ = std::max<int64_t>(1, (tiles_ + kTiles / 2) / kTiles);
    slices_ = 1;
    const int64_t threads = NumThreads();
    if (groups_ < 4 * threads && groups_ % threads != 0) {
      // Gives each thread equally many groups, unless small groups would read a large weight often.
      // Otherwise cuts the filters, and each slice transforms the images again.
      const int64_t more = (groups_ + threads - 1) / threads * threads;
      if (tiles_ >= kMinTiles * more && (groups_ > 1 || HasSmallWeight(p_))) {
        groups_ = more;
      } else {
        slices_ = std::min(threads, p_.filters / kWinogradFilters);
      }
    }
    buffers_ = std::min(groups_ * slices_, threads);
    const int64_t most = (tiles_ + groups_ - 1) / groups_;
    image_step_ = most * g.channels + kPadding;
    sums_step_ = most * kWinogradFilters + kPadding;
    sums_slice_ = kWinogradElements * sums_step_;
    buffer_elements_ = kWinogradElements * image_step_ + kSlices * sums_slice_;
    workspace_bytes_ = buffers_ * buffer_elements_ * static_cast<int64_t>(sizeof(float));
  }

  void Run(const Arrays& arrays, char* workspace) const override {
    ForEachPartWithBuffer(groups_ * slices_, buffers_, [&](int64_t item, int64_t k) {
      float* const buffer = reinterpret_cast<float*>(workspace) + k * buffer_elements_;
      RunAtLevel<kLanes == 16 ? CpuLevel::kAvx512 : CpuLevel::kAvx2>(
          [&] { RunItem(item, arrays, buffer); });
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
  // The vectors of a slice of filters, and the slices that are multiplied at a time.
  static constexpr int kVectors = kWinogradFilters / kLanes;
  static constexpr int kSlices = 2 / kVectors;

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
                       buffer + (block * (last - first) + i - first) * kLanes);
      }
    }
    const int64_t filters = p_.filters / kWinogradFilters;
    const int64_t end = filters * (slice + 1) / slices_;
    for (int64_t f = filters * slice / slices_; f < end;) {
      const int64_t count = std::min<int64_t>(kSlices, end - f);
      MultiplySlices(last - first, f, count, arrays.weight, buffer, sums);
      for (int64_t k = 0; k < count * kVectors; ++k) {
        const float* const from = sums + k / kVectors * sums_slice_ + k % kVectors * kLanes;
        for (int64_t i = first; i < last; ++i) {
          TransformResults(TileAt(i), f * kVectors + k, arrays,
                           from + (i - first) * kWinogradFilters);
        }
      }
      f += count;
    }
  }

  // Computes the sums of `rows` tiles for `count` slices, at most kSlices, from slice f on.
  void MultiplySlices(int64_t rows, int64_t f, int64_t count, const float* weight,
                      const float* tiles, float* sums) const {
    const int64_t channels = p_.g.channels;
    const int64_t slice = kWinogradElements * channels * kWinogradFilters;
    ProductLayout layout{.blocks = channels / kLanes, .v_step = rows * kLanes};
    if constexpr (kVectors == 1) {
      layout.u_step = slice;
      layout.sums_step = sums_slice_;
    } else {
      layout.u_step = layout.sums_step = kLanes;
    }
    weight += f * slice;
    for (int64_t e = 0; e < kWinogradElements; ++e) {
      const float* const v = tiles + e * image_step_;
      float* const to = sums + e * sums_step_;
      if (count == kSlices) {
        MultiplyAll<kLanes, kVectors * kSlices>(rows, layout, v, weight, to);
      } else {
        MultiplyAll<kLanes, kVectors>(rows, layout, v, weight, to);
      }
      weight += channels * kWinogradFilters;
    }
  }

  // Transforms the part of the image that a tile reads, for a block of channels. Elements outside
  // of the image are 0. Element e of the transformed tile goes to to[e * image_step_].
  void TransformImage(const Tile& tile, int64_t block, const float* image, float* to) const {
    const auto& g = p_.g;
    const float* const from =
        image + (tile.image * g.channels / kLanes + block) * g.image_size() * kLanes;
    Vector<kLanes> x[kWinogradElements];
    const int64_t top = tile.row - g.pad[1], left = tile.column - g.pad[2];
    const bool inside =
        top >= 0 && left >= 0 && top + kWinogradSide <= g.in[1] && left + kWinogradSide <= g.in[2];
    for (int i = 0; i < kWinogradSide; ++i) {
      for (int j = 0; j < kWinogradSide; ++j) {
        const int64_t row = top + i, column = left + j;
        Vector<kLanes>& element = x[i * kWinogradSide + j];
        if (inside || (row >= 0 && row < g.in[1] && column >= 0 && column < g.in[2])) {
          Load(from + (row * g.in[2] + column) * kLanes, element);
        } else {
          element = Vector<kLanes>{};
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
    Vector<kLanes> x[kWinogradElements];
    for (int e = 0; e < kWinogradElements; ++e) Load(sums + e * sums_step_, x[e]);
    for (int i = 0; i < kWinogradSide; ++i) TransformResultLine(x + i, kWinogradSide);
    for (int i = 0; i < kWinogradResults; ++i) TransformResultLine(x + i * kWinogradSide, 1);
    float* const map =
        arrays.map + (tile.image * p_.filters / kLanes + block) * g.columns() * kLanes;
    Vector<kLanes> bias = {};
    if (options_.bias) Load(arrays.bias + block * kLanes, bias);
    const int64_t rows = std::min<int64_t>(kWinogradResults, g.out[1] - tile.row);
    const int64_t columns = std::min<int64_t>(kWinogradResults, g.out[2] - tile.column);
    for (int64_t i = 0; i < rows; ++i) {
      float* const to = map + ((tile.row + i) * g.out[2] + tile.column) * kLanes;
      for (int64_t j = 0; j < columns; ++j) {
        Vector<kLanes> result = x[i * kWinogradSide + j] + bias;
        if (options_.add) {
          Vector<kLanes> previous;
          Load(to + j * kLanes, previous);
          result += previous;
        }
        // Gives 0 for NaN, as oneDNN's.
        if (options_.relu) result = result > 0.0F ? result : Vector<kLanes>{};
        Store(result, to + j * kLanes);
      }
    }
  }

  const ConvolutionProduct p_;
  const Options options_;
  int64_t down_, across_, tiles_;  // tiles down and across a map, and in the whole batch
  int64_t groups_, slices_;        // groups of tiles, slices of filters
  int64_t buffers_;                // workspaces, one for each thread that computes
  // Distances between elements of the transformed tiles and of the sums, and between slices' sums.
  int64_t image_step_, sums_step_, sums_slice_;
  int64_t buffer_elements_;
};

// Returns whether the algorithm can compute the convolution of images with such blocks.
bool HasTiles(const ConvolutionProduct& shape, int block) {
  return HasDense3x3Windows(shape.g) && shape.groups == 1 && shape.g.channels % block == 0 &&
         shape.filters % kWinogradFilters == 0;
}

// Returns whether this processor and program have the instructions for blocks of
// OneDnnChannelBlock() channels.
bool HasWinogradTiles() {
  const CpuLevel needed = OneDnnChannelBlock() == 16 ? CpuLevel::kAvx512 : CpuLevel::kAvx2;
#if defined(__AVX512F__)  // the whole program is compiled for one level
  return true;
#elif defined(__AVX2__)
  return needed == CpuLevel::kAvx2;
#else
  return HighestCpuLevel() >= needed;
#endif
}

}  // namespace

bool SuitsWinogradTiles(const ConvolutionProduct& shape) {
  const int64_t tiles = TilesAlong(shape.g.out[1]) * TilesAlong(shape.g.out[2]);
  // With AVX-512 a tile takes half the time, but reading the weight takes as long.
  const int64_t least = OneDnnChannelBlock() == 16 && !HasSmallWeight(shape) ? 8 : 4;
  return HasWinogradTiles() && HasTiles(shape, OneDnnChannelBlock()) &&
         shape.g.columns() >= 8 * tiles && shape.batch * tiles >= least;
}

absl::StatusOr<std::unique_ptr<const BlockedProduct>> MakeWinogradProduct(
    const ConvolutionProduct& shape, int block, const BlockedProduct::Options& options) {
  if (!HasTiles(shape, block) || options.result != BlockedProduct::Result::kMap ||
      options.plain_image || options.scales || options.clip) {
    return absl::UnimplementedError("a convolution that Winograd's algorithm does not compute");
  }
  if (block == 16) {
    return std::make_unique<const WinogradProduct<16>>(shape, options);
  }
  return std::make_unique<const WinogradProduct<8>>(shape, options);
}

}  // namespace cooper
