#ifndef COOPER_SYMBOL_OPS_NUMPY_CONCATENATE_PARAM_H_
#define COOPER_SYMBOL_OPS_NUMPY_CONCATENATE_PARAM_H_

// Parameters of _npi_concatenate (shapes.cc). MXNet: src/operator/numpy/np_matrix_op-inl.h.

#include "symbol/ops/shape/concat_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// ConcatParam under NumPy's name for its axis, 0 by default. It adds no members, so the kernels of
// Concat read it as a ConcatParam. axis=None, which flattens the inputs, is not supported. Inputs
// agree in all other extents.
struct NumpyConcatenateParam : ConcatParam {
  NumpyConcatenateParam() { dim = 0; }

  static void Declare(ParamDeclaration<NumpyConcatenateParam>& d) {
    d.Field("num_args", &NumpyConcatenateParam::num_args).Required().Min(1).Doc("number of inputs");
    d.Field("axis", &NumpyConcatenateParam::dim)
        .Doc("the axis along which the inputs follow each other");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NUMPY_CONCATENATE_PARAM_H_
