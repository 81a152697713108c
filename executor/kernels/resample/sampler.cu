// GPU kernels of GridGenerator, BilinearSampler, SpatialTransformer and their gradients.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/index/radix_sort.h"
#include "executor/kernels/index/sorted_rows.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/launch/launch_rows.h"
#include "executor/kernels/resample/grid_source.h"
#include "executor/kernels/resample/sampler_grids.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/sampler_param.h"

namespace cooper {
namespace {

template <typename T>
__global__ void Sample(int64_t count, SampledImages m, const T* data, const T* grid, T* out,
                       bool add) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t plane = i / m.out_size(), n = plane / m.channels;
    const GridSource<T> source(m, grid + n * 2 * m.out_size(), i % m.out_size());
    T value = 0;
    source.ForEachCorner(
        m, [&](int, int64_t at, T weight) { value += data[plane * m.in_size() + at] * weight; });
    StoreTo(out + i, value, add);
  }
}

// Computes the data gradient without atomics. Any position may reach any element, so one thread
// computes a whole plane, in the order of the positions. Used if the indices are too large for
// SortedDataGradient.
template <typename T>
__global__ void DataGradient(int64_t planes, SampledImages m, const T* ograd, const T* grid,
                             T* grad, bool add) {
  for (int64_t plane = FirstElement(); plane < planes; plane += ElementStep()) {
    T* to = grad + plane * m.in_size();
    for (int64_t i = 0; i < m.in_size() && !add; ++i) to[i] = 0;
    const T* positions = grid + plane / m.channels * 2 * m.out_size();
    for (int64_t i = 0; i < m.out_size(); ++i) {
      const T g = ograd[plane * m.out_size() + i];
      GridSource<T>(m, positions, i).ForEachCorner(m, [&](int, int64_t at, T weight) {
        to[at] += g * weight;
      });
    }
  }
}

// The cells between neighbouring elements of the images. The source of an output position lies in
// one cell; cells at the border have elements on one side only.
struct Cells {
  SampledImages m;

  __host__ __device__ int64_t width() const { return m.in_w + 1; }
  __host__ __device__ int64_t count() const { return m.batch * (m.in_h + 1) * width(); }
  // Returns the number of the cell whose upper left element is (x - 1, y - 1) of sample n.
  __device__ int64_t Number(int64_t n, int64_t y, int64_t x) const {
    return (n * (m.in_h + 1) + y) * width() + x;
  }
};

// Returns the cell of position i, counted over all samples; -1 if its source is outside.
template <typename T>
struct CellOf {
  Cells cells;
  const T* grid;

  __device__ int64_t operator()(int64_t i) const {
    const SampledImages& m = cells.m;
    const int64_t n = i / m.out_size();
    const GridSource<T> source(m, grid + n * 2 * m.out_size(), i - n * m.out_size());
    if (source.x < -1 || source.x >= m.in_w || source.y < -1 || source.y >= m.in_h) return -1;
    return cells.Number(n, source.y + 1, source.x + 1);
  }
};

