#include "tools/lm_train/language_model.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "io/batch/bucket_key.h"
#include "io/batch/data_desc.h"
#include "io/buckets/step_cost.h"
#include "module/bucketing/bucket_plan.h"
#include "module/initializer/initializers.h"
#include "ndarray/base/status_macros.h"
#include "symbol/control/foreach.h"
#include "symbol/graph/symbol.h"
#include "symbol/op/elemwise.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"
#include "symbol/op/shape.h"
#include "symbol/rnn/base_rnn_cell.h"
#include "symbol/rnn/bidirectional_cell.h"
#include "symbol/rnn/fused_rnn_cell.h"
#include "symbol/rnn/gru_cell.h"
#include "symbol/rnn/lstm_cell.h"
#include "symbol/rnn/rnn_cell.h"
#include "symbol/rnn/sequential_rnn_cell.h"
#include "symbol/rnn/unroll.h"

namespace cooper {
namespace {

absl::StatusOr<RNNCellPtr> MakeCell(const LanguageModelOptions& options,
                                    const std::string& prefix) {
  const int64_t n = options.num_hidden;
  if (options.cell == "lstm" || options.cell == "foreach")
    return std::make_shared<LSTMCell>(n, LSTMCellOptions{.prefix = prefix});
  if (options.cell == "gru") return std::make_shared<GRUCell>(n, GRUCellOptions{.prefix = prefix});
  if (options.cell == "rnn") return std::make_shared<RNNCell>(n, RNNCellOptions{.prefix = prefix});
  return absl::InvalidArgumentError(
      absl::StrCat("cell '", options.cell,
                   "', expected lstm, gru, rnn, foreach, fused, fused_gru or fused_rnn"));
}

// Returns one layer, with the parameter names of MXNet's FusedRNNCell.unfuse.
absl::StatusOr<RNNCellPtr> MakeLayer(const LanguageModelOptions& options, int layer) {
  const auto prefix = [&](const char* part) {
    return absl::StrCat(options.cell == "foreach" ? "lstm" : options.cell, "_", part, layer, "_");
  };
  COOPER_ASSIGN_OR_RETURN(RNNCellPtr forward, MakeCell(options, prefix("l")));
  if (!options.bidirectional) return forward;
  COOPER_ASSIGN_OR_RETURN(RNNCellPtr backward, MakeCell(options, prefix("r")));
  return std::make_shared<BidirectionalCell>(
      std::move(forward), std::move(backward),
      BidirectionalCellOptions{.output_prefix = prefix("bi_l")});
}

absl::StatusOr<RNNCellPtr> MakeCells(const LanguageModelOptions& options) {
  constexpr std::pair<const char*, RNNMode> kFused[] = {
      {"fused", RNNMode::kLstm}, {"fused_gru", RNNMode::kGru}, {"fused_rnn", RNNMode::kRnnTanh}};
  for (const auto& [name, mode] : kFused) {
    if (options.cell != name) continue;
    return std::make_shared<FusedRNNCell>(
        options.num_hidden, FusedRNNCellOptions{.num_layers = options.num_layers,
                                                .mode = mode,
                                                .bidirectional = options.bidirectional});
  }
  auto stack = std::make_shared<SequentialRNNCell>();
  for (int i = 0; i < options.num_layers; ++i) {
    COOPER_ASSIGN_OR_RETURN(RNNCellPtr layer, MakeLayer(options, i));
    COOPER_RETURN_IF_ERROR(stack->Add(std::move(layer)));
  }
  return stack;
}

// Returns the cells' outputs (batch_size, length, features), of a loop over the words of `embed`.
Symbol LoopOverWords(BaseRNNCell& cells, const Symbol& embed) {
  cells.Reset();
  const ForeachResult loop = Foreach(
      [&cells](const std::vector<Symbol>& word, const std::vector<Symbol>& states) {
        StepResult step = Step(cells, word[0], states);
        return ForeachStep{.outputs = {std::move(step.output)}, .states = std::move(step.states)};
      },
      {op::SwapAxis(embed, {.dim1 = 0, .dim2 = 1})}, BeginState(cells), "words");
  return op::SwapAxis(loop.outputs[0], {.dim1 = 0, .dim2 = 1});
}

// Returns the number of steps of each row that lead to a label: all words except the last one,
// which has no label. With a second direction it is all words, since that direction begins at the
// last one.
Symbol StepsWithLabel(const LanguageModelOptions& options) {
  const Symbol length = Symbol::Variable("length");
  if (options.bidirectional) return length;
  const Symbol less = op::minus_scalar(length, {.scalar = 1, .name = "length_minus_last"});
  // Padding rows have no word.
  return op::maximum_scalar(less, {.scalar = 0, .name = "steps_with_label"});
}

absl::StatusOr<BucketSymbol> Generate(const LanguageModelOptions& options, BaseRNNCell& cells,
                                      const BucketKey& key) {
  if (!key.is_int() || key.int_value() < 1) {
    return absl::InvalidArgumentError("the key must be a sentence length");
  }
  const Symbol embed =
      op::Embedding(Symbol::Variable("data"),
                    {.input_dim = options.vocab, .output_dim = options.num_embed, .name = "embed"});
  UnrollOptions unroll = {.merge_outputs = true};
  BucketSymbol result;
  if (options.use_lengths) {
    unroll.valid_length = StepsWithLabel(options);
    result.data_names.push_back("length");
  }
  const Symbol hidden =
      options.cell == "foreach"
          ? LoopOverWords(cells, embed)
          : Unroll(cells, static_cast<int>(key.int_value()), embed, unroll).outputs.merged();
  const int64_t features = (options.bidirectional ? 2 : 1) * options.num_hidden;
  const Symbol rows = op::Reshape(hidden, {.shape = {-1, features}});
  const Symbol pred = op::FullyConnected(rows, {.num_hidden = options.vocab, .name = "pred"});
  result.symbol = op::SoftmaxOutput(
      pred, {.label = op::Reshape(Symbol::Variable("softmax_label"), {.shape = {-1}}),
             .ignore_label = options.use_ignore ? 0.0 : -1.0,
             .use_ignore = options.use_ignore,
             .name = "softmax"});
  return result;
}

// Lengths that LmStepCost compiles, beside a length of one word.
constexpr int64_t kSegments = 8;

BucketShapes ShapesOf(const LmStepCostOptions& options, int64_t length) {
  const int64_t rows = options.batch_size;
  BucketShapes shapes = {
      .key = length,
      .data_shapes = {{.name = "data", .shape = {rows, length}, .layout = "NT"}},
      .label_shapes = {{.name = "softmax_label", .shape = {rows, length}, .layout = "NT"}}};
  if (options.use_lengths) {
    shapes.data_shapes.push_back({.name = "length", .shape = {rows}, .layout = "N"});
  }
  return shapes;
}

}  // namespace

absl::StatusOr<SymGen> MakeLanguageModel(const LanguageModelOptions& options) {
  if (options.vocab < 2 || options.num_embed < 1 || options.num_hidden < 1 ||
      options.num_layers < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("vocab ", options.vocab, ", num_embed ", options.num_embed, ", num_hidden ",
                     options.num_hidden, ", num_layers ", options.num_layers,
                     ": expected at least 2 words, and 1 of the others"));
  }
  if (options.cell == "foreach" && (options.bidirectional || options.use_lengths)) {
    return absl::InvalidArgumentError(
        "cell 'foreach' runs in one direction over all words: bidirectional and use_lengths need "
        "another cell, such as lstm");
  }
  COOPER_ASSIGN_OR_RETURN(const RNNCellPtr cells, MakeCells(options));
  return SymGen([options, cells](const BucketKey& key) { return Generate(options, *cells, key); });
}

