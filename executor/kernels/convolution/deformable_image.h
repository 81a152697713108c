#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_DEFORMABLE_IMAGE_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_DEFORMABLE_IMAGE_H_

// The kernels for one image of a deformable convolution on a GPU. For .cu files;
// deformable_columns.h is for the CPU. Sums are in T, in a fixed order.

#include <cstdint>

#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/convolution/deformable_point.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"

namespace cooper {

// A point in both axes, and its factor: the mask, or 1. Only valid if Locate returned true.
template <typename T>
struct DeformablePoint {
  DeformableAxis<T> y, x;
  T factor;
};

// One image's windows, offsets and masks (null for the plain operator). Passed to kernels by value.
// deformable_columns.h describes the layout of the columns, offsets and masks.
template <typename T>
struct DeformableImage {
  WindowGeometry g;  // of all channels
  int64_t group_size;
  const T *offset, *mask;

  // Returns the number of taps: elements of the kernel of all deformable groups. A point is a tap
  // in a window, with the number tap * columns() + window, where tap = group * kernel_size() +
  // element of the kernel.
  __host__ __device__ int64_t taps() const { return g.channels / group_size * g.kernel_size(); }

  // Computes a point with its offset and mask. Returns whether it is inside of the image; elsewhere
  // the column is 0 and has no gradient.
  __device__ bool Locate(int64_t tap, int64_t window, DeformablePoint<T>* point) const {
    const int64_t element = tap % g.kernel_size();
    const int64_t row = window / g.out[2], column = window - row * g.out[2];
    const int64_t y = row * g.stride[1] - g.pad[1] + element / g.kernel[2] * g.dilate[1];
    const int64_t x = column * g.stride[2] - g.pad[2] + element % g.kernel[2] * g.dilate[2];
    const T* shift = offset + 2 * tap * g.columns() + window;
    const auto border = mask == nullptr ? DeformableBorder::kLastPixel : DeformableBorder::kZeros;
    point->factor = mask == nullptr ? T{1} : mask[tap * g.columns() + window];
    return g.image_size() > 0 && point->y.Set(static_cast<T>(y) + shift[0], g.in[1], border) &&
           point->x.Set(static_cast<T>(x) + shift[g.columns()], g.in[2], border);
  }

  // Returns the sum of pixels with these factors of rows and columns.
  __device__ T Sum(const T* pixels, const DeformablePoint<T>& p, const T (&rows)[2],
                   const T (&columns)[2]) const {
    const T *low = pixels + p.y.pixel[0] * g.in[2], *high = pixels + p.y.pixel[1] * g.in[2];
    return rows[0] * (columns[0] * low[p.x.pixel[0]] + columns[1] * low[p.x.pixel[1]]) +
           rows[1] * (columns[0] * high[p.x.pixel[0]] + columns[1] * high[p.x.pixel[1]]);
  }
};

// Computes columns (channels * kernel_size, windows): `count` elements. One thread computes an
// element.
template <typename T>
__global__ void ColumnsFromImage(int64_t count, DeformableImage<T> m, const T* image, T* columns) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t row = i / m.g.columns(), window = i - row * m.g.columns();
    const int64_t channel = row / m.g.kernel_size(), element = row - channel * m.g.kernel_size();
    DeformablePoint<T> p;
    const bool inside = m.Locate(channel / m.group_size * m.g.kernel_size() + element, window, &p);
    const T* pixels = image + channel * m.g.image_size();
    columns[i] = inside ? m.Sum(pixels, p, p.y.weight, p.x.weight) * p.factor : T{0};
  }
}

