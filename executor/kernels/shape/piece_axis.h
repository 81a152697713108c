#ifndef COOPER_EXECUTOR_KERNELS_SHAPE_PIECE_AXIS_H_
#define COOPER_EXECUTOR_KERNELS_SHAPE_PIECE_AXIS_H_

// The axis, counted from the end if negative, along which an operator cuts an array or puts one
// together.

#include "symbol/ops/shape/concat_param.h"
#include "symbol/ops/shape/split_param.h"

namespace cooper {

inline int PieceAxis(const SliceChannelParam& param) { return param.axis; }
inline int PieceAxis(const SplitParam& param) { return param.axis; }
inline int PieceAxis(const ConcatParam& param) { return param.dim; }
inline int PieceAxis(const StackParam& param) { return param.axis; }

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_SHAPE_PIECE_AXIS_H_
