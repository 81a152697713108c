#include "examples/ctc/ctc.h"

#include <algorithm>
#include <memory>

#include "absl/status/status.h"
#include "module/initializer/initializers.h"
#include "module/lr_scheduler/decay_schedulers.h"
#include "module/metric/regression.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/random.h"
#include "symbol/op/elemwise.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"
#include "symbol/op/shape.h"
#include "symbol/rnn/bidirectional_cell.h"
#include "symbol/rnn/gru_cell.h"
#include "symbol/rnn/unroll.h"

namespace cooper {
namespace {

constexpr int kHeight = 8, kGlyphHeight = 5, kGlyphWidth = 3, kClasses = 11;

// Three rows of pixels for each digit.
constexpr const char* kGlyphs[] = {
    "###"
    "# #"
    "# #"
    "# #"
    "###",
    " # "
    "## "
    " # "
    " # "
    "###",
    "###"
    "  #"
    "###"
    "#  "
    "###",
    "###"
    "  #"
    "###"
    "  #"
    "###",
    "# #"
    "# #"
    "###"
    "  #"
    "  #",
    "###"
    "#  "
    "###"
    "  #"
    "###",
    "###"
    "#  "
    "###"
    "# #"
    "###",
    "###"
    "  #"
    " # "
    " # "
    " # ",
    "###"
    "# #"
    "###"
    "# #"
    "###",
    "###"
    "# #"
    "###"
    "  #"
    "###"};

// Returns the most probable class of each column, without repetitions and blanks.
std::vector<int> BestPath(absl::Span<const float> probabilities) {
  std::vector<int> digits;
  int last = 0;
  for (size_t begin = 0; begin < probabilities.size(); begin += kClasses) {
    const auto column = probabilities.subspan(begin, kClasses);
    const int best =
        static_cast<int>(std::max_element(column.begin(), column.end()) - column.begin());
    if (best != 0 && best != last) digits.push_back(best);
    last = best;
  }
  return digits;
}

}  // namespace

TextLines MakeTextLines(int64_t count, uint64_t seed) {
  RandomGenerator random(seed);
  const auto uniform = [&] { return static_cast<float>(random.NextBelow(1000)) / 1000; };
  TextLines lines;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int> digits(2 + random.NextBelow(6)), begins;
    int width = 1;
    for (int& digit : digits) {
      digit = static_cast<int>(1 + random.NextBelow(10));
      begins.push_back(width);
      width += kGlyphWidth + 1 + static_cast<int>(random.NextBelow(3));
    }
    std::vector<float> dots(kHeight * width);
    for (float& dot : dots) dot = 0.2f * uniform();
    for (size_t k = 0; k < digits.size(); ++k) {
      const int top = static_cast<int>(random.NextBelow(kHeight - kGlyphHeight + 1));
      for (int y = 0; y < kGlyphHeight; ++y) {
        for (int x = 0; x < kGlyphWidth; ++x) {
          if (kGlyphs[digits[k] - 1][y * kGlyphWidth + x] == ' ') continue;
          dots[(top + y) * width + begins[k] + x] = 0.7f + 0.3f * uniform();
        }
      }
    }
    lines.images.push_back(NDArray::FromVector<float>({kHeight, width}, dots).value());
    lines.digits.push_back(std::move(digits));
  }
  return lines;
}

absl::StatusOr<std::unique_ptr<BucketIter>> LineBatches(const TextLines& lines, uint64_t seed) {
  return BucketIter::Create(
      {{.name = "data",
        .values = lines.images,
        .pad_to = {kFree, 0},
        .layout = "NCT",
        .length_name = "width"}},
      {{.name = "digits", .values = lines.digits, .pad_to = {kFree}}},
      {.batch_size = 16,
       .common = {
           .max_buckets = 5, .last_batch = BucketIterOptions::LastBatch::kSmaller, .seed = seed}});
}

BucketSymbol LineNetwork(const BucketKey& key) {
  const Symbol width = Symbol::Variable("width");
  const Symbol strokes = op::Convolution(
      Symbol::Variable("data"), {.kernel = {3}, .pad = {1}, .num_filter = 48, .name = "strokes"});
  const Symbol columns = op::transpose(op::Activation(strokes, {.act_type = "relu"}),
                                       {.axes = {0, 2, 1}});  // (N, width, 48)
  BidirectionalCell cell(std::make_shared<GRUCell>(32, GRUCellOptions{.prefix = "l_"}),
                         std::make_shared<GRUCell>(32, GRUCellOptions{.prefix = "r_"}));
  const Symbol both = Unroll(cell, static_cast<int>(key.int_value()), columns,
                             {.merge_outputs = true, .valid_length = width})
                          .outputs.merged();
  const Symbol scores =
      op::FullyConnected(both, {.num_hidden = kClasses, .flatten = false, .name = "scores"});
  const Symbol loss = op::CTCLoss(
      op::transpose(scores, {.axes = {1, 0, 2}}),
      {.label = Symbol::Variable("digits"), .data_lengths = width, .use_data_lengths = true});
  return {.symbol = Symbol::Keep(
              Symbol::Group({op::MakeLoss(loss, {.name = "ctc"}),
                             op::BlockGrad(op::softmax(scores), {.name = "classes"})})),
          .data_names = {"data", "width"},
          .label_names = {"digits"}};
}

absl::StatusOr<std::unique_ptr<BucketingModule>> TrainLineReader(const TextLines& lines,
                                                                 int num_epoch) {
  COOPER_ASSIGN_OR_RETURN(auto batches, LineBatches(lines, /*seed=*/1));
  COOPER_ASSIGN_OR_RETURN(
      auto model, BucketingModule::Create({.sym_gen = LineNetwork,
                                           .default_bucket_key = batches->default_bucket_key()}));
  const auto loss = Loss({.output_names = {{"ctc_output"}}});
  // The learning rate falls to 0, so that the last steps converge.
  PolySchedulerOptions rate = {.max_update = num_epoch * batches->num_batches(), .pwr = 1};
  rate.common.base_lr = 0.01;
  COOPER_ASSIGN_OR_RETURN(std::shared_ptr<LRScheduler> falling, PolyScheduler::Create(rate));
  COOPER_RETURN_IF_ERROR(model->Fit(
      *batches, {.eval_metric = loss.get(),
                 .optimizer = {.optimizer = "adam", .lr_scheduler = falling, .clip_global_norm = 5},
                 .params = {.initializer = init::Xavier(), .seed = 1},
                 .num_epoch = num_epoch}));
  return model;
}

absl::StatusOr<ReadLines> ReadTextLines(BucketingModule& model, const TextLines& lines) {
  COOPER_ASSIGN_OR_RETURN(auto batches, LineBatches(lines, /*seed=*/0));
  ReadLines read;
  read.digits.resize(lines.images.size());
  read.probabilities.resize(lines.images.size());
  const auto visit = [&](const std::vector<NDArray>& outputs, int64_t,
                         const DataBatch& batch) -> absl::Status {
    COOPER_ASSIGN_OR_RETURN(const absl::Span<float> all, outputs[1].Data<float>());
    const int64_t columns = outputs[1].shape()[1];
    for (size_t row = 0; row < batch.index.size(); ++row) {
      const auto own = all.subspan(row * columns * kClasses, batch.lengths[row] * kClasses);
      read.digits[batch.index[row]] = BestPath(own);
      read.probabilities[batch.index[row]].assign(own.begin(), own.end());
    }
    return absl::OkStatus();
  };
  COOPER_RETURN_IF_ERROR(model.IterPredict(*batches, visit));
  return read;
}

}  // namespace cooper
