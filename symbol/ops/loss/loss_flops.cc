// FLOPs of classifiers that graph passes fuse with their loss.

#include "symbol/ops/loss/fc_softmax_output_param.h"
#include "symbol/schema/op_flops.h"

namespace cooper {
namespace {

// Returns the FLOPs of the scores: each element of input `data` times each of num_hidden rows.
double ScoreFlops(const OpWork& work, int data) {
  return 2 * work.input_size(data) *
         static_cast<double>(work.param<FcSoftmaxOutputParam>().num_hidden);
}
double Forward(const OpWork& work) { return ScoreFlops(work, /*data=*/0); }

// Returns how many of the gradients of data and weight are computed.
double NumGradients(const OpWork& work) {
  return work.Wanted(FcSoftmaxGradientArrays::kDataGradient, 2);
}

COOPER_OP_FLOPS(_fc_softmax_output, Forward);
COOPER_OP_FLOPS(_fc_softmax_output_transposed, Forward);
COOPER_OP_FLOPS(_backward_fc_softmax_output, [](const OpWork& work) {
  return NumGradients(work) * ScoreFlops(work, FcSoftmaxGradientArrays::kData);
});
COOPER_OP_FLOPS(_fc_softmax_label_probability, Forward);
// The gradient also computes the scores.
COOPER_OP_FLOPS(_backward_fc_softmax_label_probability, [](const OpWork& work) {
  return (1 + NumGradients(work)) * ScoreFlops(work, FcSoftmaxGradientArrays::kData);
});

}  // namespace
}  // namespace cooper
