#include "tests/passes/random_layers.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/executor_fixtures.h"
#include "glog/logging.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/rnn/bidirectional_cell.h"
#include "symbol/rnn/dropout_cell.h"
#include "symbol/rnn/gru_cell.h"
#include "symbol/rnn/lstm_cell.h"
#include "symbol/rnn/residual_cell.h"
#include "symbol/rnn/rnn_cell.h"
#include "symbol/rnn/sequential_rnn_cell.h"
#include "symbol/rnn/zoneout_cell.h"
#include "tests/passes/random_cell.h"

namespace cooper {

RandomLayers::RandomLayers(GraphDraft& draft) : g_(draft) { NewSequence(); }

RandomLayers::Sequence RandomLayers::NewSequence() {
  Sequence s{.length = g_.Between(1, 5), .features = g_.Between(2, 4)};
  s.layout = g_.Chance(0.5) ? "NTC" : "TNC";
  const int64_t outer = s.layout[0] == 'N' ? g_.batch() : s.length;
  const int64_t inner = s.layout[0] == 'N' ? s.length : g_.batch();
  if (g_.Chance(0.4)) {
    s.symbol = g_.Variable(g_.Name("data"), {outer, inner, s.features});
  } else {
    const bool swapped = g_.Chance(0.5);
    const Shape shape = swapped ? Shape{inner, outer} : Shape{outer, inner};
    s.symbol = Op("Embedding", {.name = g_.Name("embed"),
                                .inputs = {g_.ClassVariable(shape, 7)},
                                .attrs = {{"input_dim", "7"},
                                          {"output_dim", absl::StrCat(s.features)},
                                          {"dtype", g_.is_double() ? "float64" : "float32"}}});
    if (swapped) {
      s.symbol = Op("SwapAxis", {.name = g_.Name("swapped"),
                                 .inputs = {s.symbol},
                                 .attrs = {{"dim1", "0"}, {"dim2", "1"}}});
    }
  }
  AddSequence(s);
  return s;
}

void RandomLayers::AddSequence(const Sequence& s) {
  sequences_.push_back(s);
  const int64_t outer = s.layout[0] == 'N' ? g_.batch() : s.length;
  const int64_t inner = s.layout[0] == 'N' ? s.length : g_.batch();
  g_.Add({s.symbol, {outer, inner, s.features}});
}

RNNCellPtr RandomLayers::StepCell(int64_t hidden) {
  const std::string prefix = g_.Name("cell") + "_";
  const int kind = static_cast<int>(g_.Between(0, g_.is_double() ? 3 : 2));
  if (g_.Chance(0.35)) {
    const double odd = g_.Chance(0.5) ? 0.3 : 0;
    return std::make_shared<RandomCell>(static_cast<RandomCell::Kind>(kind), hidden, prefix, odd,
                                        g_.random());
  }
  if (kind == 0) return std::make_shared<LSTMCell>(hidden, LSTMCellOptions{.prefix = prefix});
  if (kind == 1) return std::make_shared<GRUCell>(hidden, GRUCellOptions{.prefix = prefix});
  return std::make_shared<RNNCell>(
      hidden, RNNCellOptions{.activation = kind == 2 ? "tanh" : "relu", .prefix = prefix});
}

RNNCellPtr RandomLayers::Direction(int64_t features, int64_t hidden) {
  RNNCellPtr cell = StepCell(hidden);
  if (!g_.is_double() && g_.Chance(0.15)) {  // zoneout's zeros are float32
    cell = std::make_shared<ZoneoutCell>(
        cell,
        ZoneoutCellOptions{.zoneout_outputs = g_.Chance(0.5) ? 0.3 : 0, .zoneout_states = 0.3});
  }
  if (features == hidden && g_.Chance(0.5)) cell = std::make_shared<ResidualCell>(cell);
  return cell;
}

RandomLayers::Network RandomLayers::NewNetwork(int64_t features) {
  const auto stack = std::make_shared<SequentialRNNCell>();
  Network network{.cell = stack, .features = features, .outputs = features};
  RNNCellPtr last;
  int64_t last_features = 0;
  for (int64_t layers = g_.Between(1, 3); layers > 0; --layers) {
    const int64_t hidden = g_.Chance(0.4) ? network.outputs : g_.Between(2, 4);
    if (last != nullptr && last_features == network.outputs && g_.Chance(0.3)) {
      CHECK(stack->Add(last).ok());  // the weights of the layer below
      continue;
    }
    if (g_.Chance(0.25)) {
      const RNNCellPtr l = Direction(network.outputs, hidden);
      const RNNCellPtr r = Direction(network.outputs, hidden);
      CHECK(stack->Add(std::make_shared<BidirectionalCell>(l, r)).ok());
      network.outputs = 2 * hidden;
      last = nullptr;
    } else {
      last = Direction(network.outputs, hidden);
      last_features = network.outputs;
      CHECK(stack->Add(last).ok());
      network.outputs = hidden;
    }
    if (g_.Chance(0.2)) CHECK(stack->Add(std::make_shared<DropoutCell>(0.4)).ok());
  }
  networks_.push_back(network);
  return network;
}

std::vector<Symbol> RandomLayers::BeginState(BaseRNNCell& cell) {
  std::vector<Symbol> states;
  const bool variables = g_.Chance(0.3);
  const bool continued = g_.Chance(0.5);
  for (const StateInfo& info : cell.state_info()) {
    const Shape shape = {g_.batch(), info.shape[1]};
    std::vector<Symbol> fitting;
    for (const GraphValue& state : states_) {
      if (continued && state.shape == shape) fitting.push_back(state.symbol);
    }
    if (!fitting.empty()) {
      states.push_back(g_.Pick(fitting));
    } else if (variables) {
      states.push_back(g_.Variable(g_.Name("state"), shape));
    } else {
      states.push_back(Checked(Symbol::Create(
          "_zeros", {.attrs = {{"shape", shape.ToString()},
                               {"dtype", g_.is_double() ? "float64" : "float32"}}})));
    }
  }
  return states;
}

std::vector<Symbol> RandomLayers::Steps(const Sequence& s) {
  const Symbol split = Op("SliceChannel", {.name = g_.Name("steps"),
                                           .inputs = {s.symbol},
                                           .attrs = {{"num_outputs", absl::StrCat(s.length)},
                                                     {"axis", s.layout[0] == 'N' ? "1" : "0"},
                                                     {"squeeze_axis", "True"}}});
  std::vector<Symbol> steps;
  steps.reserve(s.length);
  for (int i = 0; i < s.length; ++i) steps.push_back(split[i]);
  if (g_.Chance(0.3)) std::reverse(steps.begin(), steps.end());
  if (g_.Chance(0.3) && steps.size() > 1) steps.pop_back();
  if (g_.Chance(0.15)) steps.push_back(steps[0]);
  if (g_.Chance(0.2)) {
    for (Symbol& step : steps) {
      step = Op("elemwise_mul", {.name = g_.Name("square"), .inputs = {step, step}});
    }
  }
  return steps;
}

// Returns the lengths n - 1, ..., 1, 0 of the rows, some of which exceed the sequence.
Symbol RandomLayers::Lengths() {
  const Symbol rising = Op(
      "_arange",
      {.name = g_.Name("rising"), .attrs = {{"start", "0"}, {"stop", absl::StrCat(g_.batch())}}});
  return Op("reverse",
            {.name = g_.Name("lengths"), .inputs = {rising}, .attrs = {{"axis", "(0,)"}}});
}

void RandomLayers::Unroll() {
  Sequence s = g_.Chance(0.25) ? NewSequence() : g_.Pick(sequences_);
  std::optional<Network> network;
  for (const Network& old : networks_) {
    if (old.features == s.features && g_.Chance(0.3)) network = old;
  }
  if (!network.has_value()) network = NewNetwork(s.features);
  SymbolSequence inputs = s.symbol;
  if (g_.Chance(0.4)) {
    std::vector<Symbol> steps = Steps(s);
    s.length = static_cast<int64_t>(steps.size());
    inputs = std::move(steps);
    s.layout = g_.Chance(0.5) ? "NTC" : "TNC";
  }
  UnrollOptions options{.begin_state = BeginState(*network->cell), .layout = s.layout};
  if (g_.Chance(0.8)) options.merge_outputs = g_.Chance(0.6);
  if (g_.Chance(0.45)) options.valid_length = Lengths();
  const Unrolled unrolled =
      Checked(network->cell->Unroll(static_cast<int>(s.length), inputs, options));
  s.features = network->outputs;
  if (unrolled.outputs.is_merged()) {
    s.symbol = unrolled.outputs.merged();
    AddSequence(s);
  } else {
    for (const Symbol& step : unrolled.outputs.steps()) g_.Add({step, {g_.batch(), s.features}});
  }
  const std::vector<StateInfo> info = network->cell->state_info();
  for (size_t i = 0; i < info.size(); ++i) {
    states_.push_back({unrolled.states[i], {g_.batch(), info[i].shape[1]}});
    if (g_.Chance(0.2)) g_.Add(states_.back());
  }
  if (g_.Chance(0.2)) AddWeight(*network->cell, unrolled);
  g_.AddResult(g_.values().back().symbol);
}

void RandomLayers::AddWeight(const BaseRNNCell& cell, const Unrolled& unrolled) {
  const auto& variables = cell.params()->variables();
  const auto it = std::next(variables.begin(), g_.Between(0, std::ssize(variables) - 1));
  const Symbol all = Checked(Symbol::Group({unrolled.outputs.symbols()[0], it->second}));
  KnownShapes known;
  for (const std::string& name : all.ListArguments()) {
    if (g_.shapes().contains(name)) known[name] = g_.shapes()[name];
  }
  const PartialShape shape = Checked(InferShapePartial(all, known)).outputs.back();
  if (!shape.IsFull()) return;
  g_.Add({it->second, shape.ToShape()});
  g_.shapes()[it->first] = shape;  // where nothing of the network is an output
}

void RandomLayers::StepByStep() {
  const int64_t hidden = g_.Between(2, 4);
  std::vector<Symbol> rows = {g_.Variable(g_.Name("rows"), {g_.batch(), hidden})};
  std::vector<RNNCellPtr> cells;
  std::vector<std::vector<Symbol>> states;
  for (int64_t i = g_.Between(1, 2); i > 0; --i) {
    cells.push_back(StepCell(hidden));
    states.push_back(BeginState(*cells.back()));
  }
  for (int64_t t = g_.Between(1, 4); t > 0; --t) {
    for (size_t c = 0; c < cells.size(); ++c) {
      const Symbol input = g_.Chance(0.5) ? rows[0] : g_.Pick(rows);
      const StepResult step = Checked(cells[c]->Step(input, states[c]));
      states[c] = step.states;
      if (g_.Chance(0.1)) {
        states[c][0] = Op("tanh", {.name = g_.Name("tanh"), .inputs = {step.output}});
      }
      rows.push_back(step.output);
    }
  }
  for (size_t i = 1; i < rows.size(); ++i) g_.Add({rows[i], {g_.batch(), hidden}});
  g_.AddResult(rows.back());
}

}  // namespace cooper
