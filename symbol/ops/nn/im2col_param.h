#ifndef COOPER_SYMBOL_OPS_NN_IM2COL_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_IM2COL_PARAM_H_

#include "symbol/ops/nn/window_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

struct Im2colParam {
  WindowTuple kernel;
  WindowTuple stride;
  WindowTuple dilate;
  WindowTuple pad;

  template <typename P>
  static void DeclareFields(ParamDeclaration<P>& d) {
    d.template Field<WindowTuple>("kernel", &P::kernel).Required().Doc("extents of the window");
    d.template Field<WindowTuple>("stride", &P::stride).Doc("steps of the window; 1 if absent");
    d.template Field<WindowTuple>("dilate", &P::dilate)
        .Doc("distances of the elements that a window takes; 1 if absent");
    d.template Field<WindowTuple>("pad", &P::pad).Doc("zeros on both sides; 0 if absent");
  }

  static void Declare(ParamDeclaration<Im2colParam>& d) { DeclareFields(d); }
};

struct Col2imParam : Im2colParam {
  WindowTuple output_size;

  static void Declare(ParamDeclaration<Col2imParam>& d) {
    DeclareFields(d);
    d.Field("output_size", &Col2imParam::output_size)
        .Required()
        .Doc("spatial extents of the image");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_IM2COL_PARAM_H_
