// Operations of classifiers that passes put together with their loss.

#include "symbol/ops/loss/fc_softmax_output_param.h"
#include "symbol/schema/op_flops.h"

namespace cooper {
namespace {

// Each element of input `data` meets each of the num_hidden rows of the weight.
double ScoreFlops(const OpWork& work, int data) {
  return 2 * work.input_size(data) *
         static_cast<double>(work.param<FcSoftmaxOutputParam>().num_hidden);
}
double Forward(const OpWork& work) { return ScoreFlops(work, /*data=*/0); }

// Of data and weight.
double NumGradients(const OpWork& work) {
  return work.Wanted(FcSoftmaxGradientArrays::kDataGradient, 2);
}

COOPER_OP_FLOPS(_fc_softmax_output, Forward);
COOPER_OP_FLOPS(_fc_softmax_output_transposed, Forward);
COOPER_OP_FLOPS(_backward_fc_softmax_output, [](const OpWork& work) {
  return NumGradients(work) * ScoreFlops(work, FcSoftmaxGradientArrays::kData);
});
COOPER_OP_FLOPS(_fc_softmax_label_probability, Forward);
// The scores themselves are computed here, too.
COOPER_OP_FLOPS(_backward_fc_softmax_label_probability, [](const OpWork& work) {
  return (1 + NumGradients(work)) * ScoreFlops(work, FcSoftmaxGradientArrays::kData);
});

}  // namespace
}  // namespace cooper
