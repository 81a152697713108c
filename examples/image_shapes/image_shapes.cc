#include "examples/image_shapes/image_shapes.h"

#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/random.h"
#include "symbol/op/elemwise.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"

namespace cooper {

ShapedImages MakeShapedImages(int64_t count, uint64_t seed) {
  RandomGenerator random(seed);
  ShapedImages data;
  for (int64_t i = 0; i < count; ++i) {
    const auto below = [&random](uint64_t end) { return static_cast<int>(random.NextBelow(end)); };
    const int large = 24 + below(25), small = 12 + below(12);
    const bool upright = below(2) == 0;
    const int height = upright ? large : small, width = upright ? small : large;
    const int kind = below(4), period = 4 + below(4), phase = below(period);
    std::vector<float> dots(height * width);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const auto ink = [&](int at) { return (at + phase) % period < period / 2; };
        const bool board = ink(x) != ink(y);
        const bool dot = kind == 0 ? ink(x) : kind == 1 ? ink(y) : kind == 2 ? ink(x + y) : board;
        dots[y * width + x] =
            (dot ? 1.0f : -1.0f) + 0.5f * (static_cast<float>(below(1000)) / 500 - 1);
      }
    }
    data.images.push_back(NDArray::FromVector<float>({1, height, width}, dots).value());
    data.classes.push_back(kind);
  }
  return data;
}

absl::StatusOr<std::unique_ptr<BucketIter>> ImageBatches(const ShapedImages& images,
                                                         uint64_t seed) {
  return BucketIter::Create({{.name = "data", .values = images.images, .pad_to = {kFree, 0, 1}}},
                            {{.name = "softmax_label", .values = images.classes}},
                            {.common = {.max_buckets = 6,
                                        .last_batch = BucketIterOptions::LastBatch::kSmaller,
                                        .tokens_per_batch = 16 * 36 * 18,
                                        .seed = seed}});
}

Symbol ImageNetwork(const BucketKey&) {
  Symbol x = Symbol::Variable("data");
  for (const int filters : {12, 24}) {
    const std::string name = "conv" + std::to_string(filters);
    x = op::Convolution(x, {.kernel = {3, 3}, .pad = {1, 1}, .num_filter = filters, .name = name});
    x = op::Pooling(op::Activation(x, {.act_type = "relu"}),
                    {.kernel = {2, 2}, .stride = {2, 2}, .pool_type = "max"});
  }
  // A global maximum, since padding would dilute a mean.
  x = op::Pooling(x, {.global_pool = true, .pool_type = "max"});
  return op::SoftmaxOutput(op::FullyConnected(x, {.num_hidden = 4, .name = "classes"}),
                           {.name = "softmax"});
}

absl::StatusOr<std::unique_ptr<BucketingModule>> TrainImages(const ShapedImages& images,
                                                             int num_epoch) {
  COOPER_ASSIGN_OR_RETURN(auto batches, ImageBatches(images, /*seed=*/1));
  COOPER_ASSIGN_OR_RETURN(
      auto model, BucketingModule::Create({.sym_gen = ImageNetwork,
                                           .default_bucket_key = batches->default_bucket_key()}));
  const auto accuracy = Accuracy({});
  COOPER_RETURN_IF_ERROR(
      model->Fit(*batches, {.eval_metric = accuracy.get(),
                            .optimizer = {.optimizer = "adam",
                                          .optimizer_params = {{"learning_rate", 0.01}},
                                          .normalization = GradientNormalization::kSamples},
                            .params = {.initializer = init::Xavier(), .seed = 1},
                            .num_epoch = num_epoch}));
  return model;
}

absl::StatusOr<double> ImageAccuracy(BucketingModule& model, const ShapedImages& images) {
  COOPER_ASSIGN_OR_RETURN(auto batches, ImageBatches(images, /*seed=*/0));
  const auto accuracy = Accuracy({});
  COOPER_ASSIGN_OR_RETURN(const auto scores, model.Score(*batches, *accuracy));
  return scores[0].second;
}

}  // namespace cooper
