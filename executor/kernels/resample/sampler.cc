// Kernels of GridGenerator, BilinearSampler, SpatialTransformer and their gradients.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/kernels/resample/grid_source.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/sampler_param.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {
namespace {

// Computes grid (batch, 2, height, width) = matrix (batch, 2, 3) * (x, y, 1).
template <typename T>
void AffineGrid(const T* matrix, int64_t batch, int64_t height, int64_t width, T* grid, bool add) {
  ParallelFor(batch * 2 * height, RowGrain(width), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const T* const m = matrix + line / height * 3;
      T* const to = grid + line * width;
      const T y = NormalPosition<T>(line % height, height);
      for (int64_t x = 0; x < width; ++x) {
        Store(to + x, m[0] * NormalPosition<T>(x, width) + m[1] * y + m[2], add);
      }
    }
  });
}

// Computes the gradient of AffineGrid, a product with the transposed matrix of coordinates.
template <typename T>
void AffineGradient(const T* grid_grad, int64_t batch, int64_t height, int64_t width, T* grad,
                    bool add) {
  for (int64_t row = 0; row < batch * 2; ++row) {
    const T* g = grid_grad + row * height * width;
    T sum[3] = {0, 0, 0};
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x) {
        const T value = g[y * width + x];
        sum[0] += value * NormalPosition<T>(x, width);
        sum[1] += value * NormalPosition<T>(y, height);
        sum[2] += value;
      }
    }
    for (int i = 0; i < 3; ++i) Store(grad + row * 3 + i, sum[i], add);
  }
}

SampledImages ImagesOf(const Shape& data, const Shape& output) {
  return {data[0], data[1], data[2], data[3], output[2], output[3]};
}

// The sources of consecutive positions of a sample's output, computed once for its channels.
template <typename T>
struct SourceBlock {
  static constexpr int64_t kSize = 64;

  // Computes the sources of the positions from `first` on, at most kSize. `grid` is the sample's.
  SourceBlock(const SampledImages& m, const T* grid, int64_t first)
      : count(std::min(kSize, m.out_size() - first)), has_inner(m.in_w > 1 && m.in_h > 1) {
    for (int64_t i = 0; i < count; ++i) {
      const GridSource<T> source(m, grid, first + i);
      sources.push_back(source);
      const auto [x, y, wx, wy] = source;
      if (x < 0 || x + 1 >= m.in_w || y < 0 || y + 1 >= m.in_h) border.push_back(i);
      at[i] = std::clamp<int64_t>(y, 0, std::max<int64_t>(m.in_h - 2, 0)) * m.in_w +
              std::clamp<int64_t>(x, 0, std::max<int64_t>(m.in_w - 2, 0));
      weights[0][i] = wx * wy;
      weights[1][i] = (T{1} - wx) * wy;
      weights[2][i] = wx * (T{1} - wy);
      weights[3][i] = (T{1} - wx) * (T{1} - wy);
    }
  }

  int64_t count;
  // Whether a position can have all corners inside the image.
  bool has_inner;
  absl::InlinedVector<GridSource<T>, kSize> sources;
  absl::InlinedVector<int64_t, kSize> border;  // positions with a corner outside the image
  // The offset of corner 0 in a channel of the image, moved to where all corners are inside, and
  // the weights of the corners.
  int64_t at[kSize];
  T weights[4][kSize];
};

// The elements at `p` and after it.
template <typename T>
struct Neighbours {
  T left, right;

  static Neighbours At(const T* p) { return {p[0], p[1]}; }
};

// Two floats are loaded as one word: compilers load the elements of vectors one by one where they
// have no instruction for it, or do not trust it.
template <>
inline Neighbours<float> Neighbours<float>::At(const float* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof(word));
  const auto low = std::bit_cast<float>(static_cast<uint32_t>(word));
  const auto high = std::bit_cast<float>(static_cast<uint32_t>(word >> 32));
  return std::endian::native == std::endian::little ? Neighbours{low, high} : Neighbours{high, low};
}

template <typename T>
int64_t NumBlocks(const SampledImages& m) {
  return (m.out_size() + SourceBlock<T>::kSize - 1) / SourceBlock<T>::kSize;
}

