#ifndef COOPER_SYMBOL_OPS_ELEMWISE_CAST_PARAM_H_
#define COOPER_SYMBOL_OPS_ELEMWISE_CAST_PARAM_H_

// Parameters of Cast, amp_cast and amp_multicast, which convert the dtype of arrays. The schemas
// are in cast.cc. The amp_ operators are those that MXNet's automatic mixed precision inserts.
// MXNet: src/operator/tensor/elemwise_unary_op_basic.cc, amp_cast.cc.

#include "ndarray/base/dtype.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of Cast and amp_cast. The output has data's shape. amp_cast converts only float32 and
// 16-bit floats and passes other dtypes unchanged. Conversions follow ConvertElement
// (ndarray/base/dtype.h). The gradient is the head gradient, converted back to data's dtype.
struct CastParam {
  DType dtype = DType::kFloat32;

  static void Declare(ParamDeclaration<CastParam>& d) {
    d.Field("dtype", &CastParam::dtype).Required().Doc("dtype of the output");
  }
};

// Parameters of amp_multicast, which gives those of its inputs that are float32 or 16-bit floats a
// common dtype. Output i has the shape of input i, and input i's dtype if that is none of the
// three. No output is set while the dtype of an input is unknown. The gradients are converted back.
struct AmpMulticastParam {
  // Number of inputs and of outputs; the inputs are data_0, data_1, ...
  int num_outputs = 0;
  // False: the common dtype is float32 if any input is float32, else that of the first input. True:
  // it is that of the last input that is a 16-bit float, or float32 if there is none.
  bool cast_narrow = false;

  static void Declare(ParamDeclaration<AmpMulticastParam>& d) {
    d.Field("num_outputs", &AmpMulticastParam::num_outputs)
        .Required()
        .Min(1)
        .Max(1 << 16)  // files are untrusted, and each costs memory
        .Doc("number of inputs and outputs");
    d.Field("cast_narrow", &AmpMulticastParam::cast_narrow)
        .Doc("whether to cast to the narrowest dtype of the inputs rather than the widest");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_ELEMWISE_CAST_PARAM_H_
