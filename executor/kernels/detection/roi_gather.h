#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_ROI_GATHER_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_ROI_GATHER_H_

// Gathers the gradient of an image from the bins of regions that may overlap, without atomics: each
// pixel goes through the regions in order, so that equal inputs give equal bits. For .cu files: the
// gradients of ROIPooling and _contrib_ROIAlign, which differ in the contribution of a bin.
//
// Tables give the bins that may reach a row or a column of pixels. A warp handles 32 neighbouring
// pixels of a row, and each thread several planes, which share the search for regions. Rows of
// `rois` are (sample, x1, y1, x2, y2). The contribution of a region is a function object:
//
//   struct Give {
//     __device__ void operator()(int64_t n, RoiRange rows, RoiRange columns, const RoiPlace& at,
//                                T (&sums)[kRoiPlanes]) const {
//       // For k < kRoiPlanes: adds the bins rows x columns of plane at.plane + k * kRoiWarps.
//     }
//   };

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/block_limit.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

// A range [begin, end) of bins along an axis of a region, or of pixels along an axis of the image.
struct RoiRange {
  int32_t begin, end;

  __device__ bool empty() const { return begin >= end; }
};

// The extents of images (batch, planes, height, width), and the number of regions.
struct RoiImage {
  int64_t batch, planes, height, width, rois;
};

// Takes the shapes of images (batch, planes, height, width) and of the pooled regions, (rois, ...).
inline RoiImage RoiImageOf(const Shape& images, const Shape& pooled) {
  return {images[0], images[1], images[2], images[3], pooled[0]};
}

// Tables of the bins that may reach each row of pixels (rois, height) and each column (rois,
// width), and of the columns that each region reaches (rois). They lie one after the other in the
// workspace, which they do not own. The caller fills `rows` and `columns`; RunGatherRois fills
// `spans`.
struct RoiTables {
  RoiRange *rows, *columns, *spans;

  // Returns the number of elements of all tables.
  static int64_t Count(const RoiImage& m) { return m.rois * (m.height + m.width + 1); }
  // `begin` is device memory for Count(m) elements.
  RoiTables(const RoiImage& m, RoiRange* begin)
      : rows(begin), columns(rows + m.rois * m.height), spans(columns + m.rois * m.width) {}
};

// Computes the table `spans` from `columns`: the first column with a bin, and the one after the
// last; an empty range for a region without bins. One warp per region: the block size is 32.
static __global__ void FindRoiSpans(RoiImage m, RoiTables tables) {
  for (int64_t n = blockIdx.x; n < m.rois; n += gridDim.x) {
    int32_t begin = INT32_MAX, end = 0;
    for (int32_t x = static_cast<int32_t>(threadIdx.x); x < m.width; x += 32) {
      if (tables.columns[n * m.width + x].empty()) continue;
      begin = x < begin ? x : begin;
      end = x + 1;
    }
    for (int step = 16; step > 0; step /= 2) {
      const int32_t other_begin = __shfl_xor_sync(0xffffffffu, begin, step);
      const int32_t other_end = __shfl_xor_sync(0xffffffffu, end, step);
      begin = other_begin < begin ? other_begin : begin;
      end = other_end > end ? other_end : end;
    }
    if (threadIdx.x == 0) tables.spans[n] = {begin, end};
  }
}

// The shape of the work of GatherRois: a block handles kRoiWarps * kRoiPlanes planes of 32 pixels.
inline constexpr int kRoiWarps = 8;   // per block
inline constexpr int kRoiPlanes = 8;  // per thread, kRoiWarps apart

// A thread's pixel and the first of its planes; the others are kRoiWarps apart.
struct RoiPlace {
  int64_t sample, y, x, plane;
};