std::shared_ptr<const Initializer> LanguageModelInitializer() {
  return init::Xavier({.factor_type = init::FactorType::kIn, .magnitude = 2.34});
}

absl::StatusOr<std::function<double(int64_t length)>> LmStepCost(LmStepCostOptions options) {
  if (options.longest < 2 || options.batch_size < 1) {
    return absl::InvalidArgumentError(absl::StrCat("LmStepCost: longest ", options.longest,
                                                   ", batch_size ", options.batch_size,
                                                   ": expected at least 2 words, and 1 sentence"));
  }
  std::set<int64_t> lengths = {1};
  for (int64_t i = 1; i <= kSegments; ++i) {
    lengths.insert((options.longest * i + kSegments - 1) / kSegments);
  }
  BucketPlanOptions plan_options = {
      .sym_gen = options.sym_gen,
      .compute = {.disabled_passes = options.disabled_passes,
                  .label_probabilities = options.label_probabilities}};
  for (const int64_t length : lengths) plan_options.buckets.push_back(ShapesOf(options, length));
  COOPER_ASSIGN_OR_RETURN(BucketPlan plan, BucketPlan::Create(std::move(plan_options)));
  std::vector<StepTime> steps;
  for (const int64_t length : lengths) {
    COOPER_ASSIGN_OR_RETURN(const double flops, plan.Flops(length, options.batch_size));
    steps.push_back({.length = length, .time = flops});
  }
  COOPER_ASSIGN_OR_RETURN(const StepCostLines flops, InterpolateStepCost(steps));
  const double of_longest = flops(options.longest) / static_cast<double>(options.longest);
  return [flops, of_longest](int64_t length) { return flops(length) / of_longest; };
}

}  // namespace cooper
