#ifndef COOPER_SYMBOL_OPS_NN_IM2COL_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_IM2COL_PARAM_H_

// Parameters of im2col and col2im, which convert the windows of an image to the columns of a matrix
// and back: a convolution is a product of its weight with these columns. Each operator is the
// other's gradient. The schemas are in im2col.cc. MXNet: src/operator/nn/im2col.cc.

#include "symbol/ops/nn/window_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of im2col. data is (batch_size, channels, spatial...), the output (batch_size,
// channels * kernel elements, positions): row c * kernel elements + k has, for each position of the
// window, element k of the window in channel c, and 0 in the padding. Positions are counted row by
// row, as Convolution counts its output.
struct Im2colParam {
  // One number per spatial axis, 1 to 3 of them. The other tuples are empty or as long.
  WindowTuple kernel;
  WindowTuple stride;
  WindowTuple dilate;
  WindowTuple pad;

  // Declares the fields for a derived struct P.
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

// Parameters of col2im: the reverse, (batch_size, channels * kernel elements, positions) to
// (batch_size, channels, output_size...). Elements that several windows contain are added up, so
// col2im is the transpose of im2col, not its inverse.
struct Col2imParam : Im2colParam {
  // Spatial extents of the image, which the number of positions does not determine.
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
