#ifndef COOPER_SYMBOL_OPS_OPTIMIZER_UPDATE_PARAM_H_
#define COOPER_SYMBOL_OPS_OPTIMIZER_UPDATE_PARAM_H_

// Inputs and parameters shared by all updates of a weight. In the formulas of the updates g is
// clip(rescale_grad * grad), where clip limits to [-clip_gradient, clip_gradient], or does nothing
// if clip_gradient is negative.
//
// The attributes are numbers of the node: an optimizer that changes lr makes a new call. None of
// the updates has a gradient.

#include <string>

#include "symbol/schema/param_schema.h"

namespace cooper {

// The inputs of an update: the states begin at kFirstState; the float32 master copy of the weight,
// if there is one, is the last input.
struct UpdateInputs {
  enum Input { kWeight, kGrad, kFirstState };
};

// Attributes of an update. lr is the learning rate, and wd the weight decay, whose place in the
// formula depends on the update. rescale_grad is usually 1 / batch size.
struct UpdateParam {
  double lr = 0;
  double wd = 0;
  double rescale_grad = 1;
  double clip_gradient = -1;

 protected:
  // Declares the fields for a derived struct P. `clip` is the attribute name of clip_gradient.
  template <typename P>
  static void DeclareUpdate(ParamDeclaration<P>& d, const char* clip = "clip_gradient") {
    d.Field("lr", &P::lr).Required().Doc("learning rate");
    DeclareGradient(d, clip);
  }
  // Declares all fields but lr, for updates without a learning rate or with one of their own.
  template <typename P>
  static void DeclareGradient(ParamDeclaration<P>& d, const char* clip = "clip_gradient") {
    d.Field("wd", &P::wd).Doc("weight decay");
    d.Field("rescale_grad", &P::rescale_grad).Doc("factor of the gradient");
    d.Field(clip, &P::clip_gradient).Doc("limit of the rescaled gradient; negative: none");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_OPTIMIZER_UPDATE_PARAM_H_
