#ifndef COOPER_SYMBOL_OPS_NN_BATCH_NORM_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_BATCH_NORM_PARAM_H_

// Arrays and parameters of BatchNorm (Ioffe and Szegedy, Batch Normalization, 2015) and its
// relatives. The schemas are in batch_norm.cc; the kernels, with the formula of the gradient, in
// executor/kernels/norm/batch_norm.cc. Graph passes of the executor replace BatchNorm by
// _blocked_batch_norm or fold it into a convolution (folded_batch_norm_param.h). MXNet:
// src/operator/nn/batch_norm.cc.

#include <cstdint>
#include <optional>
#include <string>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs and outputs: data and output have one shape, all other arrays are (channels,). The moving
// statistics are auxiliary states. mean and var are visible with output_mean_var only; var is 1 /
// sqrt(var + eps) of the batch, as in MXNet. With data of 16-bit floats all arrays but data and
// output are float32.
struct BatchNormArrays {
  enum Input { kData, kGamma, kBeta, kMovingMean, kMovingVar, kNumInputs };
  enum Output { kOutput, kMean, kVar, kNumOutputs };
};
// Inputs of the gradients of data, gamma and beta. No gradient flows from mean and var or to the
// moving statistics, which the backward pass updates.
struct BatchNormGradientArrays {
  enum Input { kOgrad, kMean, kVar, kData, kGamma, kMovingMean, kMovingVar };
  enum Output { kDataGrad, kGammaGrad, kBetaGrad };
};

// Inputs of SequenceBatchNorm: those of BatchNorm, with the lengths (batch_size,), of any dtype,
// after beta. Composition fails if the lengths are missing.
struct SequenceBatchNormArrays {
  enum Input { kData, kGamma, kBeta, kLength, kMovingMean, kMovingVar, kNumInputs };
};
// Inputs of the gradients of SequenceBatchNorm: those of BatchNorm's gradients, and the lengths.
struct SequenceBatchNormGradientArrays {
  enum Input { kOgrad, kMean, kVar, kData, kGamma, kLength, kMovingMean, kMovingVar };
};

// Parameters of BatchNorm. For each channel, over all other axes of data,
//
//   output = gamma * (data - mean) / sqrt(var + eps) + beta
//
// In training mean and variance (biased: divided by the number of elements) are those of the batch,
// and the backward pass updates the moving statistics: moving = momentum * moving + (1 - momentum)
// * batch. In prediction, and with use_global_stats, they are the moving statistics. A forward pass
// alone does not change these, as in MXNet.
struct BatchNormParam {
  using Arrays = BatchNormArrays;
  using GradientArrays = BatchNormGradientArrays;

  // Must not make var + eps 0: a channel with equal elements has the variance 0.
  double eps = 1e-3;
  double momentum = 0.9;
  // Whether gamma is 1. A training forward pass then sets the argument to 1, as in MXNet, so that a
  // saved model agrees with the computation; the gradient of gamma is 0. The default is MXNet's.
  bool fix_gamma = true;
  // Whether the moving statistics are used in training too, and not updated.
  bool use_global_stats = false;
  bool output_mean_var = false;
  // The axis of channels; negative axes count from the end.
  int64_t axis = 1;
  bool cudnn_off = false;
  // Ranges of MXNet's quantization; no effect.
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

// Parameters of _contrib_BatchNormWithReLU: max(BatchNorm, 0). Its gradient is that of relu, from
// the output, followed by BatchNorm's.
struct BatchNormWithReLUParam : BatchNormParam {
  static void Declare(ParamDeclaration<BatchNormWithReLUParam>& d) { DeclareFields(d); }
};

// Parameters of BatchNorm_v1, which files written before MXNet 1.0 contain: channels are axis 1,
// and the output `var` is the variance itself.
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

// Parameters of _contrib_SyncBatchNorm: BatchNorm_v1 whose statistics MXNet takes over all devices.
// Here each device uses the statistics of its own part of the batch, so training on several devices
// differs from MXNet's; prediction does not.
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

// Parameters of SequenceBatchNorm, which MXNet does not have: BatchNorm over padded sequences. data
// has axes of sequences, of steps and of channels, all different. Steps from a sequence's length on
// are in no statistic, and their output and gradient are 0. A batch without any valid step does not
// change the moving statistics.
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
