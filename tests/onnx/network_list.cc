#include "tests/onnx/network_list.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "examples/seq2seq/seq2seq.h"
#include "examples/transformer/transformer.h"
#include "io/batch/bucket_key.h"
#include "module/options/sym_gen.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "tests/onnx/small_networks.h"
#include "tools/lm_train/language_model.h"

namespace cooper {
namespace {

constexpr int64_t kIds = 50;

// A language model of two layers of 24 units, exported from the network of 20 steps.
absl::StatusOr<TestNetwork> LanguageModel(const std::string& cell, bool bidirectional,
                                          bool use_lengths) {
  COOPER_ASSIGN_OR_RETURN(const SymGen generator, MakeLanguageModel({.vocab = kIds,
                                                                     .num_embed = 16,
                                                                     .num_hidden = 24,
                                                                     .cell = cell,
                                                                     .bidirectional = bidirectional,
                                                                     .use_lengths = use_lengths}));
  TestNetwork network = {.name = absl::StrCat(cell, bidirectional ? "_bidirectional" : "",
                                              use_lengths ? "_lengths" : ""),
                         .shapes = "data:batch,length=20",
                         .num_ids = kIds};
  if (use_lengths) network.shapes += ";length:batch";
  network.symbol = [generator](const KnownShapes& inputs) -> absl::StatusOr<Symbol> {
    COOPER_ASSIGN_OR_RETURN(const BucketSymbol bucket, generator(BucketKey(inputs.at("data")[1])));
    return bucket.symbol;
  };
  // The bucket that is exported, and every length to 60 with the batch sizes 1 to 8.
  std::vector<std::pair<int64_t, int64_t>> extents = {{4, 20}};
  for (int64_t length = 1; length <= 60; ++length) extents.push_back({length * 5 % 8 + 1, length});
  for (const auto& [batch, length] : extents) {
    KnownShapes run = {{"data", {batch, length}}};
    if (use_lengths) run["length"] = PartialShape({batch});
    network.runs.push_back(std::move(run));
  }
  return network;
}

TestNetwork Seq2Seq() {
  TestNetwork network = {
      .name = "seq2seq",
      .shapes = "source:batch,sources=9;source_length:batch;target:batch,targets=11",
      .num_ids = 20};
  network.symbol = [](const KnownShapes& inputs) -> absl::StatusOr<Symbol> {
    return Seq2SeqNetwork(BucketKey({inputs.at("source")[1], inputs.at("target")[1]})).symbol;
  };
  for (const auto& [batch, sources, targets] :
       std::vector<std::array<int64_t, 3>>{{4, 9, 11}, {1, 3, 4}, {8, 12, 7}}) {
    network.runs.push_back(
        {{"source", {batch, sources}}, {"source_length", {batch}}, {"target", {batch, targets}}});
  }
  return network;
}

TestNetwork Transformer(bool classifier) {
  TestNetwork network = {.name = classifier ? "transformer_classifier" : "transformer",
                         .shapes = "data:15,batch;length:batch",
                         .num_ids = kIds,
                         .time_axis = 0};
  network.symbol = [classifier](const KnownShapes& inputs) -> absl::StatusOr<Symbol> {
    const TransformerOptions options = {.num_ids = kIds, .width = 32};
    const BucketKey key(inputs.at("data")[0]);
    COOPER_ASSIGN_OR_RETURN(const BucketSymbol bucket,
                            classifier ? TransformerClassifier(key, 5, options)
                                       : TransformerLanguageModel(key, options));
    return bucket.symbol;
  };
  for (int64_t batch : {4, 1, 8}) {
    network.runs.push_back({{"data", {15, batch}}, {"length", {batch}}});
  }
  return network;
}

TestNetwork Fixed(std::string name, std::string shapes, int64_t num_ids, Symbol symbol,
                  std::vector<KnownShapes> runs) {
  return {.name = std::move(name),
          .shapes = std::move(shapes),
          .num_ids = num_ids,
          .symbol = [symbol](const KnownShapes&) -> absl::StatusOr<Symbol> { return symbol; },
          .runs = std::move(runs)};
}

}  // namespace

absl::StatusOr<std::vector<TestNetwork>> AllTestNetworks() {
  std::vector<TestNetwork> networks;
  for (const char* cell : {"lstm", "gru", "rnn", "fused", "fused_gru", "fused_rnn"}) {
    for (const auto& [bidirectional, use_lengths] : std::vector<std::pair<bool, bool>>{
             {false, false}, {true, false}, {true, true}, {false, true}}) {
      COOPER_ASSIGN_OR_RETURN(networks.emplace_back(),
                              LanguageModel(cell, bidirectional, use_lengths));
    }
  }
  networks.push_back(Seq2Seq());
  networks.push_back(Transformer(false));
  networks.push_back(Transformer(true));
  networks.push_back(Fixed("text_cnn", "data:batch,30", kIds, TextCnn(kIds, 30),
                           {{{"data", {4, 30}}}, {{"data", {1, 30}}}}));
  networks.push_back(Fixed("ssd", "data:batch,3,64,64", 0, SmallSsd(),
                           {{{"data", {2, 3, 64, 64}}}, {{"data", {1, 3, 64, 64}}}}));
  networks.push_back(Fixed("detections", "data:batch,3,64,64", 0, ManyDetections(),
                           {{{"data", {2, 3, 64, 64}}}, {{"data", {1, 3, 64, 64}}}}));
  networks.back().detections = true;
  networks.push_back(Fixed("images", "data:batch,4,16,20", 0, ManyImageOperators(),
                           {{{"data", {2, 4, 16, 20}}}, {{"data", {1, 4, 16, 20}}}}));
  networks.push_back(Fixed("arrays", "data:batch,6,8", 0, ManyArrayOperators(),
                           {{{"data", {3, 6, 8}}}, {{"data", {1, 6, 8}}}}));
  for (const TestNetwork& network : networks) {
    COOPER_ASSIGN_OR_RETURN(const Symbol symbol, network.symbol(network.runs[0]));
    COOPER_RETURN_IF_ERROR(symbol.status());
  }
  return networks;
}

}  // namespace cooper
