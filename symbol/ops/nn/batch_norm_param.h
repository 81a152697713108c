#ifndef COOPER_SYMBOL_OPS_NN_BATCH_NORM_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_BATCH_NORM_PARAM_H_

#include <cstdint>
#include <optional>
#include <string>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs and outputs: data and output have one shape, all other arrays are (channels,).
struct BatchNormArrays {
  enum Input { kData, kGamma, kBeta, kMovingMean, kMovingVar, kNumInputs };
  enum Output { kOutput, kMean, kVar, kNumOutputs };
};
struct BatchNormGradientArrays {
  enum Input { kOgrad, kMean, kVar, kData, kGamma, kMovingMean, kMovingVar };
  enum Output { kDataGrad, kGammaGrad, kBetaGrad };
};

// The inputs with the lengths after the other arguments.
struct SequenceBatchNormArrays {
  enum Input { kData, kGamma, kBeta, kLength, kMovingMean, kMovingVar, kNumInputs };
};
struct SequenceBatchNormGradientArrays {
  enum Input { kOgrad, kMean, kVar, kData, kGamma, kLength, kMovingMean, kMovingVar };
};

// Parameters of BatchNorm.
struct BatchNormParam {
  using Arrays = BatchNormArrays;
  using GradientArrays = BatchNormGradientArrays;

  double eps = 1e-3;
  double momentum = 0.9;
  bool fix_gamma = true;
  bool use_global_stats = false;
  bool output_mean_var = false;
  int64_t axis = 1;
  bool cudnn_off = false;
  std::optional<double> min_calib_range;
  std::optional<double> max_calib_range;

  template <typename P>  // P derives from this
  static void DeclareNormFields(ParamDeclaration<P>& d) {
    d.template Field<double>("eps", &P::eps).Doc("added to the variance before the root");
    d.template Field<double>("momentum", &P::momentum).Doc("weight of the old moving statistics");
    d.template Field<bool>("fix_gamma", &P::fix_gamma)
        .Doc("whether gamma is 1; a training forward then overwrites the argument");
    d.template Field<bool>("use_global_stats", &P::use_global_stats)
        .Doc("whether the moving statistics are used in training too, and left alone");
    d.template Field<bool>("output_mean_var", &P::output_mean_var)
        .Doc("whether mean and 1 / sqrt(var + eps) are outputs");
    d.template Field<int64_t>("axis", &P::axis).Doc("the axis of channels");
  }
  template <typename P>
  static void DeclareFields(ParamDeclaration<P>& d) {
    DeclareNormFields(d);
    d.template Field<bool>("cudnn_off", &P::cudnn_off).Doc("accepted; no meaning on cpu");
    d.template Field<std::optional<double>>("min_calib_range", &P::min_calib_range)
        .Doc("accepted; no meaning without quantization");
    d.template Field<std::optional<double>>("max_calib_range", &P::max_calib_range)
        .Doc("accepted; no meaning without quantization");
  }

  static void Declare(ParamDeclaration<BatchNormParam>& d) { DeclareFields(d); }
};

// Parameters of _contrib_BatchNormWithReLU.
struct BatchNormWithReLUParam : BatchNormParam {
  static void Declare(ParamDeclaration<BatchNormWithReLUParam>& d) { DeclareFields(d); }
};

// Parameters of BatchNorm_v1: channels are axis 1, and the output `var` is the variance itself.
struct BatchNormV1Param : BatchNormParam {
  template <typename P>
  static void DeclareFields(ParamDeclaration<P>& d) {
    d.template Field<double>("eps", &P::eps).Doc("added to the variance before the root");
    d.template Field<double>("momentum", &P::momentum).Doc("weight of the old moving statistics");
    d.template Field<bool>("fix_gamma", &P::fix_gamma)
        .Doc("whether gamma is 1; a training forward then overwrites the argument");
    d.template Field<bool>("use_global_stats", &P::use_global_stats)
        .Doc("whether the moving statistics are used in training too, and left alone");
    d.template Field<bool>("output_mean_var", &P::output_mean_var)
        .Doc("whether mean and variance are outputs");
  }

  static void Declare(ParamDeclaration<BatchNormV1Param>& d) { DeclareFields(d); }
};

// Parameters of _contrib_SyncBatchNorm: BatchNorm_v1 with statistics over all devices in MXNet.
struct SyncBatchNormParam : BatchNormV1Param {
  int64_t ndev = 1;
  std::string key;

  static void Declare(ParamDeclaration<SyncBatchNormParam>& d) {
    DeclareFields(d);
    d.Field("ndev", &SyncBatchNormParam::ndev)
        .Doc("accepted: how many devices share statistics in MXNet");
    d.Field("key", &SyncBatchNormParam::key)
        .Required()
        .Doc("accepted: which nodes share statistics in MXNet");
  }
};

// Parameters of SequenceBatchNorm: data has axes of sequences, of steps and of channels.
struct SequenceBatchNormParam : BatchNormParam {
  using Arrays = SequenceBatchNormArrays;
  using GradientArrays = SequenceBatchNormGradientArrays;

  int64_t batch_axis = 0;
  int64_t time_axis = -1;

  static void Declare(ParamDeclaration<SequenceBatchNormParam>& d) {
    DeclareNormFields(d);
    d.Field("batch_axis", &SequenceBatchNormParam::batch_axis).Doc("the axis of sequences");
    d.Field("time_axis", &SequenceBatchNormParam::time_axis).Doc("the axis of their steps");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_BATCH_NORM_PARAM_H_
