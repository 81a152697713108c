#ifndef COOPER_SYMBOL_OPS_SHAPE_CONCAT_PARAM_H_
#define COOPER_SYMBOL_OPS_SHAPE_CONCAT_PARAM_H_

// Parameters of Concat, _rnn_param_concat and stack, which join arrays along an axis. The schemas
// are in concat.cc. Executors may let the inputs be parts of the output's memory, so that nothing
// is copied (OpSchema::join_axis). MXNet: src/operator/nn/concat.cc,
// src/operator/tensor/matrix_op-inl.h.

#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of Concat: the inputs arg0, arg1, ... one after the other along axis dim; their other
// extents are equal. The gradients are the parts of the head gradient. One input of unknown extent
// gets the rest of the output's; _rnn_param_concat shares the rest equally among up to two.
struct ConcatParam {
  // Number of inputs; composition sets it if it is absent.
  int num_args = 0;
  // The axis; negative axes count from the end. The default is the axis of channels.
  int dim = 1;

  static void Declare(ParamDeclaration<ConcatParam>& d) {
    d.Field("num_args", &ConcatParam::num_args).Required().Min(1).Doc("number of inputs");
    d.Field("dim", &ConcatParam::dim).Doc("the axis along which the inputs follow each other");
  }
};

// Parameters of stack: inputs of one shape along a new axis of extent num_args. Negative axes count
// from the end of the output's axes.
struct StackParam {
  int axis = 0;
  int num_args = 0;

  static void Declare(ParamDeclaration<StackParam>& d) {
    d.Field("axis", &StackParam::axis).Doc("the new axis, in the output");
    d.Field("num_args", &StackParam::num_args).Required().Min(1).Doc("number of inputs");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_SHAPE_CONCAT_PARAM_H_
