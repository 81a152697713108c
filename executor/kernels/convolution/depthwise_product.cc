#include "executor/kernels/convolution/depthwise_product.h"

#include <algorithm>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "executor/kernels/convolution/thread_buffers.h"
#include "ndarray/threads/cpu_level.h"

namespace cooper {
namespace {

// The elements of a vector, and the vector of an element type.
constexpr int64_t kLanes = 8;
template <typename T>
struct VectorOf;
template <>
struct VectorOf<float> {
  using Type = float __attribute__((vector_size(kLanes * sizeof(float))));
};
template <>
struct VectorOf<double> {
  using Type = double __attribute__((vector_size(kLanes * sizeof(double))));
};
template <typename T>
using Lanes = typename VectorOf<T>::Type;

// Functions take vectors by reference, since a program for any x86-64 cannot pass them in
// registers.
template <typename T>
void Load(const T* from, Lanes<T>& lanes) {
  std::memcpy(&lanes, from, sizeof(lanes));
}

int64_t RoundUp(int64_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

// A buffer with a plane of the image and its padding, and one with a plane of the map. Column x of
// the padded plane lies in phase x % stride at x / stride, so that the elements that adjacent
// results take from one kernel element are adjacent. Rows of the map are padded to whole vectors.
class Planes {
 public:
  explicit Planes(const WindowGeometry& g)
      : g_(g),
        rows_((g.out[1] - 1) * g.stride[1] + (g.kernel[1] - 1) * g.dilate[1] + 1),
        map_pitch_(RoundUp(g.out[2])),
        phase_(map_pitch_ + (g.kernel[2] - 1) * g.dilate[2] / g.stride[2]),
        pitch_(phase_ * g.stride[2]) {
    for (int64_t y = 0; y < g.kernel[1]; ++y) {
      for (int64_t x = 0; x < g.kernel[2]; ++x) {
        const int64_t column = x * g.dilate[2];
        offsets_.push_back(y * g.dilate[1] * pitch_ + column % g.stride[2] * phase_ +
                           column / g.stride[2]);
      }
    }
  }

  int64_t image_elements() const { return rows_ * pitch_; }
  int64_t elements() const { return image_elements() + g_.out[1] * map_pitch_; }
  int64_t map_pitch() const { return map_pitch_; }
  // Returns the offset of the elements under the first kernel element of the results of row `y`.
  int64_t row(int64_t y) const { return y * g_.stride[1] * pitch_; }
  // Returns the offset of the elements under kernel element k, from those under the first one.
  int64_t offset(int64_t k) const { return offsets_[k]; }
  int64_t kernel_size() const { return static_cast<int64_t>(offsets_.size()); }

  // Copies a plane of the image to `padded`, with zeros around it.
  template <typename T>
  void Pad(const T* image, T* padded) const {
    for (int64_t y = 0; y < rows_; ++y) {
      T* const to = padded + y * pitch_;
      const int64_t line = y - g_.pad[1];
      if (line < 0 || line >= g_.in[1]) {
        std::fill_n(to, pitch_, T{});
        continue;
      }
      ForEachPhase([&](int64_t phase, int64_t first, int64_t last, int64_t column) {
        T* const row = to + phase * phase_;
        const T* const from = image + line * g_.in[2] + column;
        std::fill_n(row, first, T{});
        std::fill_n(row + last, phase_ - last, T{});
        if (g_.stride[2] == 1) {
          std::copy_n(from, last - first, row + first);
        } else if (g_.stride[2] == 2) {  // compilers vectorise a constant stride
          for (int64_t i = 0; i < last - first; ++i) row[first + i] = from[i * 2];
        } else {
          for (int64_t i = 0; i < last - first; ++i) row[first + i] = from[i * g_.stride[2]];
        }
      });
    }
  }

  // Computes image = or += the elements of `padded` that are not padding. Elements that no window
  // covers count as 0.
  template <typename T>
  void Unpad(const T* padded, bool add, T* image) const {
    if (!add) std::fill_n(image, g_.image_size(), T{});
    for (int64_t y = 0; y < rows_; ++y) {
      const int64_t line = y - g_.pad[1];
      if (line < 0 || line >= g_.in[1]) continue;
      ForEachPhase([&](int64_t phase, int64_t first, int64_t last, int64_t column) {
        const T* const row = padded + y * pitch_ + phase * phase_;
        T* const to = image + line * g_.in[2] + column;
        for (int64_t i = 0; i < last - first; ++i) to[i * g_.stride[2]] += row[first + i];
      });
    }
  }

  // Copies a plane of the map to `padded`, with zeros behind each row.
  template <typename T>
  void PadMap(const T* map, T* padded) const {
    for (int64_t y = 0; y < g_.out[1]; ++y) {
      T* const end = std::copy_n(map + y * g_.out[2], g_.out[2], padded + y * map_pitch_);
      std::fill_n(end, map_pitch_ - g_.out[2], T{});
    }
  }

 private:
  // Calls fn(phase, first, last, column) for each phase: its elements in [first, last) are the
  // image's, from `column` on, and the others are padding.
  template <typename Fn>
  void ForEachPhase(const Fn& fn) const {
    const int64_t stride = g_.stride[2];
    for (int64_t phase = 0; phase < stride; ++phase) {
      // Element i is column i * stride + phase - pad of the image.
      const int64_t before = g_.pad[2] - phase;
      const auto from = [&](int64_t column) {  // the first element at or after the column
        const int64_t at = column + before;
        return std::clamp<int64_t>(at <= 0 ? 0 : (at + stride - 1) / stride, 0, phase_);
      };
      const int64_t first = from(0), last = std::max(first, from(g_.in[2]));
      fn(phase, first, last, first * stride - before);
    }
  }

  const WindowGeometry g_;
  const int64_t rows_, map_pitch_, phase_, pitch_;
  absl::InlinedVector<int64_t, 25> offsets_;
};

// Computes `kVectors` vectors of results: sums over the kernel elements.
template <int kVectors, typename T>
void Sums(const Planes& planes, const T* padded, const T* weight, T* out) {
  Lanes<T> sums[kVectors] = {};
  for (int64_t k = 0; k < planes.kernel_size(); ++k) {
    const T* const from = padded + planes.offset(k);
    const T factor = weight[k];
#pragma GCC unroll 8
    for (int i = 0; i < kVectors; ++i) {
      Lanes<T> values;
      Load(from + i * kLanes, values);
      sums[i] += values * factor;
    }
  }
  std::memcpy(out, sums, sizeof(sums));
}

// Computes a row of results of `vectors` vectors. Each call of Sums waits for its additions one
// after the other, so that eight vectors of floats take hardly longer than one.
template <int kVectors, typename T>
void RowOfSums(const Planes& planes, const T* padded, const T* weight, int64_t vectors, T* out) {
  int64_t i = 0;
  for (; i + kVectors <= vectors; i += kVectors) {
    Sums<kVectors>(planes, padded + i * kLanes, weight, out + i * kLanes);
  }
  if constexpr (kVectors > 1) {
    if (i == vectors) return;
    RowOfSums<kVectors - 1>(planes, padded + i * kLanes, weight, vectors - i, out + i * kLanes);
  }
}

// Computes a plane of the map = or += the sums over the windows of a padded plane. `line` has room
// for a row of the map in whole vectors.
template <typename T>
void MapOfPlane(const WindowGeometry& g, const Planes& planes, const T* padded, const T* weight,
                T* map, bool add, T* line) {
  const int64_t vectors = planes.map_pitch() / kLanes;
  for (int64_t y = 0; y < g.out[1]; ++y) {
    constexpr int kVectors = 32 / sizeof(T);
    RowOfSums<kVectors>(planes, padded + planes.row(y), weight, vectors, line);
    T* const to = map + y * g.out[2];
    if (add) {
      for (int64_t x = 0; x < g.out[2]; ++x) to[x] += line[x];
    } else {
      std::copy_n(line, g.out[2], to);
    }
  }
}

// Computes weight[k .. k + kElements) += the sums over a plane of the map, padded by PadMap, times
// the elements of a padded plane under these kernel elements.
template <int kElements, typename T>
void AddProducts(const WindowGeometry& g, const Planes& planes, int64_t k, const T* padded,
                 const T* map, T* weight) {
  Lanes<T> sums[kElements] = {};
  const T* from[kElements];
  for (int i = 0; i < kElements; ++i) from[i] = padded + planes.offset(k + i);
  const Lanes<T> lane = {0, 1, 2, 3, 4, 5, 6, 7};
  const int64_t whole = g.out[2] / kLanes * kLanes;
  const auto inside = lane < static_cast<T>(g.out[2] - whole);
  for (int64_t y = 0; y < g.out[1]; ++y) {
    const int64_t row = planes.row(y);
    Lanes<T> values;
    for (int64_t x = 0; x < whole; x += kLanes) {
      Load(map + y * planes.map_pitch() + x, values);
#pragma GCC unroll 9
      for (int i = 0; i < kElements; ++i) {
        Lanes<T> factors;
        Load(from[i] + row + x, factors);
        sums[i] += values * factors;
      }
    }
    if (whole == g.out[2]) continue;
    // Behind the row the map has zeros, but the image may have infinities.
    Load(map + y * planes.map_pitch() + whole, values);
    for (int i = 0; i < kElements; ++i) {
      Lanes<T> factors;
      Load(from[i] + row + whole, factors);
      sums[i] += values * (inside ? factors : Lanes<T>{});
    }
  }
  for (int i = 0; i < kElements; ++i) {
    T sum = 0;
    for (int at = 0; at < kLanes; ++at) sum += sums[i][at];
    weight[k + i] += sum;
  }
}

// Calls fn(i, buffer) for each i of [0, parts), on several threads, compiled for the current level.
template <typename T, typename Fn>
void ForEachPlane(const ConvolutionProduct& p, int64_t parts, int64_t elements, T* workspace,
                  const Fn& fn) {
  ThreadBuffers(p, parts, elements).ForEach(parts, workspace, [&](int64_t i, T* buffer) {
    RunAtCpuLevel([&] { fn(i, buffer); });
  });
}

// Returns the convolution whose map is the image of `g`, which has stride 1: its windows are
// reversed.
WindowGeometry Reversed(const WindowGeometry& g) {
  WindowGeometry reversed = g;
  for (int i = 0; i < 3; ++i) {
    reversed.in[i] = g.out[i];
    reversed.out[i] = g.in[i];
    reversed.pad[i] = g.dilate[i] * (g.kernel[i] - 1) - g.pad[i];
  }
  return reversed;
}

bool HasStride(const WindowGeometry& g) { return g.stride[1] != 1 || g.stride[2] != 1; }

// Returns whether padded planes are not much larger than image and map: large strides, dilations
// and paddings, and maps of one column, make them so. Computes in double, since products may
// overflow.
bool HasSmallPlanes(const WindowGeometry& g) {
  const auto number = [](int64_t value) { return static_cast<double>(value); };
  const double line = number(RoundUp(g.out[2]));
  const double rows = number(g.out[1] - 1) * number(g.stride[1]) +
                      number(g.kernel[1] - 1) * number(g.dilate[1]) + 1;
  const double pitch = line * number(g.stride[2]) + number(g.kernel[2] - 1) * number(g.dilate[2]);
  return rows * pitch + number(g.out[1]) * line <= 4 * number(g.image_size() + g.columns()) + 4096;
}

}  // namespace

bool IsDepthwise(const ConvolutionProduct& p) {
  const WindowGeometry& g = p.g;
  return p.groups > 1 && g.channels == 1 && p.filters == 1 && g.kernel[0] == 1 && g.in[0] == 1 &&
         g.out[0] == 1 && g.pad[0] == 0 && g.image_size() > 0 && g.columns() > 0 &&
         HasSmallPlanes(g) && (HasStride(g) || HasSmallPlanes(Reversed(g)));
}

int64_t DepthwiseWorkspaceElements(const ConvolutionProduct& p) {
  int64_t elements = Planes(p.g).elements();
  if (!HasStride(p.g)) elements = std::max(elements, Planes(Reversed(p.g)).elements());
  return ThreadBuffers(p, p.batch * p.groups, elements).workspace_elements();
}

template <typename T>
void DepthwiseMap(const ConvolutionProduct& p, const T* image, const T* weight, T* map, bool add,
                  T* workspace) {
  const Planes planes(p.g);
  ForEachPlane(p, p.batch * p.groups, planes.elements(), workspace, [&](int64_t i, T* buffer) {
    planes.Pad(image + i * p.image_step(), buffer);
    MapOfPlane(p.g, planes, buffer, weight + i % p.groups * p.weight_step(), map + i * p.map_step(),
               add, buffer + planes.image_elements());
  });
}

template <typename T>
void DepthwiseImage(const ConvolutionProduct& p, const T* map, const T* weight, T* image, bool add,
                    T* workspace) {
  const int64_t size = p.weight_step();
  if (!HasStride(p.g)) {
    const WindowGeometry reversed = Reversed(p.g);
    const Planes planes(reversed);
    ForEachPlane(p, p.batch * p.groups, planes.elements(), workspace, [&](int64_t i, T* buffer) {
      absl::InlinedVector<T, 25> window(size);
      const T* const from = weight + i % p.groups * size;
      std::reverse_copy(from, from + size, window.begin());
      planes.Pad(map + i * p.map_step(), buffer);
      MapOfPlane(reversed, planes, buffer, window.data(), image + i * p.image_step(), add,
                 buffer + planes.image_elements());
    });
    return;
  }
  const Planes planes(p.g);
  ForEachPlane(p, p.batch * p.groups, planes.elements(), workspace, [&](int64_t i, T* buffer) {
    std::fill_n(buffer, planes.image_elements(), T{});
    for (int64_t y = 0; y < p.g.out[1]; ++y) {
      const T* const from = map + i * p.map_step() + y * p.g.out[2];
      for (int64_t k = 0; k < size; ++k) {
        const T factor = weight[i % p.groups * size + k];
        T* const to = buffer + planes.row(y) + planes.offset(k);
        for (int64_t x = 0; x < p.g.out[2]; ++x) to[x] += from[x] * factor;
      }
    }
    planes.Unpad(buffer, add, image + i * p.image_step());
  });
}

template <typename T>
void DepthwiseWeight(const ConvolutionProduct& p, const T* image, const T* map, T* weight, bool add,
                     T* workspace) {
  const Planes planes(p.g);
  const int64_t size = p.weight_step();
  // A filter's gradient is summed over the batch by one thread.
  ForEachPlane(p, p.groups, planes.elements(), workspace, [&](int64_t group, T* buffer) {
    T* const to = weight + group * size;
    if (!add) std::fill_n(to, size, T{});
    T* const rows = buffer + planes.image_elements();
    for (int64_t n = 0; n < p.batch; ++n) {
      const int64_t i = n * p.groups + group;
      planes.Pad(image + i * p.image_step(), buffer);
      planes.PadMap(map + i * p.map_step(), rows);
      int64_t k = 0;
      for (; k + 9 <= size; k += 9) AddProducts<9>(p.g, planes, k, buffer, rows, to);
      for (; k + 3 <= size; k += 3) AddProducts<3>(p.g, planes, k, buffer, rows, to);
      for (; k < size; ++k) AddProducts<1>(p.g, planes, k, buffer, rows, to);
    }
  });
}

#define COOPER_INSTANTIATE(T)                                                                   \
  template void DepthwiseMap<T>(const ConvolutionProduct&, const T*, const T*, T*, bool, T*);   \
  template void DepthwiseImage<T>(const ConvolutionProduct&, const T*, const T*, T*, bool, T*); \
  template void DepthwiseWeight<T>(const ConvolutionProduct&, const T*, const T*, T*, bool, T*);
COOPER_INSTANTIATE(float)
COOPER_INSTANTIATE(double)
#undef COOPER_INSTANTIATE

}  // namespace cooper
