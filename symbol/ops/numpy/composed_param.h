#ifndef COOPER_SYMBOL_OPS_NUMPY_COMPOSED_PARAM_H_
#define COOPER_SYMBOL_OPS_NUMPY_COMPOSED_PARAM_H_

// Parameters of NumPy operators without kernels (composed.cc). Shape rules check axes and extents.
// MXNet: src/operator/numpy.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "symbol/ops/numpy/reduction_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of _np_atleast_1d, _np_atleast_2d and _np_atleast_3d: output i is input i with axes of
// extent 1 added.
struct AtleastParam {
  int num_args = 0;

  static void Declare(ParamDeclaration<AtleastParam>& d) {
    d.Field("num_args", &AtleastParam::num_args).Required().Min(1).Doc("number of inputs");
  }
};

// Parameters of _npi_diff: differences of neighbours along an axis, n times. The extent must be
// larger than n.
struct DiffParam {
  int n = 1;
  int axis = -1;

  static void Declare(ParamDeclaration<DiffParam>& d) {
    d.Field("n", &DiffParam::n).Min(0).Doc("how often differences are taken");
    d.Field("axis", &DiffParam::axis).Doc("the axis of the neighbours");
  }
};

// Parameters of _npi_average. Weights have a's shape, or are a vector for the one axis that is
// reduced.
struct AverageParam {
  OptionalAxes axis;
  bool returned = false;
  bool weighted = true;

  static void Declare(ParamDeclaration<AverageParam>& d) {
    d.Field("axis", &AverageParam::axis).Doc("the axes to reduce; None means all");
    d.Field("returned", &AverageParam::returned).Doc("whether the sum of weights is an output");
    d.Field("weighted", &AverageParam::weighted).Doc("whether there are weights");
  }
};

// Parameters of _npi_eigh and _npi_eigvalsh: which triangle of the symmetric matrices is read.
struct EighParam {
  bool upper = false;

  static void Declare(ParamDeclaration<EighParam>& d) {
    d.Enum("UPLO", &EighParam::upper, {{"L", false}, {"U", true}})
        .Doc("the triangle that is read: lower or upper");
  }
};

// Parameters of _npi_tensorinv: the first ind axes of a are the rows of a matrix, the others its
// columns.
struct TensorinvParam {
  int ind = 2;

  static void Declare(ParamDeclaration<TensorinvParam>& d) {
    d.Field("ind", &TensorinvParam::ind).Min(1).Doc("number of axes that are rows");
  }
};

// Parameters of _npi_tensorsolve: x of a * x = b, where the last axes of a, after those of a_axes
// have been moved behind the others, are the columns of a matrix.
struct TensorsolveParam {
  std::vector<int64_t> a_axes;

  static void Declare(ParamDeclaration<TensorsolveParam>& d) {
    d.Field("a_axes", &TensorsolveParam::a_axes).Doc("axes of a that are moved to the end");
  }

  // Returns the order of a's axes. Requires different axes of an array of this rank.
  std::vector<int64_t> order(int rank) const {
    std::vector<int64_t> axes, moved = a_axes;
    for (int64_t& axis : moved) axis = axis < 0 ? axis + rank : axis;
    for (int64_t i = 0; i < rank; ++i) {
      bool stays = true;
      for (const int64_t axis : moved) stays = stays && axis != i;
      if (stays) axes.push_back(i);
    }
    axes.insert(axes.end(), moved.begin(), moved.end());
    return axes;
  }
};

// Parameters of _npi_boolean_mask_assign_scalar: the axes of the mask are those of data from
// start_axis on.
struct BooleanMaskAssignParam {
  double value = 0;
  int start_axis = 0;

  static void Declare(ParamDeclaration<BooleanMaskAssignParam>& d) {
    d.Field("value", &BooleanMaskAssignParam::value).Required().Doc("what the mask's true get");
    d.Field("start_axis", &BooleanMaskAssignParam::start_axis)
        .Min(0)
        .Doc("data's axis that is the mask's first");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NUMPY_COMPOSED_PARAM_H_
