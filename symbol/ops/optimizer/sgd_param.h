#ifndef COOPER_SYMBOL_OPS_OPTIMIZER_SGD_PARAM_H_
#define COOPER_SYMBOL_OPS_OPTIMIZER_SGD_PARAM_H_

// Parameters of gradient descent with and without momentum, and of its variants. sgd.cc declares
// the operators; executor/kernels/optimizer/sgd_functions.h has the functions of one element. g is
// clip(rescale_grad * grad), as in update_param.h. MXNet: src/operator/optimizer_op.cc.

#include <cstdint>

#include "symbol/ops/optimizer/update_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// The documentation of lazy_update, MXNet's switch between dense and sparse updates. All updates
// are dense here: a row with a gradient of 0 still decays and moves with its momentum.
inline constexpr char kLazyUpdateDoc[] = "has no effect";

// Parameters of sgd_update: weight = (1 - lr * wd) * weight - lr * g.
struct SgdParam : UpdateParam {
  bool lazy_update = true;

  static void Declare(ParamDeclaration<SgdParam>& d) {
    DeclareUpdate(d);
    d.Field("lazy_update", &SgdParam::lazy_update).Doc(kLazyUpdateDoc);
  }
};

// Parameters of signsgd_update: weight = (1 - lr * wd) * weight - lr * sign(grad), with the sign of
// 0 and NaN 0. rescale_grad and clip_gradient have no effect on a sign.
struct PlainUpdateParam : UpdateParam {
  static void Declare(ParamDeclaration<PlainUpdateParam>& d) { DeclareUpdate(d); }
};

// Parameters of nag_mom_update, Nesterov's accelerated gradient, and the base of the parameters of
// other updates with a momentum. mom' is momentum * mom; the second step uses the new weight, as in
// MXNet:
//
//   weight += (1 + momentum) * (mom' - lr * (g + wd * weight)) - mom'
//   mom = mom' - lr * (g + wd * weight)
struct MomentumParam : UpdateParam {
  double momentum = 0;

  static void Declare(ParamDeclaration<MomentumParam>& d) { DeclareMomentum(d); }

 protected:
  // Declares the fields for a derived struct P.
  template <typename P>
  static void DeclareMomentum(ParamDeclaration<P>& d) {
    DeclareUpdate(d);
    d.Field("momentum", &P::momentum).Doc("factor of the momentum in each update");
  }
};

// Parameters of sgd_mom_update:
//
//   mom = momentum * mom - lr * wd * weight - lr * g;  weight += mom
struct SgdMomParam : MomentumParam {
  bool lazy_update = true;

  static void Declare(ParamDeclaration<SgdMomParam>& d) {
    DeclareMomentum(d);
    d.Field("lazy_update", &SgdMomParam::lazy_update).Doc(kLazyUpdateDoc);
  }
};

// Parameters of signum_update (Bernstein et al., signSGD, 2018). wd acts through the momentum,
// wd_lh on the weight itself, after Loshchilov and Hutter:
//
//   mom = momentum * mom - (1 - momentum) * (wd * weight + g)
//   weight = (1 - lr * wd_lh) * weight + lr * sign(mom)
struct SignumParam : MomentumParam {
  double wd_lh = 0;

  static void Declare(ParamDeclaration<SignumParam>& d) {
    DeclareMomentum(d);
    d.Field("wd_lh", &SignumParam::wd_lh).Doc("decay that is not part of the gradient");
  }
};

// Parameters of _dcasgd_update, which compensates delayed gradients (Zheng et al., Asynchronous
// Stochastic Gradient Descent with Delay Compensation, 2017). The state previous_weight is the
// weight before the last update; lamda is MXNet's spelling.
//
//   mom = momentum * mom - lr * (g + wd * weight + lamda * g^2 * (weight - previous_weight))
//   weight += mom
struct DcasgdParam : MomentumParam {
  double lamda = 0.04;

  static void Declare(ParamDeclaration<DcasgdParam>& d) {
    DeclareMomentum(d);
    d.Field("lamda", &DcasgdParam::lamda).Doc("factor of the compensation");
  }
};

// Parameters of _sgld_update, stochastic gradient Langevin dynamics (Welling and Teh, 2011): weight
// -= lr / 2 * (g + wd * weight), plus normal noise with the standard deviation sqrt(lr). Element i
// takes the noise at position + i of the stream of `seed`, so equal parameters give equal noise on
// every device and for any number of threads.
struct SgldParam : UpdateParam {
  int64_t seed = 0;
  int64_t position = 0;

  static void Declare(ParamDeclaration<SgldParam>& d) {
    DeclareUpdate(d);
    d.Field("seed", &SgldParam::seed).Doc("seed of the noise");
    d.Field("position", &SgldParam::position).Doc("index of the first element's noise");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_OPTIMIZER_SGD_PARAM_H_
