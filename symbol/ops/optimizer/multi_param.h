#ifndef COOPER_SYMBOL_OPS_OPTIMIZER_MULTI_PARAM_H_
#define COOPER_SYMBOL_OPS_OPTIMIZER_MULTI_PARAM_H_

// Parameters of operators on several weights or arrays: the updates in multi_sgd.cc, which save the
// cost of starting a kernel per small weight, and the norms and checks in norms.cc. None of them
// has a gradient. MXNet: src/operator/optimizer_op.cc, contrib/multi_sum_sq.cc, multi_lars.cc,
// all_finite.cc, reset_arrays.cc.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of multi_sgd_update and its variants. Inputs are those of each weight's update in
// turn, such as weight_0, grad_0, mom_0, weight_1, ...; outputs are the new weights. All weights
// have one dtype, as in MXNet. The `preloaded_` variants take rates and decays as two last inputs
// (num_weights,), float32; variants without momentum lack that attribute. sgd_param.h has the
// formulas.
struct MultiSgdParam {
  // One rate and one decay for each weight, in the order of the weights. Empty in the `preloaded_`
  // variants.
  std::vector<double> lrs;
  std::vector<double> wds;
  // The numbers from here on hold for all weights.
  double momentum = 0;
  double rescale_grad = 1;
  double clip_gradient = -1;
  int num_weights = 1;
};

// Declares the attributes of one variant: MXNet's attribute lists differ by variant, the fields do
// not.
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

  // Returns kInvalidArgument unless each weight has a rate and a decay. Preloaded variants have
  // neither here.
  absl::Status CheckRates() const {
    const auto count = static_cast<size_t>(num_weights);
    if (kPreloaded || (lrs.size() == count && wds.size() == count)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("lrs has ", lrs.size(), " and wds ", wds.size(),
                                                   " numbers, expected ", count,
                                                   ", as many as num_weights"));
  }
};

// Parameters of multi_sum_sq, which returns the sum of squares of each array, float32
// (num_arrays,), and of reset_arrays, which sets all elements of its inputs to 0 and has no
// outputs.
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

// Inputs of multi_lars, all of one shape: rates and decays of the weights, and the sums of squares
// of each weight and gradient, as multi_sum_sq returns them. The output has the new rates and may
// overwrite any input.
struct MultiLarsArrays {
  enum Input { kLrs, kWeightSums, kGradSums, kWds };
};

// Parameters of multi_lars, for each weight with the roots w and g of its sums of squares:
//
//   lr * eta * w / (rescale_grad * g + wd * w + eps), or lr if w or g is 0
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

// Parameters of all_finite: 1 if no element of data is infinite or NaN, else 0, float32 (1,).
// Training with a loss scale decides by it whether to skip a step.
struct AllFiniteParam {
  // If false, the result is combined with the output's old value: 0 stays 0. Several calls can then
  // check arrays one after the other.
  bool init_output = true;

  static void Declare(ParamDeclaration<AllFiniteParam>& d) {
    d.Field("init_output", &AllFiniteParam::init_output)
        .Doc("whether the output is set to 1 first; else it stays 0 if it was");
  }
};

// Parameters of multi_all_finite, which checks num_arrays arrays at once as all_finite checks one.
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