template <typename T>
void Sample(const SampledImages& m, const T* data, const T* grid, T* out, bool add) {
  using Block = SourceBlock<T>;
  const int64_t blocks = NumBlocks<T>(m);
  const int64_t grain = RowGrain(Block::kSize * m.channels, 4096);
  ParallelFor(m.batch * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t n = item / blocks, first = item % blocks * Block::kSize;
      const Block block(m, grid + n * 2 * m.out_size(), first);
      T values[Block::kSize];
      for (int64_t k = n * m.channels; k < (n + 1) * m.channels; ++k) {
        const T* const plane = data + k * m.in_size();
        const int64_t inner = block.has_inner ? block.count : 0;
        COOPER_INDEPENDENT_ITERATIONS
        for (int64_t i = 0; i < inner; ++i) {
          const auto above = Neighbours<T>::At(plane + block.at[i]);
          const auto below = Neighbours<T>::At(plane + m.in_w + block.at[i]);
          values[i] = above.left * block.weights[0][i] + above.right * block.weights[1][i] +
                      below.left * block.weights[2][i] + below.right * block.weights[3][i];
        }
        for (const int64_t i : block.border) {
          T value = 0;
          block.sources[i].ForEachCorner(
              m, [&](int, int64_t at, T weight) { value += plane[at] * weight; });
          values[i] = value;
        }
        T* const to = out + k * m.out_size() + first;
        for (int64_t i = 0; i < block.count; ++i) Store(to + i, values[i], add);
      }
    }
  });
}

// Adds to the gradient of data. One thread adds to a channel of an image, in the order of the
// positions.
template <typename T>
void AddDataGradient(const SampledImages& m, const T* ograd, const T* grid, T* data_grad) {
  using Block = SourceBlock<T>;
  const int64_t planes = m.batch * m.channels;
  ParallelFor(planes, RowGrain(m.out_size(), 4096), [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t n = begin / m.channels;
      const int64_t last = std::min(end, (n + 1) * m.channels);
      for (int64_t first = 0; first < m.out_size(); first += Block::kSize) {
        const Block block(m, grid + n * 2 * m.out_size(), first);
        for (int64_t k = begin; k < last; ++k) {
          const T* const g = ograd + k * m.out_size() + first;
          T* const plane = data_grad + k * m.in_size();
          for (int64_t i = 0; i < block.count; ++i) {
            block.sources[i].ForEachCorner(
                m, [&](int, int64_t at, T weight) { plane[at] += g[i] * weight; });
          }
        }
      }
      begin = last;
    }
  });
}

// Writes or adds to the gradient of the grid, a sum over the channels.
template <typename T>
void GridGradient(const SampledImages& m, const T* ograd, const T* data, const T* grid,
                  T* grid_grad, bool add) {
  using Block = SourceBlock<T>;
  const int64_t blocks = NumBlocks<T>(m);
  const int64_t grain = RowGrain(Block::kSize * m.channels, 4096);
  ParallelFor(m.batch * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t n = item / blocks, first = item % blocks * Block::kSize;
      const Block block(m, grid + n * 2 * m.out_size(), first);
      T wx[Block::kSize], wy[Block::kSize], dx[Block::kSize] = {}, dy[Block::kSize] = {};
      T corners[4][Block::kSize] = {};
      for (int64_t i = 0; i < block.count; ++i) {
        wx[i] = block.sources[i].wx;
        wy[i] = block.sources[i].wy;
      }
      for (int64_t k = n * m.channels; k < (n + 1) * m.channels; ++k) {
        const T* const g = ograd + k * m.out_size() + first;
        const T* const plane = data + k * m.in_size();
        const int64_t inner = block.has_inner ? block.count : 0;
        COOPER_INDEPENDENT_ITERATIONS
        for (int64_t i = 0; i < inner; ++i) {
          const auto above = Neighbours<T>::At(plane + block.at[i]);
          const auto below = Neighbours<T>::At(plane + m.in_w + block.at[i]);
          corners[0][i] = above.left;
          corners[1][i] = above.right;
          corners[2][i] = below.left;
          corners[3][i] = below.right;
        }
        for (const int64_t i : block.border) {
          for (auto& values : corners) values[i] = 0;
          block.sources[i].ForEachCorner(
              m, [&](int corner, int64_t at, T) { corners[corner][i] = plane[at]; });
        }
        for (int64_t i = 0; i < block.count; ++i) {
          dx[i] += g[i] * ((corners[1][i] - corners[0][i]) * wy[i] +
                           (corners[3][i] - corners[2][i]) * (T{1} - wy[i]));
          dy[i] += g[i] * ((corners[2][i] - corners[0][i]) * wx[i] +
                           (corners[3][i] - corners[1][i]) * (T{1} - wx[i]));
        }
      }
      T* const to = grid_grad + n * 2 * m.out_size() + first;
      for (int64_t i = 0; i < block.count; ++i) {
        Store(to + i, dx[i] * static_cast<T>(m.in_w - 1) / T{2}, add);
        Store(to + m.out_size() + i, dy[i] * static_cast<T>(m.in_h - 1) / T{2}, add);
      }
    }
  });
}

