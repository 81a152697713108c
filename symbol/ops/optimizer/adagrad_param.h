#ifndef COOPER_SYMBOL_OPS_OPTIMIZER_ADAGRAD_PARAM_H_
#define COOPER_SYMBOL_OPS_OPTIMIZER_ADAGRAD_PARAM_H_

// Parameters of updates that divide the gradient by the root of its accumulated squares.

#include "symbol/ops/optimizer/update_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

struct AdaGradParam : UpdateParam {
  double epsilon = 1e-7;

  static void Declare(ParamDeclaration<AdaGradParam>& d) {
    DeclareUpdate(d);
    d.Field("epsilon", &AdaGradParam::epsilon).Doc("added under the root");
  }
};

struct RmsPropParam : UpdateParam {
  double gamma1 = 0.95;
  double epsilon = 1e-8;
  double clip_weights = -1;

  static void Declare(ParamDeclaration<RmsPropParam>& d) { DeclareRmsProp(d); }

 protected:
  template <typename P>
  static void DeclareRmsProp(ParamDeclaration<P>& d) {
    DeclareUpdate(d);
    d.Field("gamma1", &P::gamma1).Doc("decay rate of n and g");
    d.Field("epsilon", &P::epsilon).Doc("added under the root");
    d.Field("clip_weights", &P::clip_weights).Doc("limit of the weights; negative: none");
  }
};

struct RmsPropAlexParam : RmsPropParam {
  double gamma2 = 0.9;

  static void Declare(ParamDeclaration<RmsPropAlexParam>& d) {
    DeclareRmsProp(d);
    d.Field("gamma2", &RmsPropAlexParam::gamma2).Doc("factor of delta in each update");
  }
};

struct AdaDeltaParam : UpdateParam {
  double rho = 0.9;
  double epsilon = 1e-5;

  static void Declare(ParamDeclaration<AdaDeltaParam>& d) {
    DeclareGradient(d);
    d.Field("rho", &AdaDeltaParam::rho).Doc("decay rate of both states");
    d.Field("epsilon", &AdaDeltaParam::epsilon).Doc("added under the roots");
  }
};

struct FtrlParam : UpdateParam {
  double lamda1 = 0.01;
  double beta = 1;

  static void Declare(ParamDeclaration<FtrlParam>& d) {
    DeclareUpdate(d);
    d.Field("lamda1", &FtrlParam::lamda1).Doc("below it z makes the weight 0");
    d.Field("beta", &FtrlParam::beta).Doc("added to the root of n");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_OPTIMIZER_ADAGRAD_PARAM_H_
