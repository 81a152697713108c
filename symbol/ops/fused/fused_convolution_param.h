#ifndef COOPER_SYMBOL_OPS_FUSED_FUSED_CONVOLUTION_PARAM_H_
#define COOPER_SYMBOL_OPS_FUSED_FUSED_CONVOLUTION_PARAM_H_

// Parameters and inputs of _fused_convolution and _fused_convolution_sum: a _blocked_convolution
// and the operators that follow it in prediction, in one pass over the output. Symbol files do not
// contain them: the graph pass blocked_channels of the executor builds them where no gradient is
// requested. The schemas are in fused_convolution.cc.

#include <cstdint>
#include <string>

#include "symbol/ops/fused/blocked_convolution_param.h"
#include "symbol/schema/op.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of _fused_convolution: those of _blocked_convolution, and the operators fused with it,
// in this order: BatchNorm, the addition of an array of the output's shape, and relu or clip. `sum`
// is set in _fused_convolution_sum alone, whose output may overwrite the addend. There is no
// gradient.
//
// Shape inference fails with kInvalidArgument for relu and clip together, for a_min > a_max, and
// for batch_norm with a packed weight, to which scales cannot be applied.
struct FusedConvolutionParam : BlockedConvolutionParam {
  bool batch_norm = false;
  // BatchNorm's parameters, used with batch_norm only.
  double eps = 1e-3;
  bool fix_gamma = true;
  bool use_global_stats = false;
  bool sum = false;
  bool relu = false;
  bool clip = false;
  float a_min = 0, a_max = 0;
  // Name and attributes of the operator that has packed the weight (_packed_weight or
  // _winograd_weight); empty if the weight has Convolution's shape. Kernels compare it with the
  // packing that they would choose.
  std::string weight_packing;

  // Returns whether no further operator can be fused: relu or clip is the last one.
  bool ends() const { return relu || clip; }

  static void Declare(ParamDeclaration<FusedConvolutionParam>& d) {
    DeclareBlocks(d);
    d.Field("batch_norm", &FusedConvolutionParam::batch_norm)
        .Doc("whether a BatchNorm follows, with eps, fix_gamma and use_global_stats");
    d.Field("eps", &FusedConvolutionParam::eps).Doc("added to the variance before the root");
    d.Field("fix_gamma", &FusedConvolutionParam::fix_gamma).Doc("whether gamma is 1");
    d.Field("use_global_stats", &FusedConvolutionParam::use_global_stats)
        .Doc("whether the moving statistics are used in training too");
    d.Field("sum", &FusedConvolutionParam::sum).Doc("whether an array is added then");
    d.Field("relu", &FusedConvolutionParam::relu).Doc("whether negative values become 0 at last");
    d.Field("clip", &FusedConvolutionParam::clip)
        .Doc("whether values are brought between a_min and a_max at last, rather than by relu");
    d.Field("a_min", &FusedConvolutionParam::a_min).Doc("least value of the output, for clip");
    d.Field("a_max", &FusedConvolutionParam::a_max).Doc("greatest value of the output, for clip");
    d.Field("weight_packing", &FusedConvolutionParam::weight_packing)
        .Doc(
            "how the weight lies: the operator that has packed it, and its attributes; empty: it "
            "is "
            "plain");
  }
};

// Indices of the inputs of a node with these parameters; negative: the input does not exist. The
// weight comes second, then addend, bias and the four arrays of BatchNorm.
struct FusedConvolutionInputs {
  int data = 0, weight = 1, addend = -1, bias = -1, gamma = -1, beta = -1, moving_mean = -1,
      moving_var = -1;

  explicit FusedConvolutionInputs(const FusedConvolutionParam& param) {
    int next = 2;
    if (param.sum) addend = next++;
    if (!param.no_bias) bias = next++;
    if (!param.batch_norm) return;
    gamma = next++;
    beta = next++;
    moving_mean = next++;
    moving_var = next++;
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_FUSED_FUSED_CONVOLUTION_PARAM_H_
