// FLOPs of fully connected layers, convolutions and attention.

#include <algorithm>
#include <cstdint>

#include "ndarray/base/shape.h"
#include "symbol/ops/nn/convolution_param.h"
#include "symbol/ops/nn/deformable_convolution_param.h"
#include "symbol/ops/nn/fully_connected_param.h"
#include "symbol/ops/nn/interleaved_attention_param.h"
#include "symbol/schema/op_flops.h"

namespace cooper {
namespace {

double AsDouble(int64_t n) { return static_cast<double>(n); }

// Returns the FLOPs of the product of input `data` with the num_hidden rows of the weight.
double FullyConnectedFlops(const OpWork& work, int data) {
  return 2 * work.input_size(data) * AsDouble(work.param<FullyConnectedParam>().num_hidden);
}
double FullyConnectedForward(const OpWork& work) {
  return FullyConnectedFlops(work, FullyConnectedArrays::kData);
}

COOPER_OP_FLOPS(FullyConnected, FullyConnectedForward);
COOPER_OP_FLOPS(_fully_connected_transposed, FullyConnectedForward);
COOPER_OP_FLOPS(_backward_FullyConnected, [](const OpWork& work) {
  return FullyConnectedFlops(work, /*data=*/1) * work.Wanted(0, 2);  // of data and weight
});

// Returns the FLOPs of a convolution. `windows` has an element for each window and each index of
// the weight's first axis: it is the output of Convolution and the data of Deconvolution.
double ConvolutionFlops(const Shape& windows, const Shape& weight) {
  return 2 * AsDouble(windows.num_elements()) * AsDouble(weight.num_elements()) /
         AsDouble(std::max<int64_t>(weight[0], 1));
}
double ConvolutionForward(const OpWork& work) {
  return ConvolutionFlops(work.outputs[0], work.inputs[ConvolutionArrays::kWeight]);
}
double ConvolutionBackward(const OpWork& work) {
  using Arrays = ConvolutionGradientArrays;
  return work.Wanted(Arrays::kDataGrad, 2) *
         ConvolutionFlops(work.inputs[Arrays::kOgrad], work.inputs[2]);
}

COOPER_OP_FLOPS(Convolution, ConvolutionForward);
COOPER_OP_FLOPS(Convolution_v1, ConvolutionForward);
COOPER_OP_FLOPS(_backward_Convolution, ConvolutionBackward);
COOPER_OP_FLOPS(_backward_Convolution_v1, ConvolutionBackward);
COOPER_OP_FLOPS(Deconvolution, [](const OpWork& work) {
  return ConvolutionFlops(work.inputs[ConvolutionArrays::kData],
                          work.inputs[ConvolutionArrays::kWeight]);
});
COOPER_OP_FLOPS(_backward_Deconvolution, [](const OpWork& work) {
  return work.Wanted(0, 2) * ConvolutionFlops(work.inputs[1], work.inputs[2]);
});

// The products alone; the interpolation is not counted.
template <typename Arrays>
double DeformableForward(const OpWork& work) {
  return ConvolutionFlops(work.outputs[0], work.inputs[Arrays::kWeight]);
}
template <typename Arrays>
double DeformableBackward(const OpWork& work) {
  // The gradients of data, offset and mask share one product.
  const double products = work.Wanted(0, Arrays::kWeightGrad) > 0 ? 1 : 0;
  return (products + work.Wanted(Arrays::kWeightGrad, 1)) *
         ConvolutionFlops(work.inputs[Arrays::kOgrad], work.inputs[Arrays::kWeight]);
}

COOPER_OP_FLOPS(_contrib_DeformableConvolution, DeformableForward<DeformableConvolutionArrays>);
COOPER_OP_FLOPS(_backward__contrib_DeformableConvolution,
                DeformableBackward<DeformableConvolutionGradientArrays>);
COOPER_OP_FLOPS(_contrib_ModulatedDeformableConvolution,
                DeformableForward<ModulatedDeformableConvolutionArrays>);
COOPER_OP_FLOPS(_backward__contrib_ModulatedDeformableConvolution,
                DeformableBackward<ModulatedDeformableConvolutionGradientArrays>);

// Returns the FLOPs of one product of attention: each weight takes a multiplication and an addition
// for each feature of a head. `projections` has `parts` parts per head.
double AttentionFlops(const OpWork& work, const Shape& weights, const Shape& projections,
                      int parts) {
  const int64_t heads = work.param<InterleavedAttentionParam>().heads;
  return 2 * AsDouble(weights.num_elements()) * AsDouble(projections[2] / (heads * parts));
}
// The attention weights are the output of the products of queries and keys (..._qk), and input 1 of
// the products with values (..._valatt). Gradients have the head as their first input.
template <int kParts>
double QkForward(const OpWork& work) {
  return AttentionFlops(work, work.outputs[0], work.inputs[0], kParts);
}
template <int kParts>
double ValuesForward(const OpWork& work) {
  return AttentionFlops(work, work.inputs[1], work.inputs[0], kParts);
}
template <int kParts>
double ValuesBackward(const OpWork& work) {
  return work.Wanted(0, 2) * AttentionFlops(work, work.inputs[2], work.inputs[1], kParts);
}

COOPER_OP_FLOPS(_contrib_interleaved_matmul_selfatt_qk, QkForward<kSelfKeys.count>);
COOPER_OP_FLOPS(_backward_interleaved_matmul_selfatt_qk, [](const OpWork& work) {
  // One output holds the gradients of queries and keys.
  return 2 * AttentionFlops(work, work.inputs[0], work.inputs[1], kSelfKeys.count);
});
COOPER_OP_FLOPS(_contrib_interleaved_matmul_selfatt_valatt, ValuesForward<kSelfValues.count>);
COOPER_OP_FLOPS(_backward_interleaved_matmul_selfatt_valatt, ValuesBackward<kSelfValues.count>);
COOPER_OP_FLOPS(_contrib_interleaved_matmul_encdec_qk, QkForward<kQueriesAlone.count>);
COOPER_OP_FLOPS(_backward_interleaved_matmul_encdec_qk, [](const OpWork& work) {
  return work.Wanted(0, 2) *
         AttentionFlops(work, work.inputs[0], work.inputs[1], kQueriesAlone.count);
});
COOPER_OP_FLOPS(_contrib_interleaved_matmul_encdec_valatt, ValuesForward<kValuesOfTwo.count>);
COOPER_OP_FLOPS(_backward_interleaved_matmul_encdec_valatt, ValuesBackward<kValuesOfTwo.count>);

}  // namespace
}  // namespace cooper