// Sets, or adds to, each pixel of grad (batch, planes, height, width) the sum over regions. give(n,
// rows, columns, place, sums) adds the contribution of the bins rows x columns of region n to the
// sums of the thread's planes; sums is T[kRoiPlanes]. Planes from m.planes on do not exist, and
// `give` must skip them. Regions whose sample is not in the batch contribute nothing.
//
// All threads of a block search a chunk of 256 regions for those that reach its pixels, one region
// per thread, and share the result as bits. Three blocks per multiprocessor: with the compiler's
// own choice of more, registers spill.
template <typename T, typename Give>
__global__ void __launch_bounds__(32 * kRoiWarps, kNeedsMoreRegisters ? 1 : 3)
    GatherRois(RoiImage m, RoiTables tables, const T* rois, Give give, T* grad, bool add) {
  __shared__ uint32_t reached[kRoiWarps];  // a bit for each region
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  // A tile is 32 pixels of a row, one per lane; all warps of a block have the same tile.
  const int64_t tiles = (m.width + 31) / 32, blocks = m.batch * m.height * tiles;
  for (int64_t block = blockIdx.x; block < blocks; block += gridDim.x) {
    const int64_t row = block / tiles, begin = (block - row * tiles) * 32;
    // Lanes beyond the row stay in the loops, because the block synchronises in them.
    RoiPlace at = {.sample = row / m.height, .y = row % m.height, .x = begin + lane};
    const bool inside = at.x < m.width;
    constexpr int64_t kStep = int64_t{kRoiWarps} * kRoiPlanes;
    for (int64_t first = blockIdx.y * kStep; first < m.planes; first += gridDim.y * kStep) {
      at.plane = first + warp;
      T sums[kRoiPlanes] = {};
      for (int64_t chunk = 0; chunk < m.rois; chunk += 32 * kRoiWarps) {
        // Each thread tests one region: its sample, its columns and its rows.
        const int64_t mine = chunk + static_cast<int>(threadIdx.x);
        bool reaches = false;
        if (mine < m.rois && IntegerOf<int64_t>(rois[mine * 5]) == at.sample) {
          const RoiRange span = tables.spans[mine];
          reaches = span.begin < begin + 32 && span.end > begin &&
                    !tables.rows[mine * m.height + at.y].empty();
        }
        const uint32_t bits = __ballot_sync(0xffffffffu, reaches);
        __syncthreads();  // until all threads have read the previous chunk
        if (lane == 0) reached[warp] = bits;
        __syncthreads();
        if (!inside || at.plane >= m.planes) continue;
        for (int word = 0; word < kRoiWarps; ++word) {
          // The set bits are visited from the lowest, so regions are added in order.
          for (uint32_t left = reached[word]; left != 0; left &= left - 1) {
            const int64_t n = chunk + word * 32 + __ffs(static_cast<int>(left)) - 1;
            const RoiRange columns = tables.columns[n * m.width + at.x];
            if (columns.empty()) continue;
            give(n, tables.rows[n * m.height + at.y], columns, at, sums);
          }
        }
      }
      if (!inside) continue;
#pragma unroll
      for (int k = 0; k < kRoiPlanes; ++k) {
        // Neighbouring lanes write neighbouring pixels of one plane.
        const int64_t plane = at.plane + k * kRoiWarps;
        if (plane >= m.planes) break;
        const int64_t to = ((at.sample * m.planes + plane) * m.height + at.y) * m.width + at.x;
        StoreTo(grad + to, sums[k], add);
      }
    }
  }
}

// Computes the spans and queues GatherRois. Requires the tables of rows and columns, which earlier
// work of the same queue may compute. Give is a function object with a __device__ operator(),
// passed by value. Two launches.
//
// Errors: those of Launch.
template <typename T, typename Give>
absl::Status RunGatherRois(const KernelContext& c, const RoiImage& m, const RoiTables& tables,
                           const T* rois, const Give& give, T* grad, bool add) {
  if (m.batch * m.planes * m.height * m.width == 0) return absl::OkStatus();
  if (m.rois > 0) {
    COOPER_RETURN_IF_ERROR(
        Launch(c, dim3(BlocksFor(m.rois, 1 << 16)), dim3(32), FindRoiSpans, m, tables));
  }
  const int64_t tiles = m.batch * m.height * ((m.width + 31) / 32);
  constexpr int64_t kStep = int64_t{kRoiWarps} * kRoiPlanes;
  const dim3 grid(BlocksFor(tiles, 1 << 20), BlocksFor((m.planes + kStep - 1) / kStep, 65535));
  return Launch(c, grid, dim3(32 * kRoiWarps), GatherRois<T, Give>, m, tables, rois, give, grad,
                add);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_DETECTION_ROI_GATHER_H_