// Computes starts[cell] for all cells and one more: the number of sorted positions before the cell.
static __global__ void FindStarts(int64_t cells, int64_t count, const uint64_t* keys,
                                  int32_t* starts) {
  for (int64_t cell = FirstElement(); cell <= cells; cell += ElementStep()) {
    int64_t low = 0, high = count;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (keys[middle] < static_cast<uint64_t>(cell)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    starts[cell] = static_cast<int32_t>(low);
  }
}

constexpr int kPlanes = 8;  // of a thread of SortedDataGradient

// Computes the data gradient from sorted positions. A thread computes one element of several
// planes, and looks up the positions in the four cells around the element once for all of them. The
// rows of the launch are the samples' chunks of planes, the columns their elements.
template <typename T>
__global__ void SortedDataGradient(int64_t rows, int64_t chunks, Cells cells, const T* ograd,
                                   const T* grid, const int32_t* positions, const int32_t* starts,
                                   T* grad, bool add) {
  const SampledImages& m = cells.m;
  ForEachInRows(rows, m.in_size(), [&](int64_t row, int64_t element) {
    const int64_t n = row / chunks, first = (row - n * chunks) * kPlanes;
    const int64_t plane = n * m.channels + first;
    const int64_t y = element / m.in_w, x = element - y * m.in_w;
    T sums[kPlanes] = {};
    for (int64_t below = 0; below < 2; ++below) {
      const int64_t cell = cells.Number(n, y + below, x);
      for (int32_t at = starts[cell]; at < starts[cell + 2]; ++at) {
        const int64_t i = positions[at] - n * m.out_size();
        T weight = 0;
        GridSource<T>(m, grid + n * 2 * m.out_size(), i)
            .ForEachCorner(m, [&](int, int64_t corner, T w) {
              if (corner == element) weight = w;
            });
#pragma unroll
        for (int k = 0; k < kPlanes; ++k) {
          if (first + k < m.channels) sums[k] += ograd[(plane + k) * m.out_size() + i] * weight;
        }
      }
    }
#pragma unroll
    for (int k = 0; k < kPlanes; ++k) {
      if (first + k < m.channels) StoreTo(grad + (plane + k) * m.in_size() + element, sums[k], add);
    }
  });
}

// Computes the grid gradient of each position; `count` is batch * out_size.
template <typename T>
__global__ void GridGradient(int64_t count, SampledImages m, const T* ograd, const T* data,
                             const T* grid, T* grad, bool add) {
  for (int64_t position = FirstElement(); position < count; position += ElementStep()) {
    const int64_t n = position / m.out_size(), i = position % m.out_size();
    const GridSource<T> source(m, grid + n * 2 * m.out_size(), i);
    T dx = 0, dy = 0;
    for (int64_t k = n * m.channels; k < (n + 1) * m.channels; ++k) {
      const T g = ograd[k * m.out_size() + i];
      T corner[4] = {0, 0, 0, 0};
      source.ForEachCorner(m,
                           [&](int c, int64_t at, T) { corner[c] = data[k * m.in_size() + at]; });
      dx +=
          g * ((corner[1] - corner[0]) * source.wy + (corner[3] - corner[2]) * (T{1} - source.wy));
      dy +=
          g * ((corner[2] - corner[0]) * source.wx + (corner[3] - corner[1]) * (T{1} - source.wx));
    }
    T* to = grad + n * 2 * m.out_size() + i;
    StoreTo(to, dx * static_cast<T>(m.in_w - 1) / T{2}, add);
    StoreTo(to + m.out_size(), dy * static_cast<T>(m.in_h - 1) / T{2}, add);
  }
}

SampledImages ImagesOf(const Shape& data, const Shape& output) {
  return {data[0], data[1], data[2], data[3], output[2], output[3]};
}

template <typename T>
absl::Status RunSample(const KernelContext& c, const T* data, const Shape& shape, const T* grid) {
  const SampledImages m = ImagesOf(shape, c.outputs[0].shape);
  const int64_t count = c.outputs[0].size();
  return LaunchElements(c, count, Sample<T>, count, m, data, grid, c.outputs[0].as<T>(),
                        c.reqs[0] == WriteReq::kAdd);
}

constexpr int64_t kAlignment = 256;  // of PairSort's arrays in a workspace
int64_t Aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Returns whether there are positions to sort, and int32_t can number them and the cells.
bool CanSort(const SampledImages& m) {
  const int64_t count = m.batch * m.out_size();
  return count > 0 && count < INT32_MAX && Cells{m}.count() < INT32_MAX;
}

int64_t StartBytes(const SampledImages& m) {
  return Aligned((Cells{m}.count() + 1) * static_cast<int64_t>(sizeof(int32_t)));
}

// Prepares RunSampleGradient, whose workspace begins after `offset` bytes.
absl::StatusOr<Prepared> PrepareSampleGradient(const PrepareContext& c, const ArrayView& ograd,
                                               const ArrayView& data, int64_t offset) {
  const SampledImages m = ImagesOf(data.shape, ograd.shape);
  if (!CanSort(m)) return Prepared{.workspace_bytes = offset};
  COOPER_ASSIGN_OR_RETURN(const int64_t bytes,
                          PairSort::WorkspaceBytes(c.context, m.batch * m.out_size()));
  return Prepared{.workspace_bytes = Aligned(offset) + StartBytes(m) + bytes};
}

template <typename T>
absl::Status RunSortedDataGradient(const KernelContext& c, const SampledImages& m, const T* ograd,
                                   const T* grid, int64_t offset) {
  const Cells cells{m};
  const int64_t count = m.batch * m.out_size();
  const int64_t begin = Aligned(offset);
  auto* starts = reinterpret_cast<int32_t*>(static_cast<char*>(c.workspace) + begin);
  PairSort sort(c, count, begin + StartBytes(m));
  COOPER_RETURN_IF_ERROR(SortRows(c, count, cells.count(), CellOf<T>{cells, grid}, &sort));
  COOPER_RETURN_IF_ERROR(
      LaunchElements(c, cells.count() + 1, FindStarts, cells.count(), count, sort.keys(), starts));
  const int64_t chunks = (m.channels + kPlanes - 1) / kPlanes, rows = m.batch * chunks;
  return LaunchRows(c, rows, m.in_size(), SortedDataGradient<T>, rows, chunks, cells, ograd, grid,
                    sort.values(), starts, c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
}

// Queues the gradients of data, output 0, and of the grid; grid_grad may be null. The first
// `offset` bytes of the workspace are in use.
template <typename T>
absl::Status RunSampleGradient(const KernelContext& c, const ArrayView& ograd,
                               const ArrayView& data, const T* grid, T* grid_grad, bool add_grid,
                               int64_t offset) {
  const SampledImages m = ImagesOf(data.shape, ograd.shape);
  if (c.reqs[0] != WriteReq::kNull && CanSort(m)) {
    COOPER_RETURN_IF_ERROR(RunSortedDataGradient(c, m, ograd.as<T>(), grid, offset));
  } else if (c.reqs[0] != WriteReq::kNull) {
    const int64_t planes = m.batch * m.channels;
    COOPER_RETURN_IF_ERROR(LaunchElements(c, planes, DataGradient<T>, planes, m, ograd.as<T>(),
                                          grid, c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd));
  }
  if (grid_grad == nullptr) return absl::OkStatus();
  const int64_t count = m.batch * m.out_size();
  return LaunchElements(c, count, GridGradient<T>, count, m, ograd.as<T>(), data.as<T>(), grid,
                        grid_grad, add_grid);
}

bool IsAffine(const KernelContext& c) {
  return c.param<GridGeneratorParam>().transform_type == GridGeneratorParam::kAffine;
}

template <typename T>
absl::Status GridForward(const KernelContext& c) {
  if (!IsAffine(c)) return RunWarp<T>(c, false);
  return RunAffineGrid(c, c.inputs[0].as<T>(), c.outputs[0].shape, c.outputs[0].as<T>(),
                       c.reqs[0] == WriteReq::kAdd);
}

template <typename T>
absl::Status GridBackward(const KernelContext& c) {
  if (!IsAffine(c)) return RunWarp<T>(c, true);
  return RunAffineGradient(c, c.inputs[0].as<T>(), c.inputs[0].shape, c.outputs[0], c.reqs[0]);
}

template <typename T>
absl::Status SamplerForward(const KernelContext& c) {
  using enum BilinearSamplerArrays::Input;
  return RunSample(c, c.inputs[kData].as<T>(), c.inputs[kData].shape, c.inputs[kGrid].as<T>());
}

template <typename T>
absl::Status SamplerBackward(const KernelContext& c) {
  using enum BilinearSamplerGradientArrays::Input;
  T* grid_grad = c.reqs[1] == WriteReq::kNull ? nullptr : c.outputs[1].as<T>();
  return RunSampleGradient(c, c.inputs[kOgrad], c.inputs[kData], c.inputs[kGrid].as<T>(), grid_grad,
                           c.reqs[1] == WriteReq::kAdd, 0);
}

int64_t GridBytes(const ArrayView& output) {
  return output.shape[0] * 2 * output.shape[2] * output.shape[3] * SizeOf(output.dtype);
}

// Runs SpatialTransformer. The workspace begins with the grid, and in the backward pass with its
// gradient too.
template <typename T>
absl::Status TransformerForward(const KernelContext& c) {
  using enum SpatialTransformerArrays::Input;
  T* grid = static_cast<T*>(c.workspace);
  COOPER_RETURN_IF_ERROR(RunAffineGrid(c, c.inputs[kLoc].as<T>(), c.outputs[0].shape, grid, false));
  return RunSample(c, c.inputs[kData].as<T>(), c.inputs[kData].shape, grid);
}

template <typename T>
absl::Status TransformerBackward(const KernelContext& c) {
  using enum SpatialTransformerGradientArrays::Input;
  const Shape& output = c.inputs[kOgrad].shape;
  T* grid = static_cast<T*>(c.workspace);
  T* grid_grad = grid + output[0] * 2 * output[2] * output[3];
  COOPER_RETURN_IF_ERROR(RunAffineGrid(c, c.inputs[kLoc].as<T>(), output, grid, false));
  const bool wants_loc = c.reqs[1] != WriteReq::kNull;
  COOPER_RETURN_IF_ERROR(RunSampleGradient(c, c.inputs[kOgrad], c.inputs[kData], grid,
                                           wants_loc ? grid_grad : nullptr, false,
                                           2 * GridBytes(c.inputs[kOgrad])));
  if (!wants_loc) return absl::OkStatus();
  return RunAffineGradient(c, grid_grad, output, c.outputs[1], c.reqs[1]);
}

absl::StatusOr<Prepared> PrepareTransformer(const PrepareContext& c) {
  return Prepared{.workspace_bytes = GridBytes(c.outputs[0])};
}
absl::StatusOr<Prepared> PrepareTransformerBackward(const PrepareContext& c) {
  using enum SpatialTransformerGradientArrays::Input;
  return PrepareSampleGradient(c, c.inputs[kOgrad], c.inputs[kData],
                               2 * GridBytes(c.inputs[kOgrad]));
}
absl::StatusOr<Prepared> PrepareSamplerBackward(const PrepareContext& c) {
  using enum BilinearSamplerGradientArrays::Input;
  return PrepareSampleGradient(c, c.inputs[kOgrad], c.inputs[kData], 0);
}

using RunFn = absl::Status (*)(const KernelContext&);

// Calls the function for input 0's dtype.
template <RunFn run_float, RunFn run_double>
absl::Status Run(const KernelContext& c) {
  return c.inputs[0].dtype == DType::kFloat64 ? run_double(c) : run_float(c);
}

// Calls the function for input 0's dtype, unless output 0 is not requested.
template <RunFn run_float, RunFn run_double>
absl::Status RunIfWanted(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return Run<run_float, run_double>(c);
}

constexpr auto GridGeneratorGpu = RunIfWanted<GridForward<float>, GridForward<double>>;
constexpr auto GridGeneratorBackwardGpu = RunIfWanted<GridBackward<float>, GridBackward<double>>;
constexpr auto SamplerGpu = RunIfWanted<SamplerForward<float>, SamplerForward<double>>;
constexpr auto SamplerBackwardGpu = Run<SamplerBackward<float>, SamplerBackward<double>>;
constexpr auto TransformerGpu = RunIfWanted<TransformerForward<float>, TransformerForward<double>>;
constexpr auto TransformerBackwardGpu =
    Run<TransformerBackward<float>, TransformerBackward<double>>;

constexpr DeviceType kGpu = DeviceType::kGpu;
COOPER_REGISTER_KERNEL(GridGenerator, kGpu, kFloat32Or64, GridGeneratorGpu);
COOPER_REGISTER_KERNEL(_backward_GridGenerator, kGpu, kFloat32Or64, GridGeneratorBackwardGpu);
COOPER_REGISTER_KERNEL(BilinearSampler, kGpu, kFloat32Or64, SamplerGpu);
COOPER_REGISTER_KERNEL(_backward_BilinearSampler, kGpu, kFloat32Or64, SamplerBackwardGpu,
                       PrepareSamplerBackward);
COOPER_REGISTER_KERNEL(SpatialTransformer, kGpu, kFloat32Or64, TransformerGpu, PrepareTransformer);
COOPER_REGISTER_KERNEL(_backward_SpatialTransformer, kGpu, kFloat32Or64, TransformerBackwardGpu,
                       PrepareTransformerBackward);

}  // namespace
}  // namespace cooper