// Computes the gradients of sampling: adds to data_grad, and writes or adds to grid_grad. Either
// may be null.
template <typename T>
void SampleGradient(const SampledImages& m, const T* ograd, const T* data, const T* grid,
                    T* data_grad, T* grid_grad, bool add_grid) {
  if (data_grad != nullptr) AddDataGradient(m, ograd, grid, data_grad);
  if (grid_grad != nullptr) GridGradient(m, ograd, data, grid, grid_grad, add_grid);
}

template <typename T>
void GridForward(const KernelContext& c) {
  using enum OneInputArrays::Input;
  const auto& param = c.param<GridGeneratorParam>();
  const Shape& shape = c.outputs[0].shape;
  const T* data = c.inputs[kData].as<T>();
  T* out = c.outputs[0].as<T>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  if (param.transform_type == GridGeneratorParam::kAffine) {
    return AffineGrid(data, shape[0], shape[2], shape[3], out, add);
  }
  // Computes (position + flow) / ((extent - 1) / 2) - 1.
  for (int64_t i = 0; i < c.outputs[0].size(); ++i) {
    const bool is_x = i / (shape[2] * shape[3]) % 2 == 0;
    const int64_t position = is_x ? i % shape[3] : i / shape[3] % shape[2];
    const T half = static_cast<T>((is_x ? shape[3] : shape[2]) - 1) / T{2};
    Store(out + i, (data[i] + static_cast<T>(position)) / half - T{1}, add);
  }
}

template <typename T>
void GridBackward(const KernelContext& c) {
  using enum OneInputGradientArrays::Input;
  const auto& param = c.param<GridGeneratorParam>();
  const Shape& shape = c.inputs[kOgrad].shape;
  const T* ograd = c.inputs[kOgrad].as<T>();
  T* grad = c.outputs[0].as<T>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  if (param.transform_type == GridGeneratorParam::kAffine) {
    return AffineGradient(ograd, shape[0], shape[2], shape[3], grad, add);
  }
  for (int64_t i = 0; i < c.outputs[0].size(); ++i) {
    const bool is_x = i / (shape[2] * shape[3]) % 2 == 0;
    Store(grad + i, ograd[i] / (static_cast<T>((is_x ? shape[3] : shape[2]) - 1) / T{2}), add);
  }
}

template <typename T>
void SamplerBackward(const KernelContext& c) {
  using enum BilinearSamplerGradientArrays::Input;
  using enum BilinearSamplerGradientArrays::Output;
  const SampledImages m = ImagesOf(c.inputs[kData].shape, c.inputs[kOgrad].shape);
  T* data_grad = c.reqs[0] == WriteReq::kNull ? nullptr : c.outputs[0].as<T>();
  T* grid_grad = c.reqs[kGridGrad] == WriteReq::kNull ? nullptr : c.outputs[kGridGrad].as<T>();
  if (c.reqs[0] == WriteReq::kWrite) std::fill_n(data_grad, c.outputs[0].size(), T{0});
  SampleGradient(m, c.inputs[kOgrad].as<T>(), c.inputs[kData].as<T>(), c.inputs[kGrid].as<T>(),
                 data_grad, grid_grad, c.reqs[kGridGrad] == WriteReq::kAdd);
}