// Computes the gradients of offset and mask, either of which may be null: `count` points. `columns`
// are the gradients of the columns. One thread computes a point: it sums over the channels of the
// point's group in ascending order, so no atomics are needed. The gradient of a mask does not
// depend on the mask, which may be 0.
template <typename T>
__global__ void PositionGradients(int64_t count, DeformableImage<T> m, const T* image,
                                  const T* columns, T* offset_grad, bool add_offset, T* mask_grad,
                                  bool add_mask) {
  const int64_t width = m.g.columns();
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t tap = i / width, window = i - tap * width;
    const int64_t group = tap / m.g.kernel_size(), element = tap - group * m.g.kernel_size();
    T y = 0, x = 0, value = 0;
    DeformablePoint<T> p;
    if (m.Locate(tap, window, &p)) {
      for (int64_t k = group * m.group_size; k < (group + 1) * m.group_size; ++k) {
        const T* pixels = image + k * m.g.image_size();
        const T head = columns[(k * m.g.kernel_size() + element) * width + window];
        y += head * p.factor * m.Sum(pixels, p, p.y.slope, p.x.weight);
        x += head * p.factor * m.Sum(pixels, p, p.y.weight, p.x.slope);
        value += head * m.Sum(pixels, p, p.y.weight, p.x.weight);
      }
    }
    if (offset_grad != nullptr) {
      StoreTo(offset_grad + 2 * tap * width + window, y, add_offset);
      StoreTo(offset_grad + (2 * tap + 1) * width + window, x, add_offset);
    }
    if (mask_grad != nullptr) StoreTo(mask_grad + i, value, add_mask);
  }
}

// Computes the reads of all points: four per point, each with the pixel (group * image_size() +
// pixel) as its key, and its weight. `count` points. The key of a point outside is that after the
// last pixel. Sorting the keys with their `values`, the numbers of the reads, puts the reads of one
// pixel together for SumPixelReads: pixels are read by an unknown number of points, and sums by
// atomics would have no fixed order.
template <typename T>
__global__ void ListPixelReads(int64_t count, DeformableImage<T> m, T* weights, uint64_t* keys,
                               int32_t* values) {
  const int64_t size = m.g.image_size(), groups = m.g.channels / m.group_size;
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t tap = i / m.g.columns(), window = i - tap * m.g.columns();
    DeformablePoint<T> p;
    const bool inside = m.Locate(tap, window, &p);
    for (int k = 0; k < 4; ++k) {
      const int64_t read = i * 4 + k;
      int64_t key = groups * size;
      T weight = 0;
      if (inside) {
        key = tap / m.g.kernel_size() * size + p.y.pixel[k / 2] * m.g.in[2] + p.x.pixel[k % 2];
        weight = p.y.weight[k / 2] * p.x.weight[k % 2] * p.factor;
      }
      weights[read] = weight;
      keys[read] = static_cast<uint64_t>(key);
      values[read] = static_cast<int32_t>(read);
    }
  }
}

// Sums for each pixel of the image the reads with its key, in the order of the points: `count`
// elements. `reads` is the number of keys, which are sorted. One thread computes a pixel of a
// channel: the gradient of data, = or += the sum of the columns' gradients times the weights. The
// sort must be stable, or the order of a sum is not that of the points.
template <typename T>
__global__ void SumPixelReads(int64_t count, DeformableImage<T> m, int64_t reads,
                              const uint64_t* keys, const int32_t* values, const T* weights,
                              const T* columns, T* grad, bool add) {
  const int64_t size = m.g.image_size(), width = m.g.columns();
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t channel = i / size;
    const auto key = static_cast<uint64_t>(channel / m.group_size * size + i - channel * size);
    int64_t at = 0;  // the first read with the key, by bisection
    for (int64_t end = reads; at < end;) {
      const int64_t middle = at + (end - at) / 2;
      if (keys[middle] < key) {
        at = middle + 1;
      } else {
        end = middle;
      }
    }
    T sum = 0;
    for (; at < reads && keys[at] == key; ++at) {
      const int64_t point = values[at] / 4, tap = point / width;
      const int64_t row = channel * m.g.kernel_size() + tap % m.g.kernel_size();
      sum += weights[values[at]] * columns[row * width + point - tap * width];
    }
    StoreTo(grad + i, sum, add);
  }
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_DEFORMABLE_IMAGE_H_
