#include "examples/language_model.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "module/initializer/initializers.h"
#include "ndarray/status_macros.h"
#include "symbol/rnn/fused_rnn_cell.h"
#include "symbol/rnn/gru_cell.h"
#include "symbol/rnn/lstm_cell.h"
#include "symbol/rnn/rnn_cell.h"
#include "symbol/rnn/sequential_rnn_cell.h"
#include "symbol/symbol.h"

namespace cooper {
namespace {

absl::StatusOr<std::shared_ptr<BaseRNNCell>> MakeCells(const LanguageModelOptions& options) {
  if (options.cell == "fused") {
    return std::make_shared<FusedRNNCell>(
        options.num_hidden,
        FusedRNNCellOptions{.num_layers = options.num_layers, .mode = RNNMode::kLstm});
  }
  auto stack = std::make_shared<SequentialRNNCell>();
  for (int i = 0; i < options.num_layers; ++i) {
    const std::string prefix = absl::StrCat(options.cell, "_l", i, "_");
    if (options.cell == "lstm") {
      stack->Add(std::make_shared<LSTMCell>(options.num_hidden, LSTMCellOptions{.prefix = prefix}));
    } else if (options.cell == "gru") {
      stack->Add(std::make_shared<GRUCell>(options.num_hidden, GRUCellOptions{.prefix = prefix}));
    } else if (options.cell == "rnn") {
      stack->Add(std::make_shared<RNNCell>(options.num_hidden, RNNCellOptions{.prefix = prefix}));
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("cell '", options.cell, "', expected lstm, gru, rnn or fused"));
    }
  }
  return stack;
}

absl::StatusOr<BucketSymbol> Generate(const LanguageModelOptions& options, BaseRNNCell& cells,
                                      const BucketKey& key) {
  if (!key.is_int() || key.int_value() < 1) {
    return absl::InvalidArgumentError("the key must be a sentence length");
  }
  const int length = static_cast<int>(key.int_value());
  const Symbol data = Symbol::Variable("data");
  const Symbol label = Symbol::Variable("softmax_label");
  COOPER_ASSIGN_OR_RETURN(
      const Symbol embed,
      Symbol::Create("Embedding", {.name = "embed",
                                   .inputs = {data},
                                   .attrs = {{"input_dim", absl::StrCat(options.vocab)},
                                             {"output_dim", absl::StrCat(options.num_embed)}}}));
  cells.Reset();
  COOPER_ASSIGN_OR_RETURN(const Unrolled unrolled,
                          cells.Unroll(length, embed, {.merge_outputs = true}));
  COOPER_ASSIGN_OR_RETURN(
      const Symbol rows,
      Symbol::Create("Reshape",
                     {.inputs = {unrolled.outputs.merged()},
                      .attrs = {{"shape", absl::StrCat("(-1, ", options.num_hidden, ")")}}}));
  COOPER_ASSIGN_OR_RETURN(
      const Symbol pred,
      Symbol::Create("FullyConnected", {.name = "pred",
                                        .inputs = {rows},
                                        .attrs = {{"num_hidden", absl::StrCat(options.vocab)}}}));
  COOPER_ASSIGN_OR_RETURN(
      const Symbol labels,
      Symbol::Create("Reshape", {.inputs = {label}, .attrs = {{"shape", "(-1,)"}}}));
  AttrMap attrs;
  if (options.use_ignore) attrs = {{"use_ignore", "True"}, {"ignore_label", "0"}};
  COOPER_ASSIGN_OR_RETURN(
      const Symbol softmax,
      Symbol::Create("SoftmaxOutput",
                     {.name = "softmax", .inputs = {pred, labels}, .attrs = attrs}));
  return BucketSymbol{.symbol = softmax};
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
  COOPER_ASSIGN_OR_RETURN(const std::shared_ptr<BaseRNNCell> cells, MakeCells(options));
  return SymGen([options, cells](const BucketKey& key) { return Generate(options, *cells, key); });
}

std::shared_ptr<const Initializer> LanguageModelInitializer() {
  return init::Xavier({.factor_type = init::FactorType::kIn, .magnitude = 2.34});
}

}  // namespace cooper