// Runs SpatialTransformer. The workspace holds the grid, and in the backward pass its gradient too.
template <typename T>
void TransformerForward(const KernelContext& c) {
  using enum SpatialTransformerArrays::Input;
  const SampledImages m = ImagesOf(c.inputs[kData].shape, c.outputs[0].shape);
  T* grid = static_cast<T*>(c.workspace);
  AffineGrid(c.inputs[kLoc].as<T>(), m.batch, m.out_h, m.out_w, grid, false);
  Sample(m, c.inputs[kData].as<T>(), grid, c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
}

template <typename T>
void TransformerBackward(const KernelContext& c) {
  using enum SpatialTransformerGradientArrays::Input;
  using enum SpatialTransformerGradientArrays::Output;
  const SampledImages m = ImagesOf(c.inputs[kData].shape, c.inputs[kOgrad].shape);
  T* grid = static_cast<T*>(c.workspace);
  T* grid_grad = grid + m.batch * 2 * m.out_size();
  T* data_grad = c.reqs[0] == WriteReq::kNull ? nullptr : c.outputs[0].as<T>();
  if (c.reqs[0] == WriteReq::kWrite) std::fill_n(data_grad, c.outputs[0].size(), T{0});
  AffineGrid(c.inputs[kLoc].as<T>(), m.batch, m.out_h, m.out_w, grid, false);
  SampleGradient(m, c.inputs[kOgrad].as<T>(), c.inputs[kData].as<T>(), grid, data_grad, grid_grad,
                 false);
  if (c.reqs[kLocGrad] == WriteReq::kNull) return;
  AffineGradient(grid_grad, m.batch, m.out_h, m.out_w, c.outputs[kLocGrad].as<T>(),
                 c.reqs[kLocGrad] == WriteReq::kAdd);
}

int64_t GridBytes(const ArrayView& output) {
  return output.shape[0] * 2 * output.shape[2] * output.shape[3] * SizeOf(output.dtype);
}
absl::StatusOr<Prepared> PrepareTransformer(const PrepareContext& c) {
  return Prepared{.workspace_bytes = GridBytes(c.outputs[0])};
}
absl::StatusOr<Prepared> PrepareTransformerBackward(const PrepareContext& c) {
  using enum SpatialTransformerGradientArrays::Input;
  return Prepared{.workspace_bytes = 2 * GridBytes(c.inputs[kOgrad])};
}

absl::Status GridGeneratorCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype,
                             [&](auto type) { GridForward<typename decltype(type)::type>(c); });
}
absl::Status GridGeneratorBackwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype,
                             [&](auto type) { GridBackward<typename decltype(type)::type>(c); });
}
absl::Status BilinearSamplerCpu(const KernelContext& c) {
  using enum BilinearSamplerArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    Sample(ImagesOf(c.inputs[kData].shape, c.outputs[0].shape), c.inputs[kData].as<T>(),
           c.inputs[kGrid].as<T>(), c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
  });
}
absl::Status BilinearSamplerBackwardCpu(const KernelContext& c) {
  using enum BilinearSamplerGradientArrays::Input;
  return DispatchFloat32Or64(c.inputs[kOgrad].dtype,
                             [&](auto type) { SamplerBackward<typename decltype(type)::type>(c); });
}
absl::Status SpatialTransformerCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(
      c.outputs[0].dtype, [&](auto type) { TransformerForward<typename decltype(type)::type>(c); });
}
absl::Status SpatialTransformerBackwardCpu(const KernelContext& c) {
  using enum SpatialTransformerGradientArrays::Input;
  return DispatchFloat32Or64(c.inputs[kOgrad].dtype, [&](auto type) {
    TransformerBackward<typename decltype(type)::type>(c);
  });
}

constexpr DeviceType kCpu = DeviceType::kCpu;
COOPER_REGISTER_KERNEL(GridGenerator, kCpu, kFloat32Or64, GridGeneratorCpu);
COOPER_REGISTER_KERNEL(_backward_GridGenerator, kCpu, kFloat32Or64, GridGeneratorBackwardCpu);
COOPER_REGISTER_KERNEL(BilinearSampler, kCpu, kFloat32Or64, BilinearSamplerCpu);
COOPER_REGISTER_KERNEL(_backward_BilinearSampler, kCpu, kFloat32Or64, BilinearSamplerBackwardCpu);
COOPER_REGISTER_KERNEL(SpatialTransformer, kCpu, kFloat32Or64, SpatialTransformerCpu,
                       PrepareTransformer);
COOPER_REGISTER_KERNEL(_backward_SpatialTransformer, kCpu, kFloat32Or64,
                       SpatialTransformerBackwardCpu, PrepareTransformerBackward);

}  // namespace
}  // namespace cooper
