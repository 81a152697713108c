#ifndef COOPER_SYMBOL_OPS_OPTIMIZER_SGD_PARAM_H_
#define COOPER_SYMBOL_OPS_OPTIMIZER_SGD_PARAM_H_

// Parameters of gradient descent with and without momentum, and of its variants.

#include <cstdint>

#include "symbol/ops/optimizer/update_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// MXNet's switch between dense and sparse updates; all updates are dense here.
inline constexpr char kLazyUpdateDoc[] = "has no effect";

struct SgdParam : UpdateParam {
  bool lazy_update = true;

  static void Declare(ParamDeclaration<SgdParam>& d) {
    DeclareUpdate(d);
    d.Field("lazy_update", &SgdParam::lazy_update).Doc(kLazyUpdateDoc);
  }
};

// Parameters of signsgd_update.
struct PlainUpdateParam : UpdateParam {
  static void Declare(ParamDeclaration<PlainUpdateParam>& d) { DeclareUpdate(d); }
};

// Parameters of nag_mom_update and (plus lazy_update) sgd_mom_update.
struct MomentumParam : UpdateParam {
  double momentum = 0;

  static void Declare(ParamDeclaration<MomentumParam>& d) { DeclareMomentum(d); }

 protected:
  template <typename P>
  static void DeclareMomentum(ParamDeclaration<P>& d) {
    DeclareUpdate(d);
    d.Field("momentum", &P::momentum).Doc("factor of the momentum in each update");
  }
};

struct SgdMomParam : MomentumParam {
  bool lazy_update = true;

  static void Declare(ParamDeclaration<SgdMomParam>& d) {
    DeclareMomentum(d);
    d.Field("lazy_update", &SgdMomParam::lazy_update).Doc(kLazyUpdateDoc);
  }
};

struct SignumParam : MomentumParam {
  double wd_lh = 0;

  static void Declare(ParamDeclaration<SignumParam>& d) {
    DeclareMomentum(d);
    d.Field("wd_lh", &SignumParam::wd_lh).Doc("decay that is not part of the gradient");
  }
};

struct DcasgdParam : MomentumParam {
  double lamda = 0.04;

  static void Declare(ParamDeclaration<DcasgdParam>& d) {
    DeclareMomentum(d);
    d.Field("lamda", &DcasgdParam::lamda).Doc("factor of the compensation");
  }
};

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
