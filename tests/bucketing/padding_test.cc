// Tests that padding has no effect: a batch of sentences has the same loss and gradients in every
// bucket that holds it, for any contents of the padding, any order of rows, and with or without
// padding rows. Networks, sizes, lengths and passes are random.
//
// If recurrent layers use the lengths (pass rnn_lengths, operator RNN) and the loss is computed
// element by element, results are equal bit by bit. Otherwise products have more or reordered rows,
// and sums round differently: the tolerance is kRoundings times the dtype's epsilon, the number of
// terms of the longest sum, and the largest number of the array.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "ndarray/random/random_cases.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/rnn/bidirectional_cell.h"
#include "symbol/rnn/fused_rnn_cell.h"
#include "symbol/rnn/gru_cell.h"
#include "symbol/rnn/lstm_cell.h"
#include "symbol/rnn/residual_cell.h"
#include "symbol/rnn/rnn_cell.h"
#include "symbol/rnn/sequential_rnn_cell.h"
#include "symbol/rnn/zoneout_cell.h"

namespace cooper {
namespace {

constexpr int64_t kMaxLength = 12, kClasses = 4;
constexpr double kRoundings = 4;
enum class Loss { kSoftmax, kMask, kCtc };
constexpr const char* kLossNames[] = {"SoftmaxOutput", "MakeLoss", "CTCLoss"};

int64_t Draw(RandomGenerator& random, int64_t least, int64_t most) {
  return least + static_cast<int64_t>(random.NextBelow(static_cast<uint64_t>(most - least + 1)));
}

// The parameters of a test that do not depend on the bucket.
struct Case {
  std::string cell;
  Loss loss;
  bool time_major;
  int64_t hidden, features;
  bool valid_normalization;
  std::set<std::string> disabled_passes;
  std::vector<int64_t> lengths;  // of the sentences

