#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_PRODUCT_CUDA_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_PRODUCT_CUDA_H_

// The three products of a convolution on a GPU, each of which computes one of image, weight and map
// from the other two by im2col and batched products of cuBLAS. A batch covers several images where
// there is one group, otherwise all groups of an image. Arrays are channels-first. For .cu files;
// executor/kernels/convolution/convolution_product.h is for the CPU. ConvolutionPasses calls it
// where cuDNN has no plan, is not in use, or is slower, as for small batches.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/convolution/column_bytes.h"
#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/convolution/windows.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cublas.h"
#include "ndarray/cuda/cuda_status.h"

namespace cooper {

// Returns the number of images whose columns are computed at once: as many as fit in
// ConvolutionColumnBytes(), at least one, at most the batch and 4096. More images make fewer and
// larger launches; the limit keeps the workspace small.
inline int64_t ImagesAtOnce(const ConvolutionProduct& p, int64_t element_bytes) {
  constexpr int64_t kMax = 4096;
  const int64_t image_bytes = p.groups * p.WorkspaceElements() * element_bytes;
  const int64_t fitting = image_bytes == 0 ? kMax : ConvolutionColumnBytes() / image_bytes;
  return std::clamp<int64_t>(fitting, 1, std::clamp<int64_t>(p.batch, 1, kMax));
}

// Returns the bytes of workspace that the products need: those of the columns of ImagesAtOnce()
// images, or 0 if the columns are the images.
inline int64_t ConvolutionWorkspaceBytes(const ConvolutionProduct& p, int64_t element_bytes) {
  return ImagesAtOnce(p, element_bytes) * p.groups * p.WorkspaceElements() * element_bytes;
}

// Queues the products on the stream of a KernelContext, whose workspace has
// ConvolutionWorkspaceBytes() bytes. T is float or double. References its arguments, which must
// outlive it. Products use TF32 only where it is allowed (ndarray/cuda/tf32.h). Errors of all
// products: those of Cublas::GemmBatched and of Launch.
template <typename T>
class ConvolutionProducts {
 public:
  // `cublas` belongs to the device of `c`, which must be the current one.
  ConvolutionProducts(const KernelContext& c, Cublas& cublas, const ConvolutionProduct& p)
      : c_(c),
        cublas_(cublas),
        p_(p),
        all_groups_(p.g),
        identity_(p.g.IsIdentity()),
        chunk_(ImagesAtOnce(p, sizeof(T))),
        workspace_(static_cast<T*>(c.workspace)) {
    all_groups_.channels *= p.groups;
  }

  // Computes map = or += weight * columns(image). Launches per chunk: im2col and one batch, or a
  // batch per image with several groups.
  absl::Status MapFromImage(const T* image, const T* weight, T* map, bool add) const {
    return ForEachChunk([&](int64_t begin, int64_t count) -> absl::Status {
      COOPER_ASSIGN_OR_RETURN(const T* columns, ColumnsOf(image, begin, count));
      return Products(count, [&](int64_t i, int64_t products, const Steps& s) {
        const GemmBatch batch{products, s.weight, s.columns, p_.map_step()};
        return cublas_.GemmBatched(StreamOf(c_), DTypeOf<T>(), batch, false, false, p_.filters,
                                   p_.g.columns(), p_.g.rows(), 1, weight, p_.g.rows(),
                                   columns + i * s.columns, p_.g.columns(), add,
                                   map + (begin * p_.groups + i) * p_.map_step(), p_.g.columns());
      });
    });
  }

  // Computes image = or += the sum over windows of columns(weight^T * map). Each image element is
  // summed by one thread in the order of the kernel's elements, so equal inputs give equal bits.
  absl::Status ImageFromMap(const T* map, const T* weight, T* image, bool add) const {
    return ForEachChunk([&](int64_t begin, int64_t count) -> absl::Status {
      T* first_image = image + begin * p_.groups * p_.image_step();
      T* columns = identity_ ? first_image : workspace_;
      COOPER_RETURN_IF_ERROR(Products(count, [&](int64_t i, int64_t products, const Steps& s) {
        const GemmBatch batch{products, s.weight, p_.map_step(), s.columns};
        return cublas_.GemmBatched(StreamOf(c_), DTypeOf<T>(), batch, true, false, p_.g.rows(),
                                   p_.g.columns(), p_.filters, 1, weight, p_.g.rows(),
                                   map + (begin * p_.groups + i) * p_.map_step(), p_.g.columns(),
                                   identity_ && add, columns + i * s.columns, p_.g.columns());
      }));
      if (identity_) return absl::OkStatus();
      return LaunchCol2Im(c_, all_groups_, count, columns, first_image, add);
    });
  }

