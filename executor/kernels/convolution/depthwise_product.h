#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_DEPTHWISE_PRODUCT_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_DEPTHWISE_PRODUCT_H_

// The three products of a depthwise convolution on the CPU, in which each channel has one filter of
// its own, for images in the plain layout. The products of convolution_product.h use them: columns
// of a single channel would take most of the time. Blocked images have oneDNN's products
// (blocked_product.h).
//
// A thread copies the plane of a channel with its padding into a buffer, where the elements under
// one kernel element are contiguous for any stride, so that loops have neither edges nor strides.
// T is float or double. Each result is summed by one thread in an order that depends on the shapes
// alone, so results do not depend on the number of threads.

#include <cstdint>

#include "executor/kernels/convolution/convolution_geometry.h"

namespace cooper {

// Returns whether these products compute the convolution: groups of one channel and one filter,
// over at most two spatial axes, with buffers that are not much larger than image and map.
bool IsDepthwise(const ConvolutionProduct& p);

// Returns the elements of the workspace of each function below: the buffers of at most 16 threads,
// at most as many as the columns of a channel would take or a million.
int64_t DepthwiseWorkspaceElements(const ConvolutionProduct& p);

// Computes map = or += the convolution of `image` with `weight`.
template <typename T>
void DepthwiseMap(const ConvolutionProduct& p, const T* image, const T* weight, T* map, bool add,
                  T* workspace);

// Computes image = or += the gradient of the data, from the gradient `map` of the output. With
// stride 1 an infinite weight gives NaN at the edges, where it is multiplied by padding.
template <typename T>
void DepthwiseImage(const ConvolutionProduct& p, const T* map, const T* weight, T* image, bool add,
                    T* workspace);

// Computes weight = or += the gradient of the weight, from the gradient `map` of the output.
template <typename T>
void DepthwiseWeight(const ConvolutionProduct& p, const T* image, const T* map, T* weight, bool add,
                     T* workspace);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_DEPTHWISE_PRODUCT_H_
