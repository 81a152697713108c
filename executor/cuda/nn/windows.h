#ifndef COOPER_EXECUTOR_CUDA_NN_WINDOWS_H_
#define COOPER_EXECUTOR_CUDA_NN_WINDOWS_H_

// Lays the windows of images out as the columns of matrices, and adds such columns back. For .cu
// files; executor/cpu/nn/im2col.h is the CPU's.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/cuda/elements.h"
#include "executor/cuda/launch.h"
#include "executor/cuda/launch_rows.h"
#include "executor/elements/convolution_geometry.h"
#include "executor/kernel.h"

namespace cooper {

// Element i of a dense array of these extents, as its place along each axis.
struct Place {
  int64_t at[3];

  __device__ Place(int64_t i, const int64_t (&extents)[3]) {
    at[2] = i % extents[2];
    i /= extents[2];
    at[1] = i % extents[1];
    at[0] = i / extents[1];
  }
};

// columns = or += the windows of images (images, channels, in...). A block has elements of one row
// of a matrix after the other.
template <typename T>
__global__ void Im2Col(WindowGeometry g, int64_t images, const T* image, T* columns, bool add) {
  const int64_t width = g.columns(), size = g.kernel_size();
  for (int64_t row = blockIdx.y; row < images * g.rows(); row += gridDim.y) {
    const T* channel = image + row / size * g.image_size();
    const Place k(row % size, g.kernel);
    for (int64_t column = FirstElement(); column < width; column += ElementStep()) {
      const Place o(column, g.out);
      int64_t from = 0;
      bool inside = true;
      for (int axis = 0; axis < 3; ++axis) {
        const int64_t at = o.at[axis] * g.stride[axis] + k.at[axis] * g.dilate[axis] - g.pad[axis];
        inside = inside && at >= 0 && at < g.in[axis];
        from = from * g.in[axis] + at;
      }
      StoreTo(columns + row * width + column, inside ? channel[from] : T{0}, add);
    }
  }
}

// images = or += for each of their elements the sum of the columns that it is in, in the order of
// the kernel's elements: equal input gives equal bits.
template <typename T>
__global__ void Col2Im(WindowGeometry g, int64_t images, const T* columns, T* image, bool add) {
  const int64_t width = g.columns(), size = g.kernel_size(), elements = g.image_size();
  for (int64_t channel = blockIdx.y; channel < images * g.channels; channel += gridDim.y) {
    const T* rows = columns + channel * size * width;
    for (int64_t i = FirstElement(); i < elements; i += ElementStep()) {
      const Place at(i, g.in);
      T sum = 0;
      for (int64_t element = 0; element < size; ++element) {
        const Place k(element, g.kernel);
        int64_t column = 0;
        bool inside = true;
        for (int axis = 0; axis < 3; ++axis) {
          // Where the window stands whose element this is, in elements of the image.
          const int64_t begin = at.at[axis] + g.pad[axis] - k.at[axis] * g.dilate[axis];
          const int64_t o = begin / g.stride[axis];
          inside = inside && begin >= 0 && begin % g.stride[axis] == 0 && o < g.out[axis];
          column = column * g.out[axis] + o;
        }
        if (inside) sum += rows[element * width + column];
      }
      StoreTo(image + channel * elements + i, sum, add);
    }
  }
}

template <typename T>
absl::Status LaunchIm2Col(const KernelContext& c, const WindowGeometry& g, int64_t images,
                          const T* image, T* columns, bool add) {
  return LaunchRows(c, images * g.rows(), g.columns(), Im2Col<T>, g, images, image, columns, add);
}

template <typename T>
absl::Status LaunchCol2Im(const KernelContext& c, const WindowGeometry& g, int64_t images,
                          const T* columns, T* image, bool add) {
  return LaunchRows(c, images * g.channels, g.image_size(), Col2Im<T>, g, images, columns, image,
                    add);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CUDA_NN_WINDOWS_H_
