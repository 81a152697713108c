#ifndef COOPER_SYMBOL_OPS_SHAPE_CONCAT_PARAM_H_
#define COOPER_SYMBOL_OPS_SHAPE_CONCAT_PARAM_H_

#include "symbol/schema/param_schema.h"

namespace cooper {

struct ConcatParam {
  int num_args = 0;
  int dim = 1;

  static void Declare(ParamDeclaration<ConcatParam>& d) {
    d.Field("num_args", &ConcatParam::num_args).Required().Min(1).Doc("number of inputs");
    d.Field("dim", &ConcatParam::dim).Doc("the axis along which the inputs follow each other");
  }
};

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
