#ifndef COOPER_SYMBOL_OPS_OPTIMIZER_MULTI_PARAM_H_
#define COOPER_SYMBOL_OPS_OPTIMIZER_MULTI_PARAM_H_

// Parameters of operators on several weights.

#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of multi_sgd_update and its variants. The `preloaded_` variants take rates and decays
// as inputs; variants without momentum lack that attribute.
struct MultiSgdParam {
  std::vector<double> lrs;
  std::vector<double> wds;
  double momentum = 0;
  double rescale_grad = 1;
  double clip_gradient = -1;
  int num_weights = 1;
};

template <bool kMomentum, bool kPreloaded>
struct MultiSgdParamOf : MultiSgdParam {
  static void Declare(ParamDeclaration<MultiSgdParamOf>& d) {
    using P = MultiSgdParamOf;
    if (!kPreloaded) {
      d.Field("lrs", &P::lrs).Required().Doc("learning rate of each weight");
      d.Field("wds", &P::wds).Required().Doc("weight decay of each weight");
    }
    if (kMomentum) d.Field("momentum", &P::momentum).Doc("factor of the momentum in each update");
    d.Field("rescale_grad", &P::rescale_grad).Doc("factor of the gradients");
    d.Field("clip_gradient", &P::clip_gradient)
        .Doc("limit of the rescaled gradients; negative: none");
    d.Field("num_weights", &P::num_weights)
        .Min(1)
        .Max(1 << 16)  // files are untrusted, and each costs memory
        .Doc("number of weights");
  }
};

// Parameters of multi_sum_sq and reset_arrays.
struct NumArraysParam {
  int num_arrays = 0;

  static void Declare(ParamDeclaration<NumArraysParam>& d) {
    d.Field("num_arrays", &NumArraysParam::num_arrays)
        .Required()
        .Min(1)
        .Max(1 << 16)
        .Doc("number of inputs");
  }
};

// Inputs: rates and decays of the weights, and the sums of squares of each weight and gradient.
struct MultiLarsArrays {
  enum Input { kLrs, kWeightSums, kGradSums, kWds };
};

struct MultiLarsParam {
  double eta = 0;
  double eps = 0;
  double rescale_grad = 1;

  static void Declare(ParamDeclaration<MultiLarsParam>& d) {
    d.Field("eta", &MultiLarsParam::eta).Required().Doc("factor of the rates");
    d.Field("eps", &MultiLarsParam::eps).Required().Doc("added to what the rate is divided by");
    d.Field("rescale_grad", &MultiLarsParam::rescale_grad).Doc("factor of the gradients");
  }
};

struct AllFiniteParam {
  bool init_output = true;

  static void Declare(ParamDeclaration<AllFiniteParam>& d) {
    d.Field("init_output", &AllFiniteParam::init_output)
        .Doc("whether the output is set to 1 first; else it stays 0 if it was");
  }
};

struct MultiAllFiniteParam {
  int num_arrays = 1;
  bool init_output = true;

  static void Declare(ParamDeclaration<MultiAllFiniteParam>& d) {
    d.Field("num_arrays", &MultiAllFiniteParam::num_arrays)
        .Min(1)
        .Max(1 << 16)
        .Doc("number of inputs");
    d.Field("init_output", &MultiAllFiniteParam::init_output)
        .Doc("whether the output is set to 1 first; else it stays 0 if it was");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_OPTIMIZER_MULTI_PARAM_H_
