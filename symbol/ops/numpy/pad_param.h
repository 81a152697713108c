#ifndef COOPER_SYMBOL_OPS_NUMPY_PAD_PARAM_H_
#define COOPER_SYMBOL_OPS_NUMPY_PAD_PARAM_H_

// Parameters of _npi_pad (pad.cc). MXNet: src/operator/numpy/np_pad_op-inl.h.

#include <string>

#include "symbol/ops/shape/pad_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// PadParam with the widths as pairs, ((before, after), ...) for each axis; the kernels of Pad read
// it as a PadParam. Modes maximum and minimum, and the reflect_type odd, are not supported. Shape
// inference fails with kInvalidArgument for another reflect_type and as for Pad.
struct NumpyPadParam : PadParam {
  std::string reflect_type = "even";

  static void Declare(ParamDeclaration<NumpyPadParam>& d) {
    d.Field("pad_width", &NumpyPadParam::pad_width)
        .Required()
        .Doc("number of new elements before and after, a pair for each axis");
    d.Enum("mode", &NumpyPadParam::mode,
           {{"constant", kConstant},
            {"edge", kEdge},
            {"reflect", kReflect},
            {"symmetric", kSymmetric}})
        .Doc("what the new elements are");
    d.Field("constant_value", &NumpyPadParam::constant_value).Doc("value of mode constant");
    d.Field("reflect_type", &NumpyPadParam::reflect_type).Doc("must be even");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NUMPY_PAD_PARAM_H_
