#ifndef COOPER_SYMBOL_OPS_ELEMWISE_CAST_PARAM_H_
#define COOPER_SYMBOL_OPS_ELEMWISE_CAST_PARAM_H_

#include "ndarray/base/dtype.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of Cast.
struct CastParam {
  DType dtype = DType::kFloat32;

  static void Declare(ParamDeclaration<CastParam>& d) {
    d.Field("dtype", &CastParam::dtype).Required().Doc("dtype of the output");
  }
};

// Parameters of amp_multicast, which gives its inputs a common dtype.
struct AmpMulticastParam {
  int num_outputs = 0;
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
