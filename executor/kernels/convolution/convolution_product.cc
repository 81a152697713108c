#include "executor/kernels/convolution/convolution_product.h"

#include <algorithm>
#include <type_traits>

#include "executor/kernels/convolution/depthwise_product.h"
#include "executor/kernels/convolution/im2col.h"
#include "executor/kernels/convolution/thread_buffers.h"
#include "ndarray/products/gemm.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// A chunk's columns take about this many bytes, which stay in the cache of a core ...
constexpr int64_t kChunkBytes = 256 << 10;
// ... but it has at least this many columns, so that its product is efficient.
constexpr int64_t kMinColumns = 800;
// Each part of a weight's gradient has at least this many rows of the columns.
constexpr int64_t kMinWeightRows = 96;
// Threads share the product of a chunk with at least this many multiplications.
constexpr int64_t kMinSharedWork = 16'000'000;

// Cuts the windows of a geometry into chunks of adjacent columns: parts of a long line, some lines
// of a plane, or some planes.
class Chunks {
 public:
  Chunks(const WindowGeometry& g, int64_t element_size) : g_(g) {
    int64_t columns =
        std::max(kMinColumns, kChunkBytes / element_size / std::max<int64_t>(1, g.rows()));
    int64_t inner = g.out[2];
    parts_[2] = CeilDiv(inner, 2 * columns);
    for (int axis : {1, 0}) {
      // Whole inner extents to a part, or one of them if they are cut too.
      const int64_t each = parts_[axis + 1] > 1 ? 1 : columns / inner + 1;
      parts_[axis] = CeilDiv(g.out[axis], each);
      inner *= g.out[axis];
    }
  }

  int64_t count() const { return parts_[0] * parts_[1] * parts_[2]; }
  // Returns the elements of the columns of the largest chunk.
  int64_t elements() const {
    int64_t elements = g_.rows();
    for (int axis = 0; axis < 3; ++axis) elements *= CeilDiv(g_.out[axis], parts_[axis]);
    return elements;
  }

  // Calls fn(geometry, first) with the windows of chunk i, as a geometry of their own, and with the
  // column of the first one.
  template <typename Fn>
  void Run(int64_t i, const Fn& fn) const {
    WindowGeometry chunk = g_;
    int64_t first = 0, inner = 1;
    for (int axis = 2; axis >= 0; --axis) {
      const int64_t part = i % parts_[axis], begin = g_.out[axis] * part / parts_[axis];
      chunk.out[axis] = g_.out[axis] * (part + 1) / parts_[axis] - begin;
      chunk.pad[axis] -= begin * g_.stride[axis];
      first += begin * inner;
      inner *= g_.out[axis];
      i /= parts_[axis];
    }
    fn(chunk, first);
  }

 private:
  static int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

  const WindowGeometry g_;
  int64_t parts_[3];  // number of parts along each axis
};

// Returns the parts that the channels of a group are cut into for the gradient of the weight: a
// power of two, which two or four threads share evenly.
int64_t WeightParts(const ConvolutionProduct& p) {
  int64_t parts = 1;
  while (p.groups * parts * 2 <= ThreadBuffers::kMax && parts * 2 <= p.g.channels &&
         p.g.rows() / (parts * 2) >= kMinWeightRows) {
    parts *= 2;
  }
  return parts;
}

// Calls fn(i, buffer) for each of `parts` parts. Threads share the parts unless `share_products`:
// then the calling thread runs all parts, and threads share the loops and products of each.
template <typename T, typename Fn>
void ForEachPart(const ThreadBuffers& buffers, int64_t parts, bool share_products, T* workspace,
                 const Fn& fn) {
  if (!share_products) return buffers.ForEach(parts, workspace, fn);
  for (int64_t i = 0; i < parts; ++i) fn(i, workspace);
}

template <typename T>
bool ProductsUseThreads() {
  return std::is_same_v<T, float> && FloatGemmUsesThreads();
}