  int64_t longest() const { return *std::max_element(lengths.begin(), lengths.end()); }
  // Returns whether every layer uses the lengths, so that padding enters no sum.
  bool is_exact() const {
    const bool layers = disabled_passes.empty() && longest() > 1 && cell != "zoneout";
    return loss == Loss::kMask && (layers || cell.starts_with("fused"));
  }
  std::string ToString() const {
    return absl::StrCat(cell, ", ", kLossNames[static_cast<int>(loss)],
                        time_major ? ", TNC" : ", NTC", ", ", hidden, " hidden, ", features,
                        " features, ", lengths.size(), " sentences of up to ", longest(),
                        disabled_passes.empty() ? "" : ", without passes ");
  }
};

// One arrangement of the sentences in a batch.
struct Batch {
  int64_t bucket;
  std::vector<int64_t> rows;  // the sentence of each row, -1 for padding
};

constexpr const char* kCells[] = {"lstm",       "gru",       "rnn",       "bidirectional",
                                  "stacked",    "residual",  "deep",      "zoneout",
                                  "fused_lstm", "fused_gru", "fused_rnn", "fused_both_ways"};

Case MakeCase(RandomGenerator& random) {
  Case c{.cell = kCells[Draw(random, 0, std::ssize(kCells) - 1)],
         .loss = static_cast<Loss>(Draw(random, 0, 2)),
         .time_major = Draw(random, 0, 1) == 0,
         .hidden = Draw(random, 1, 8),
         .features = Draw(random, 1, 4),
         .valid_normalization = Draw(random, 0, 1) == 0};
  for (int64_t n = Draw(random, 1, 5); n > 0; --n) {
    c.lengths.push_back(Draw(random, 1, kMaxLength - 1));
  }
  const std::vector<std::string> passes = PassNames();
  const int64_t which = Draw(random, 0, 3);
  if (which == 0) c.disabled_passes.insert(passes.begin(), passes.end());
  if (which == 1) c.disabled_passes.insert(passes[Draw(random, 0, std::ssize(passes) - 1)]);
  return c;
}

template <typename Cell, typename Options>
RNNCellPtr Make(int64_t hidden, const std::string& prefix) {
  return std::make_shared<Cell>(hidden, Options{.prefix = prefix});
}

RNNCellPtr Lstm(int64_t hidden, const std::string& prefix) {
  return Make<LSTMCell, LSTMCellOptions>(hidden, prefix);
}
RNNCellPtr Gru(int64_t hidden, const std::string& prefix) {
  return Make<GRUCell, GRUCellOptions>(hidden, prefix);
}
RNNCellPtr Fused(RNNMode mode, int64_t hidden, int layers, bool bidirectional) {
  return std::make_shared<FusedRNNCell>(
      hidden,
      FusedRNNCellOptions{
          .num_layers = layers, .mode = mode, .bidirectional = bidirectional, .prefix = "f_"});
}
RNNCellPtr Both(RNNCellPtr l, RNNCellPtr r) {
  return std::make_shared<BidirectionalCell>(std::move(l), std::move(r));
}
RNNCellPtr Stack(const std::vector<RNNCellPtr>& cells) {
  auto stack = std::make_shared<SequentialRNNCell>();
  for (const RNNCellPtr& cell : cells) COOPER_EXPECT_OK(stack->Add(cell));
  return stack;
}

RNNCellPtr MakeCell(const Case& c) {
  const int64_t n = c.hidden;
  if (c.cell == "lstm") return Lstm(n, "a_");
  if (c.cell == "gru") return Gru(n, "a_");
  if (c.cell == "rnn") return Make<RNNCell, RNNCellOptions>(n, "a_");
  if (c.cell == "bidirectional") return Both(Lstm(n, "l_"), Gru(2, "r_"));
  if (c.cell == "stacked") return Stack({Gru(3, "a_"), Lstm(n, "b_")});
  if (c.cell == "residual") {
    return Stack({Lstm(n, "a_"), std::make_shared<ResidualCell>(Gru(n, "b_"))});
  }
  if (c.cell == "deep")
    return Stack({Both(Lstm(n, "l_"), Lstm(2, "r_")), Both(Gru(3, "s_"), Gru(n, "t_"))});
  // Rates of 0 leave the graph of zoneout; with others no two buckets would draw the same numbers.
  if (c.cell == "zoneout") return std::make_shared<ZoneoutCell>(Lstm(n, "a_"));
  if (c.cell == "fused_lstm") return Fused(RNNMode::kLstm, n, 2, false);
  if (c.cell == "fused_gru") return Fused(RNNMode::kGru, n, 1, false);
  if (c.cell == "fused_rnn") return Fused(RNNMode::kRnnTanh, n, 1, true);
  return Fused(RNNMode::kLstm, n, 2, true);
}

Symbol OpOf(const char* op, std::vector<Symbol> inputs, AttrMap attrs = {}, std::string name = "") {
  auto symbol = Symbol::Create(
      op, {.name = std::move(name), .inputs = std::move(inputs), .attrs = std::move(attrs)});
  EXPECT_THAT(symbol, IsOk());
  return *std::move(symbol);
}

// Returns the loss over the outputs of the cells, with arrays in the layout of the case.
Symbol MakeNetwork(const Case& c, int64_t bucket) {
  const Symbol lengths = Symbol::Variable("lengths"), label = Symbol::Variable("label");
  const auto unrolled = MakeCell(c)->Unroll(
      static_cast<int>(bucket), Symbol::Variable("data"),
      {.layout = c.time_major ? "TNC" : "NTC", .merge_outputs = true, .valid_length = lengths});
  EXPECT_THAT(unrolled, IsOk());
  Symbol outputs = unrolled->outputs.merged();
  if (c.loss == Loss::kMask) {
    const AttrMap mask = {{"use_sequence_length", "True"}, {"axis", c.time_major ? "0" : "1"}};
    const Symbol error = OpOf("square", {OpOf("broadcast_sub", {outputs, label})});
    return OpOf("MakeLoss", {OpOf("SequenceMask", {error, lengths}, mask)});
  }
  const Symbol scores =
      OpOf("FullyConnected", {outputs},
           {{"num_hidden", absl::StrCat(kClasses)}, {"flatten", "False"}}, "pred");
  if (c.loss == Loss::kSoftmax) {
    return OpOf("SoftmaxOutput",
                {OpOf("Reshape", {scores}, {{"shape", absl::StrCat("(-1, ", kClasses, ")")}}),
                 OpOf("Reshape", {label}, {{"shape", "(-1,)"}})},
                {{"use_ignore", "True"},
                 {"ignore_label", "-1"},
                 {"normalization", c.valid_normalization ? "valid" : "null"}});
  }
  const Symbol steps =
      c.time_major ? scores : OpOf("swapaxes", {scores}, {{"dim1", "0"}, {"dim2", "1"}});
  return OpOf("MakeLoss",
              {OpOf("CTCLoss", {steps, label, lengths}, {{"use_data_lengths", "True"}})});
}

// The sentences of a case: data and labels by step, and weights by name.
struct Values {
  std::vector<std::vector<float>> data, label;  // by sentence: (length, features), (length, ...)
  std::map<std::string, std::vector<float>> weights;
};

std::vector<float> RandomValues(int64_t n, RandomGenerator& random, double scale = 1) {
  std::vector<float> values(n);
  for (float& x : values) x = static_cast<float>(scale * (2 * random.NextUniform() - 1));
  return values;
}

Values MakeValues(const Case& c, RandomGenerator& random) {
  Values values;
  for (int64_t length : c.lengths) {
    values.data.push_back(RandomValues(length * c.features, random));
    std::vector<float> label = RandomValues(length, random);
    if (c.loss == Loss::kSoftmax) {
      for (float& x : label) x = static_cast<float>(Draw(random, 0, kClasses - 1));
    } else if (c.loss == Loss::kCtc) {
      // At most every second step has a label, so that CTC can separate equal consecutive labels.
      std::fill(label.begin(), label.end(), 0.0f);
      for (int64_t k = 0; k < (length + 1) / 2; ++k) {
        label[k] = static_cast<float>(Draw(random, 1, kClasses - 1));
      }
    }
    values.label.push_back(std::move(label));
  }
  return values;
}

// Returns the sentences' steps as (bucket, rows, n) or (rows, bucket, n), with random padding.
NDArray Padded(const Case& c, const Batch& batch, const std::vector<std::vector<float>>& sentences,
               int64_t n, bool time_major, Shape shape, const std::vector<float>& padding) {
  const auto rows = static_cast<int64_t>(batch.rows.size());
  std::vector<float> values = padding;
  values.resize(rows * batch.bucket * n);
  for (int64_t r = 0; r < rows; ++r) {
    if (batch.rows[r] < 0) continue;
    const std::vector<float>& sentence = sentences[batch.rows[r]];
    for (int64_t t = 0; t < c.lengths[batch.rows[r]]; ++t) {
      const int64_t at = time_major ? t * rows + r : r * batch.bucket + t;
      std::copy_n(sentence.begin() + t * n, n, values.begin() + at * n);
    }
  }
  return *NDArray::FromVector(std::move(shape), values);
}

// The results of each sentence, independent of its batch.
struct Results {
  std::vector<std::vector<float>> outputs;         // by sentence
  std::vector<std::vector<float>> data_gradients;  // by sentence
  std::map<std::string, std::vector<float>> weight_gradients;
};

// Extracts the steps of each sentence from (bucket, rows, n) or (rows, bucket, n).
std::vector<std::vector<float>> Unpadded(const Case& c, const Batch& batch,
                                         const std::vector<float>& values) {
  const auto rows = static_cast<int64_t>(batch.rows.size());
  const int64_t n = std::ssize(values) / (rows * batch.bucket);
  std::vector<std::vector<float>> sentences(c.lengths.size());
  for (int64_t r = 0; r < rows; ++r) {
    if (batch.rows[r] < 0) continue;
    for (int64_t t = 0; t < c.lengths[batch.rows[r]]; ++t) {
      const int64_t at = (c.time_major ? t * rows + r : r * batch.bucket + t) * n;
      sentences[batch.rows[r]].insert(sentences[batch.rows[r]].end(), values.begin() + at,
                                      values.begin() + at + n);
    }
  }
  return sentences;
}

Results Train(const Case& c, const Batch& batch, Values& values, RandomGenerator& random) {
  const Symbol network = MakeNetwork(c, batch.bucket);
  const auto rows = static_cast<int64_t>(batch.rows.size());
  const Shape steps = c.time_major ? Shape{batch.bucket, rows} : Shape{rows, batch.bucket};
  Shape data_shape = steps, label_shape = steps;
  data_shape.insert(2, c.features);
  if (c.loss == Loss::kMask) label_shape.insert(2, 1);
  if (c.loss == Loss::kCtc) label_shape = {rows, batch.bucket};
  const int64_t size = steps.num_elements();

  ArrayMap args;
  args["data"] = Padded(c, batch, values.data, c.features, c.time_major, data_shape,
                        RandomValues(size * c.features, random, 100));
  std::vector<float> padding = RandomValues(size, random, 100);
  if (c.loss == Loss::kSoftmax) std::fill(padding.begin(), padding.end(), -1.0f);
  if (c.loss == Loss::kCtc) std::fill(padding.begin(), padding.end(), 0.0f);
  args["label"] =
      Padded(c, batch, values.label, 1, c.time_major && c.loss != Loss::kCtc, label_shape, padding);
  std::vector<float> lengths;
  for (int64_t row : batch.rows) {
    lengths.push_back(row < 0 ? 0.0f : static_cast<float>(c.lengths[row]));
  }
  args["lengths"] = *NDArray::FromVector({rows}, lengths);
  const auto shapes = InferShape(network, {{"data", data_shape}, {"label", label_shape}});
  EXPECT_THAT(shapes, IsOk());
  Results results;
  if (!shapes.ok()) return results;
  BindOptions options = {.disabled_passes = c.disabled_passes};
  const std::vector<std::string> names = network.ListArguments();
  for (size_t i = 0; i < names.size(); ++i) {
    if (args.contains(names[i])) continue;
    const Shape shape = shapes->args[i].ToShape();
    if (!values.weights.contains(names[i])) {
      values.weights[names[i]] = absl::StrContains(names[i], "begin_state")
                                     ? std::vector<float>()
                                     : RandomValues(shape.num_elements(), random, 0.6);
    }
    std::vector<float>& weight = values.weights[names[i]];
    weight.resize(shape.num_elements());
    args[names[i]] = *NDArray::FromVector(shape, weight);
  }
  options.args = args;
  for (const char* name : {"label", "lengths"}) options.grad_reqs[name] = WriteReq::kNull;
  const auto executor = Executor::SimpleBind(network, options);
  EXPECT_THAT(executor, IsOk());
  if (!executor.ok()) return results;
  COOPER_EXPECT_OK((*executor)->Forward(true));
  COOPER_EXPECT_OK((*executor)->Backward());
  const auto outputs = (*executor)->outputs();
  const std::vector<float> output = *(*outputs)[0].ToVector<float>();
  if (c.loss == Loss::kCtc) {
    results.outputs.resize(c.lengths.size());
    for (int64_t r = 0; r < rows; ++r) {
      if (batch.rows[r] >= 0) results.outputs[batch.rows[r]] = {output[r]};
    }
  } else {
    results.outputs = Unpadded(c, batch, output);
  }
  for (const auto& [name, gradient] : (*executor)->grad_dict()) {
    std::vector<float> all = *gradient.ToVector<float>();
    if (name != "data") {
      results.weight_gradients[name] = std::move(all);
      continue;
    }
    results.data_gradients = Unpadded(c, batch, all);
    // The gradient of padding is 0.
    int64_t nonzero = std::count_if(all.begin(), all.end(), [](float x) { return x != 0; });
    for (const auto& sentence : results.data_gradients) {
      nonzero -= std::count_if(sentence.begin(), sentence.end(), [](float x) { return x != 0; });
    }
    EXPECT_EQ(nonzero, 0) << "elements of padding that have a gradient";
  }
  return results;
}

void ExpectSame(const std::vector<float>& a, const std::vector<float>& b, bool exact, double terms,
                const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  double largest = 1;
  for (float x : a) largest = std::max(largest, std::abs(static_cast<double>(x)));
  const double bound = kRoundings * std::numeric_limits<float>::epsilon() * terms * largest;
  for (size_t i = 0; i < a.size(); ++i) {
    if (exact) {
      ASSERT_EQ(a[i], b[i]) << what << " at " << i;
    } else {
      ASSERT_NEAR(a[i], b[i], bound) << what << " at " << i;
    }
  }
}

TEST(PaddingTest, ASentenceIsTheSameInEveryBucket) {
  std::map<std::string, int64_t> exact_cases;
  ForRandomCases(1000, [&](RandomGenerator& random) {
    const Case c = MakeCase(random);
    SCOPED_TRACE(c.ToString());
    Values values = MakeValues(c, random);
    const auto n = static_cast<int64_t>(c.lengths.size());
    Batch tight = {.bucket = c.longest()};
    for (int64_t i = 0; i < n; ++i) tight.rows.push_back(i);
    Batch wide = {.bucket = Draw(random, c.longest() + 1, kMaxLength), .rows = tight.rows};
    // Equal lengths keep their order, and so do the terms of sums.
    if (!c.is_exact()) random.Shuffle(wide.rows);
    // A padding row has no steps, which CTCLoss does not accept.
    if (c.loss != Loss::kCtc) wide.rows.insert(wide.rows.end(), Draw(random, 0, 2), -1);

    const Results a = Train(c, tight, values, random);
    const Results b = Train(c, wide, values, random);
    if (testing::Test::HasFailure()) return;
    // The longest sum has the steps of all rows, through the gates of a layer at each step.
    const double terms = static_cast<double>(n * kMaxLength * 4) + 4.0 * (c.hidden + c.features);
    for (int64_t i = 0; i < n; ++i) {
      ExpectSame(a.outputs[i], b.outputs[i], c.is_exact(), terms, absl::StrCat("output ", i));
      ExpectSame(a.data_gradients[i], b.data_gradients[i], c.is_exact(), terms,
                 absl::StrCat("gradient of sentence ", i));
    }
    for (const auto& [name, gradient] : a.weight_gradients) {
      if (absl::StrContains(name, "begin_state")) continue;
      ExpectSame(gradient, b.weight_gradients.at(name), c.is_exact(), terms,
                 absl::StrCat("gradient of ", name));
    }
    exact_cases[c.cell] += c.is_exact() ? 1 : 0;
  });
  for (const auto& [cell, count] : exact_cases) {
    RecordProperty(absl::StrCat("exact_", cell), static_cast<int>(count));
  }
}

}  // namespace
}  // namespace cooper
