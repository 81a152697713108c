#include "tests/module/parity_fixtures.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "symbol/rnn/lstm_cell.h"
#include "symbol/rnn/sequential_rnn_cell.h"
#include "tests/module/module_fixtures.h"

namespace cooper {

std::unique_ptr<Module> Make(const Symbol& symbol, ModuleOptions options) {
  auto module = Module::Create(symbol, std::move(options));
  CHECK(module.ok()) << module.status();
  return *std::move(module);
}

std::vector<Context> Cpus(int n) {
  std::vector<Context> contexts;
  contexts.reserve(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) contexts.push_back(Context::Cpu(i));
  return contexts;
}

Symbol WordsNet(int length, const WordsNetOptions& options) {
  const Symbol embedded =
      Op("Embedding", {.inputs = {Symbol::Variable("data")},
                       .attrs = {{"input_dim", absl::StrCat(options.num_words)},
                                 {"output_dim", absl::StrCat(options.num_embed)}}});
  SequentialRNNCell stack;
  for (int i = 0; i < options.num_layers; ++i) {
    const absl::Status added = stack.Add(std::make_shared<LSTMCell>(
        options.num_hidden, LSTMCellOptions{.prefix = absl::StrCat("lstm_l", i, "_")}));
    CHECK(added.ok()) << added;
  }
  auto unrolled = stack.Unroll(length, embedded, {.merge_outputs = true});
  CHECK(unrolled.ok()) << unrolled.status();
  const Symbol rows =
      Op("Reshape", {.inputs = {unrolled->outputs.merged()},
                     .attrs = {{"shape", absl::StrCat("(-1, ", options.num_hidden, ")")}}});
  const Symbol pred =
      Op("FullyConnected", {.name = "pred",
                            .inputs = {rows},
                            .attrs = {{"num_hidden", absl::StrCat(options.num_words)}}});
  const Symbol labels =
      Op("Reshape", {.inputs = {Symbol::Variable("softmax_label")}, .attrs = {{"shape", "(-1,)"}}});
  return Op("SoftmaxOutput", {.name = "softmax", .inputs = {pred, labels}});
}

Symbol TwoSigmoids() {
  Symbol net = Symbol::Variable("data");
  for (int i = 0; i < 2; ++i) {
    net = Op("FullyConnected",
             {.name = absl::StrCat("fc_", i), .inputs = {net}, .attrs = {{"num_hidden", "2"}}});
    net =
        Op("Activation",
           {.name = absl::StrCat("act_", i), .inputs = {net}, .attrs = {{"act_type", "sigmoid"}}});
  }
  return Op("LinearRegressionOutput",
            {.name = "softmax", .inputs = {net}, .attrs = {{"grad_scale", "2"}}});
}

}  // namespace cooper