// Returns whether there are too few buffers for the threads, so that these should share products.
template <typename T>
bool HasFewBuffers(const ThreadBuffers& buffers) {
  return ProductsUseThreads<T>() &&
         buffers.count < std::min<int64_t>(NumThreads(), ThreadBuffers::kMax);
}

// Returns the geometry of the channels [0, count).
WindowGeometry WithChannels(WindowGeometry g, int64_t count) {
  g.channels = count;
  return g;
}
// Returns the geometry of the part with the most channels, of `parts` parts of a group.
WindowGeometry PartGeometry(const ConvolutionProduct& p, int64_t parts) {
  return WithChannels(p.g, (p.g.channels + parts - 1) / parts);
}

}  // namespace

int64_t ProductWorkspaceElements(const ConvolutionProduct& p, int64_t element_size) {
  if (IsDepthwise(p)) return DepthwiseWorkspaceElements(p);
  if (p.g.IsIdentity() || p.g.columns() == 0) return 0;
  const Chunks chunks(p.g, element_size);
  const int64_t parts = WeightParts(p);
  const Chunks part_chunks(PartGeometry(p, parts), element_size);
  const ThreadBuffers activations(p, p.batch * p.groups * chunks.count(), chunks.elements());
  const ThreadBuffers weights(p, p.groups * parts, part_chunks.elements());
  return std::max(activations.workspace_elements(), weights.workspace_elements());
}

int64_t ProductWorkspaceBytes(const ConvolutionProduct& p, DType dtype) {
  const auto size = static_cast<int64_t>(SizeOf(dtype));
  return ProductWorkspaceElements(p, size) * size;
}

template <typename T>
void MapFromImage(const ConvolutionProduct& p, const T* image, const T* weight, T* map, bool add,
                  T* workspace) {
  if (IsDepthwise(p)) return DepthwiseMap(p, image, weight, map, add, workspace);
  if (p.g.columns() == 0) return;
  // Item i is a group of a sample: the groups of a sample are adjacent, and each has its weight.
  const auto multiply = [&](int64_t i, int64_t count, const T* columns, int64_t first) {
    Gemm(false, false, p.filters, count, p.g.rows(), T{1}, weight + i % p.groups * p.weight_step(),
         p.g.rows(), columns, count, add ? T{1} : T{}, map + i * p.map_step() + first,
         p.g.columns());
  };
  const int64_t items = p.batch * p.groups;
  if (p.g.IsIdentity()) {
    for (int64_t i = 0; i < items; ++i) {
      multiply(i, p.g.columns(), image + i * p.image_step(), 0);
    }
    return;
  }
  const Chunks chunks(p.g, sizeof(T));
  const int64_t parts = items * chunks.count();
  const ThreadBuffers buffers(p, parts, chunks.elements());
  ForEachPart(buffers, parts, HasFewBuffers<T>(buffers), workspace, [&](int64_t part, T* columns) {
    const int64_t i = part / chunks.count();
    chunks.Run(part % chunks.count(), [&](const WindowGeometry& g, int64_t first) {
      Im2Col(g, image + i * p.image_step(), columns);
      multiply(i, g.columns(), columns, first);
    });
  });
}

