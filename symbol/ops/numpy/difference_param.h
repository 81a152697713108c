#ifndef COOPER_SYMBOL_OPS_NUMPY_DIFFERENCE_PARAM_H_
#define COOPER_SYMBOL_OPS_NUMPY_DIFFERENCE_PARAM_H_

// Parameters of _neighbour_difference: y[i] = x[i + 1] - x[i] along an axis of at least 2 elements,
// which keeps one element less. Integers wrap around. _npi_diff is a chain of these.

#include "symbol/schema/param_schema.h"

namespace cooper {

struct NeighbourDifferenceParam {
  int axis = -1;

  static void Declare(ParamDeclaration<NeighbourDifferenceParam>& d) {
    d.Field("axis", &NeighbourDifferenceParam::axis).Doc("the axis of the neighbours");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NUMPY_DIFFERENCE_PARAM_H_
