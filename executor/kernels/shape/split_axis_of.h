#ifndef COOPER_EXECUTOR_KERNELS_SHAPE_SPLIT_AXIS_OF_H_
#define COOPER_EXECUTOR_KERNELS_SHAPE_SPLIT_AXIS_OF_H_

// Returns the axis along which an operator splits or concatenates arrays. A negative axis counts
// from the end. split_join.cc and split_join.cu call it.
//
// split_join.cc and split_join.cu call it.

#include "symbol/ops/shape/concat_param.h"
#include "symbol/ops/shape/split_param.h"

namespace cooper {

// The overloads let one template serve SliceChannel, _split_v2, Concat and stack, whose parameters
// have different names.
inline int SplitAxisOf(const SliceChannelParam& param) { return param.axis; }
inline int SplitAxisOf(const SplitParam& param) { return param.axis; }
inline int SplitAxisOf(const ConcatParam& param) { return param.dim; }
inline int SplitAxisOf(const StackParam& param) { return param.axis; }

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_SHAPE_SPLIT_AXIS_OF_H_
