#ifndef COOPER_SYMBOL_OPS_NUMPY_WHERE_PARAM_H_
#define COOPER_SYMBOL_OPS_NUMPY_WHERE_PARAM_H_

// Arrays and parameters of _npi_where and its relatives with numbers (where.cc). Arrays are
// broadcast together. The gradient of an array that is chosen from is the head gradient where the
// array was chosen, summed over the axes along which it was repeated. MXNet:
// src/operator/numpy/np_where_op-inl.h.

#include "symbol/schema/param_schema.h"

namespace cooper {

// Arrays of _npi_where; the condition may have any dtype.
struct NumpyWhereArrays {
  enum Input { kCondition, kX, kY };
};
// Arrays of the gradients, and of the relatives with a number, whose input 1 is the array.
struct NumpyWhereGradientArrays {
  enum Input { kCondition, kOgrad };
};
struct NumpyWhereScalarArrays {
  enum Input { kCondition, kArray };
};

// Parameters of _npi_where_lscalar, where the number is chosen if the condition is true, and of
// _npi_where_rscalar, where it is chosen if not.
struct NumpyWhereScalarParam {
  double scalar = 0;

  static void Declare(ParamDeclaration<NumpyWhereScalarParam>& d) {
    d.Field("scalar", &NumpyWhereScalarParam::scalar).Doc("the number");
  }
};

// Parameters of _npi_where_scalar2, whose output is float32.
struct NumpyWhereScalar2Param {
  double x = 0;
  double y = 0;

  static void Declare(ParamDeclaration<NumpyWhereScalar2Param>& d) {
    d.Field("x", &NumpyWhereScalar2Param::x).Doc("the number where the condition is true");
    d.Field("y", &NumpyWhereScalar2Param::y).Doc("the number where it is not");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NUMPY_WHERE_PARAM_H_