  // Computes weight = or += the sum over the batch of map * columns(image)^T. The images are added
  // one after the other, in order, with one batch of products over the groups for each. An empty
  // batch zeroes the weight.
  absl::Status WeightFromBoth(const T* image, const T* map, T* weight, bool add) const {
    if (p_.batch == 0 && !add) {
      return CudaStatus(
          cudaMemsetAsync(weight, 0, p_.groups * p_.weight_step() * sizeof(T), StreamOf(c_)),
          "zeroing the gradient of a weight");
    }
    return ForEachChunk([&](int64_t begin, int64_t count) -> absl::Status {
      COOPER_ASSIGN_OR_RETURN(const T* columns, ColumnsOf(image, begin, count));
      // A batch has one product per group. Images follow one another, because the products of a
      // batch run at the same time and must not share a result.
      const GemmBatch batch{p_.groups, p_.map_step(), ColumnStep(), p_.weight_step()};
      for (int64_t i = 0; i < count; ++i) {
        COOPER_RETURN_IF_ERROR(cublas_.GemmBatched(
            StreamOf(c_), DTypeOf<T>(), batch, false, true, p_.filters, p_.g.rows(), p_.g.columns(),
            1, map + (begin + i) * p_.groups * p_.map_step(), p_.g.columns(),
            columns + i * p_.groups * ColumnStep(), p_.g.columns(), add || begin + i > 0, weight,
            p_.g.rows()));
      }
      return absl::OkStatus();
    });
  }

 private:
  // Distances, in elements, between consecutive products of a batch.
  struct Steps {
    int64_t weight, columns;
  };

  // The elements of the columns of one group of one image.
  int64_t ColumnStep() const { return p_.g.rows() * p_.g.columns(); }

  // Calls fn(first image, number of images) for each chunk.
  template <typename Fn>
  absl::Status ForEachChunk(Fn&& fn) const {
    for (int64_t begin = 0; begin < p_.batch; begin += chunk_) {
      COOPER_RETURN_IF_ERROR(fn(begin, std::min(chunk_, p_.batch - begin)));
    }
    return absl::OkStatus();
  }

  // Calls fn(first product, number of products, steps) for batches of the products of `images`
  // images, numbered by image and then by group. The products of an image have different weights,
  // those of a group share one.
  template <typename Fn>
  absl::Status Products(int64_t images, Fn&& fn) const {
    if (p_.groups == 1) return fn(0, images, Steps{0, ColumnStep()});
    for (int64_t i = 0; i < images; ++i) {
      COOPER_RETURN_IF_ERROR(fn(i * p_.groups, p_.groups, Steps{p_.weight_step(), ColumnStep()}));
    }
    return absl::OkStatus();
  }

  // Returns the columns of images [begin, begin + count), group by group: in the workspace, or the
  // images themselves.
  absl::StatusOr<const T*> ColumnsOf(const T* image, int64_t begin, int64_t count) const {
    const T* first = image + begin * p_.groups * p_.image_step();
    if (identity_) return first;
    COOPER_RETURN_IF_ERROR(LaunchIm2Col(c_, all_groups_, count, first, workspace_, /*add=*/false));
    return workspace_;
  }

  const KernelContext& c_;
  Cublas& cublas_;
  const ConvolutionProduct& p_;
  // The windows of all groups together, which im2col and col2im treat as channels of one image.
  WindowGeometry all_groups_;
  // Whether the columns are the images, so that no workspace is needed.
  const bool identity_;
  // The number of images per chunk, but of the last one.
  const int64_t chunk_;
  // The columns of a chunk: (images, groups, rows, columns).
  T* const workspace_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_PRODUCT_CUDA_H_