template <typename T>
void ImageFromMap(const ConvolutionProduct& p, const T* map, const T* weight, T* image, bool add,
                  T* workspace) {
  if (IsDepthwise(p)) return DepthwiseImage(p, map, weight, image, add, workspace);
  const int64_t items = p.batch * p.groups;
  if (p.g.columns() == 0) {
    if (!add) std::fill_n(image, items * p.image_step(), T{});
    return;
  }
  // Computes weight^T * map into columns.
  const auto multiply = [&](int64_t i, int64_t count, int64_t first, T beta, T* columns) {
    Gemm(true, false, p.g.rows(), count, p.filters, T{1}, weight + i % p.groups * p.weight_step(),
         p.g.rows(), map + i * p.map_step() + first, p.g.columns(), beta, columns, count);
  };
  if (p.g.IsIdentity()) {
    for (int64_t i = 0; i < items; ++i) {
      multiply(i, p.g.columns(), 0, add ? T{1} : T{}, image + i * p.image_step());
    }
    return;
  }
  // Chunks share elements of the image, so that one thread adds all chunks of an item.
  const Chunks chunks(p.g, sizeof(T));
  const ThreadBuffers buffers(p, items, chunks.elements());
  // Threads share large products better than images.
  const bool large = ProductsUseThreads<T>() && p.filters * chunks.elements() >= kMinSharedWork;
  ForEachPart(buffers, items, large || HasFewBuffers<T>(buffers), workspace,
              [&](int64_t i, T* columns) {
                for (int64_t chunk = 0; chunk < chunks.count(); ++chunk) {
                  chunks.Run(chunk, [&](const WindowGeometry& g, int64_t first) {
                    multiply(i, g.columns(), first, T{}, columns);
                    Col2Im(g, columns, image + i * p.image_step(), add || chunk > 0);
                  });
                }
              });
}

template <typename T>
void WeightFromBoth(const ConvolutionProduct& p, const T* image, const T* map, T* weight, bool add,
                    T* workspace) {
  if (IsDepthwise(p)) return DepthwiseWeight(p, image, map, weight, add, workspace);
  if (!add) std::fill_n(weight, p.groups * p.weight_step(), T{});
  if (p.g.columns() == 0) return;
  // Adds the products of an item's map and columns to rows of its group's weight.
  const auto multiply = [&](int64_t i, int64_t rows, int64_t count, int64_t first, const T* columns,
                            T* to) {
    Gemm(false, true, p.filters, rows, count, T{1}, map + i * p.map_step() + first, p.g.columns(),
         columns, count, T{1}, to, p.g.rows());
  };
  if (p.g.IsIdentity()) {
    for (int64_t i = 0; i < p.batch * p.groups; ++i) {
      multiply(i, p.g.rows(), p.g.columns(), 0, image + i * p.image_step(),
               weight + i % p.groups * p.weight_step());
    }
    return;
  }
  // A part has some channels of a group, for all samples.
  const int64_t parts = WeightParts(p);
  // All parts are cut as the largest one is: smaller ones alone could have larger chunks.
  const Chunks chunks(PartGeometry(p, parts), sizeof(T));
  const ThreadBuffers buffers(p, p.groups * parts, chunks.elements());
  ForEachPart(buffers, p.groups * parts, HasFewBuffers<T>(buffers), workspace,
              [&](int64_t item, T* columns) {
                const int64_t group = item / parts, part = item % parts;
                const int64_t channel = p.g.channels * part / parts;
                const int64_t count = p.g.channels * (part + 1) / parts - channel;
                T* const to = weight + group * p.weight_step() + channel * p.g.kernel_size();
                for (int64_t n = 0; n < p.batch; ++n) {
                  const int64_t i = n * p.groups + group;
                  for (int64_t chunk = 0; chunk < chunks.count(); ++chunk) {
                    chunks.Run(chunk, [&](const WindowGeometry& windows, int64_t first) {
                      const WindowGeometry g = WithChannels(windows, count);
                      Im2Col(g, image + i * p.image_step() + channel * p.g.image_size(), columns);
                      multiply(i, g.rows(), g.columns(), first, columns, to);
                    });
                  }
                }
              });
}

#define COOPER_INSTANTIATE(T)                                                                 \
  template void MapFromImage<T>(const ConvolutionProduct&, const T*, const T*, T*, bool, T*); \
  template void ImageFromMap<T>(const ConvolutionProduct&, const T*, const T*, T*, bool, T*); \
  template void WeightFromBoth<T>(const ConvolutionProduct&, const T*, const T*, T*, bool, T*);
COOPER_INSTANTIATE(float)
COOPER_INSTANTIATE(double)
#undef COOPER_INSTANTIATE

}  // namespace cooper
