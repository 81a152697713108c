// Batch layouts of layers.

#include <cstdint>

#include "symbol/ops/nn/batch_norm_param.h"
#include "symbol/ops/nn/deformable_convolution_param.h"
#include "symbol/ops/nn/embedding_param.h"
#include "symbol/ops/nn/fully_connected_param.h"
#include "symbol/ops/nn/interleaved_attention_param.h"
#include "symbol/ops/nn/leaky_relu_param.h"
#include "symbol/ops/nn/norm_param.h"
#include "symbol/ops/nn/softmax_param.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {
namespace {

constexpr int kMixed = BatchCall::kMixed;

// Returns the layout for operators with data (batch, ...) that work on each sample alone. It is
// unknown if another input, such as a weight, has samples.
BatchLayout FirstAxisOfData(const BatchCall& c) {
  return c.Map([](int input, int axis) { return input == 0 && axis == 0 ? 0 : kMixed; });
}
const BatchRuleRegistrar kImages({"Convolution", "Convolution_v1", "Deconvolution", "Pooling",
                                  "Pooling_v1", "UpSampling", "_contrib_BilinearResize2D",
                                  "_contrib_AdaptiveAvgPooling2D", "im2col", "col2im",
                                  "GridGenerator", "GroupNorm", "InstanceNorm"},
                                 FirstAxisOfData);
const BatchRuleRegistrar kPairsOfImages({"BilinearSampler", "SpatialTransformer", "Correlation"},
                                        [](const BatchCall& c) { return c.FirstAxis(); });

// Offsets and masks have the batch of data; weight and bias are shared.
COOPER_BATCH_RULE(_contrib_DeformableConvolution, [](const BatchCall& c) {
  return c.Map([](int input, int axis) {
    return axis == 0 && input < DeformableConvolutionArrays::kWeight ? 0 : kMixed;
  });
});
COOPER_BATCH_RULE(_contrib_ModulatedDeformableConvolution, [](const BatchCall& c) {
  return c.Map([](int input, int axis) {
    return axis == 0 && input < ModulatedDeformableConvolutionArrays::kWeight ? 0 : kMixed;
  });
});

COOPER_BATCH_RULE(Dropout, [](const BatchCall& c) { return c.Aligned(); });

// prelu has a slope for each channel.
COOPER_BATCH_RULE(LeakyReLU, [](const BatchCall& c) {
  const bool by_channel = c.param<LeakyReluParam>().act_type == LeakyReluParam::kPrelu;
  return c.Map(
      [&](int input, int axis) { return input > 0 || (by_channel && axis == 1) ? kMixed : axis; });
});

// Divides by the square root of the last extent, which must not hold the samples.
COOPER_BATCH_RULE(_contrib_div_sqrt_dim, [](const BatchCall& c) { return c.AllBut(-1); });

COOPER_BATCH_RULE(FullyConnected, [](const BatchCall& c) {
  const bool flatten = c.param<FullyConnectedParam>().flatten;
  return c.Map([&](int input, int axis) {
    if (input != FullyConnectedArrays::kData) return kMixed;
    if (flatten) return axis == 0 ? 0 : kMixed;
    return axis < c.rank(0) - 1 ? axis : kMixed;
  });
});

COOPER_BATCH_RULE(Embedding, [](const BatchCall& c) {
  return c.Map([](int input, int axis) { return input == EmbeddingArrays::kData ? axis : kMixed; });
});

// The axes of lengths are data's without the normalized one.
const BatchRuleRegistrar kSoftmax({"softmax", "softmin", "log_softmax"}, [](const BatchCall& c) {
  const int64_t given = c.param<SoftmaxParam>().axis;
  const int64_t normalized = given < 0 ? given + c.rank(0) : given;
  return c.Map([&](int input, int axis) {
    if (input == SoftmaxArrays::kData) return axis == normalized ? kMixed : axis;
    return c.rank(0) == 1 || axis < normalized ? axis : axis + 1;
  });
});

// The gradient always normalizes over axis 1 (softmax.cc).
COOPER_BATCH_RULE(SoftmaxActivation, [](const BatchCall& c) {
  const bool channel = c.param<SoftmaxActivationParam>().mode == SoftmaxActivationParam::kChannel;
  const int last = c.rank(0) - 1;
  return c.Map(
      [&](int, int axis) { return axis == 1 || (!channel && axis == last) ? kMixed : axis; });
});

COOPER_BATCH_RULE(LayerNorm,
                  [](const BatchCall& c) { return c.AllBut(c.param<LayerNormParam>().axis); });

COOPER_BATCH_RULE(L2Normalization, [](const BatchCall& c) {
  if (c.output != L2NormalizationArrays::kOutput) return BatchLayout();
  const auto mode = c.param<L2NormalizationParam>().mode;
  return c.Map([&](int, int axis) {
    if (axis == 0) return 0;
    const bool kept = mode == L2NormalizationParam::kChannel
                          ? axis > 1
                          : mode == L2NormalizationParam::kSpatial && axis == 1;
    return kept ? axis : kMixed;
  });
});

COOPER_BATCH_RULE(LRN, [](const BatchCall& c) {
  return c.output == LrnArrays::kOutput ? c.AllBut(1) : BatchLayout();
});

// Returns the layout of BatchNorm's output. The layout of the statistics is unknown, since each
// context computes its own.
BatchLayout BatchNorm(const BatchCall& c, int64_t channels) {
  return c.output == BatchNormArrays::kOutput ? c.AllBut(channels) : BatchLayout();
}
COOPER_BATCH_RULE(BatchNorm,
                  [](const BatchCall& c) { return BatchNorm(c, c.param<BatchNormParam>().axis); });
const BatchRuleRegistrar kOldBatchNorms({"BatchNorm_v1", "_contrib_SyncBatchNorm"},
                                        [](const BatchCall& c) { return BatchNorm(c, 1); });
COOPER_BATCH_RULE(SequenceBatchNorm, [](const BatchCall& c) {
  using Arrays = SequenceBatchNormArrays;
  if (c.output != BatchNormArrays::kOutput) return BatchLayout();
  const auto& param = c.param<SequenceBatchNormParam>();
  const int rank = c.rank(Arrays::kData);
  const int64_t channels = param.axis < 0 ? param.axis + rank : param.axis;
  const int64_t batch = param.batch_axis < 0 ? param.batch_axis + rank : param.batch_axis;
  return c.Map([&](int input, int axis) {
    if (input == Arrays::kLength && axis == 0) return static_cast<int>(batch);
    return input == Arrays::kData && axis != channels ? axis : kMixed;
  });
});

// Returns the number of heads. Attention weights are (batch * heads, queries, keys), all other
// arrays (length, batch, ...).
int64_t Heads(const BatchCall& c) { return c.param<InterleavedAttentionParam>().heads; }

const BatchRuleRegistrar kAttentionScores({"_contrib_interleaved_matmul_selfatt_qk",
                                           "_contrib_interleaved_matmul_encdec_qk"},
                                          [](const BatchCall& c) {
                                            BatchLayout weights = c.Map([](int, int axis) {
                                              return axis == 1 ? 0 : kMixed;
                                            });
                                            if (weights.has_samples()) weights.inner *= Heads(c);
                                            return weights;
                                          });

const BatchRuleRegistrar kAttendedValues({"_contrib_interleaved_matmul_selfatt_valatt",
                                          "_contrib_interleaved_matmul_encdec_valatt"},
                                         [](const BatchCall& c) {
                                           BatchLayout values = c.layouts[0],
                                                       weights = c.layouts[1];
                                           if (values.kind == BatchLayout::Kind::kNone)
                                             return BatchLayout();
                                           if (!values.has_samples() || values.axis != 1)
                                             return BatchLayout();
                                           values.axis = 0;
                                           values.inner *= Heads(c);
                                           if (weights != values) return BatchLayout();
                                           return c.layouts[0];
                                         });

}  // namespace
}  // namespace cooper
