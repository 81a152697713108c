#include "tests/passes/random_graph.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/executor_fixtures.h"
#include "glog/logging.h"
#include "ndarray/random.h"
#include "symbol/name_manager.h"
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
namespace {

template <typename T>
T Checked(absl::StatusOr<T> value) {
  CHECK(value.ok()) << value.status();
  return *std::move(value);
}

struct Value {
  Symbol symbol;
  Shape shape;
};

// Batch, time and features; "NTC" or "TNC".
struct Sequence {
  Symbol symbol;
  int64_t length = 0, features = 0;
  std::string layout;
};

// Cells that may be unrolled several times.
struct Network {
  RNNCellPtr cell;
  int64_t features = 0, outputs = 0;
};

class GraphMaker {
 public:
  explicit GraphMaker(uint64_t seed) : random_(seed) {
    graph_.dtype = Chance(0.6) ? DType::kFloat64 : DType::kFloat32;
    batch_ = Between(1, 3);
  }

  RandomGraph Make() {
    NewSequence();
    const int parts = Between(2, 5);
    for (int i = 0; i < parts; ++i) AddPart();
    graph_.symbol = WithInnerOutputs(Checked(Symbol::Group(Outputs())));
    // A weight may be used where nothing tells its type.
    for (const std::string& name : graph_.symbol.ListArguments()) {
      graph_.types.try_emplace(name, graph_.dtype);
    }
    ChooseRequests();
    return std::move(graph_);
  }

 private:
  bool is_double() const { return graph_.dtype == DType::kFloat64; }

  // Both included.
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_.NextBelow(high - low + 1));
  }
  bool Chance(double p) { return random_.NextUniform() < p; }
  template <typename T>
  T Pick(const std::vector<T>& from) {
    return from[random_.NextBelow(from.size())];
  }
  std::string Flag(double p) { return Chance(p) ? "True" : "False"; }
  std::string Name(const char* kind) { return absl::StrCat(kind, num_names_++); }

  Symbol Variable(const std::string& name, const Shape& shape) {
    graph_.shapes[name] = shape;
    graph_.types[name] = graph_.dtype;
    return Symbol::Variable(name);
  }
  Symbol ClassVariable(const Shape& shape, int64_t classes) {
    const std::string name = Name("label");
    graph_.classes[name] = classes;
    return Variable(name, shape);
  }

  // An operator's outputs with their shapes. Inputs that are not given are inferred from the
  // others.
  std::vector<Value> Outputs(const char* op, const std::vector<Value>& inputs,
                             const AttrMap& attrs = {}) {
    std::vector<Symbol> symbols, stand_ins;
    KnownShapes shapes;
    for (const Value& input : inputs) {
      symbols.push_back(input.symbol);
      stand_ins.push_back(Symbol::Variable(absl::StrCat("stand_in", stand_ins.size())));
      shapes[stand_ins.back().name()] = input.shape;
    }
    const Symbol symbol = Op(op, {.name = Name(op), .inputs = symbols, .attrs = attrs});
    const InferredShapes inferred =
        Checked(InferShape(Op(op, {.inputs = stand_ins, .attrs = attrs}), shapes));
    std::vector<Value> outputs;
    outputs.reserve(symbol.num_outputs());
    for (int i = 0; i < symbol.num_outputs(); ++i) {
      outputs.push_back({symbol[i], inferred.outputs[i].ToShape()});
    }
    return outputs;
  }
  Value Apply(const char* op, const std::vector<Value>& inputs, const AttrMap& attrs = {}) {
    return Outputs(op, inputs, attrs)[0];
  }
  void Add(Value value) { values_.push_back(std::move(value)); }

  void AddPart() {
    const double kind = random_.NextUniform();
    if (kind < 0.4) {
      Unroll();
    } else if (kind < 0.55) {
      StepByStep();
    } else if (kind < 0.75) {
      Classify();
    } else if (kind < 0.8) {
      UseOften();
    } else if (kind < 0.9) {
      CutAndJoin();
    } else {
      AddLoss();
    }
    for (int64_t i = Between(0, 4); i > 0; --i) Operate();
  }

  // ---- Recurrent layers ----

  Sequence NewSequence() {
    Sequence s{.length = Between(1, 5), .features = Between(2, 4)};
    s.layout = Chance(0.5) ? "NTC" : "TNC";
    const int64_t outer = s.layout[0] == 'N' ? batch_ : s.length;
    const int64_t inner = s.layout[0] == 'N' ? s.length : batch_;
    if (Chance(0.4)) {
      s.symbol = Variable(Name("data"), {outer, inner, s.features});
    } else {
      const bool swapped = Chance(0.5);
      const Shape shape = swapped ? Shape{inner, outer} : Shape{outer, inner};
      s.symbol = Op("Embedding", {.name = Name("embed"),
                                  .inputs = {ClassVariable(shape, 7)},
                                  .attrs = {{"input_dim", "7"},
                                            {"output_dim", absl::StrCat(s.features)},
                                            {"dtype", is_double() ? "float64" : "float32"}}});
      if (swapped) {
        s.symbol = Op("SwapAxis", {.name = Name("swapped"),
                                   .inputs = {s.symbol},
                                   .attrs = {{"dim1", "0"}, {"dim2", "1"}}});
      }
    }
    AddSequence(s);
    return s;
  }

  void AddSequence(const Sequence& s) {
    sequences_.push_back(s);
    const int64_t outer = s.layout[0] == 'N' ? batch_ : s.length;
    const int64_t inner = s.layout[0] == 'N' ? s.length : batch_;
    Add({s.symbol, {outer, inner, s.features}});
  }

  RNNCellPtr StepCell(int64_t hidden) {
    const std::string prefix = Name("cell") + "_";
    const int kind = static_cast<int>(Between(0, is_double() ? 3 : 2));
    if (Chance(0.35)) {
      const double odd = Chance(0.5) ? 0.3 : 0;
      return std::make_shared<RandomCell>(static_cast<RandomCell::Kind>(kind), hidden, prefix, odd,
                                          random_);
    }
    if (kind == 0) return std::make_shared<LSTMCell>(hidden, LSTMCellOptions{.prefix = prefix});
    if (kind == 1) return std::make_shared<GRUCell>(hidden, GRUCellOptions{.prefix = prefix});
    return std::make_shared<RNNCell>(
        hidden, RNNCellOptions{.activation = kind == 2 ? "tanh" : "relu", .prefix = prefix});
  }

  // One direction of a layer over `features` features.
  RNNCellPtr Direction(int64_t features, int64_t hidden) {
    RNNCellPtr cell = StepCell(hidden);
    if (!is_double() && Chance(0.15)) {  // zoneout's zeros are float32
      cell = std::make_shared<ZoneoutCell>(
          cell,
          ZoneoutCellOptions{.zoneout_outputs = Chance(0.5) ? 0.3 : 0, .zoneout_states = 0.3});
    }
    if (features == hidden && Chance(0.5)) cell = std::make_shared<ResidualCell>(cell);
    return cell;
  }

  Network NewNetwork(int64_t features) {
    const auto stack = std::make_shared<SequentialRNNCell>();
    Network network{.cell = stack, .features = features, .outputs = features};
    RNNCellPtr last;
    int64_t last_features = 0;
    for (int64_t layers = Between(1, 3); layers > 0; --layers) {
      const int64_t hidden = Chance(0.4) ? network.outputs : Between(2, 4);
      if (last != nullptr && last_features == network.outputs && Chance(0.3)) {
        stack->Add(last);  // the weights of the layer below
        continue;
      }
      if (Chance(0.25)) {
        const RNNCellPtr l = Direction(network.outputs, hidden);
        stack->Add(std::make_shared<BidirectionalCell>(l, Direction(network.outputs, hidden)));
        network.outputs = 2 * hidden;
        last = nullptr;
      } else {
        last = Direction(network.outputs, hidden);
        last_features = network.outputs;
        stack->Add(last);
        network.outputs = hidden;
      }
      if (Chance(0.2)) stack->Add(std::make_shared<DropoutCell>(0.4));
    }
    networks_.push_back(network);
    return network;
  }

  // Zeros, variables, or what another network ended with.
  std::vector<Symbol> BeginState(BaseRNNCell& cell) {
    std::vector<Symbol> states;
    const bool variables = Chance(0.3);
    const bool continued = Chance(0.5);
    for (const StateInfo& info : cell.state_info()) {
      const Shape shape = {batch_, info.shape[1]};
      std::vector<Symbol> fitting;
      for (const Value& state : states_) {
        if (continued && state.shape == shape) fitting.push_back(state.symbol);
      }
      if (!fitting.empty()) {
        states.push_back(Pick(fitting));
      } else if (variables) {
        states.push_back(Variable(Name("state"), shape));
      } else {
        states.push_back(Checked(
            Symbol::Create("_zeros", {.attrs = {{"shape", shape.ToString()},
                                                {"dtype", is_double() ? "float64" : "float32"}}})));
      }
    }
    return states;
  }

  // The steps of a sequence, some left out, in the other order, or one of them twice.
  std::vector<Symbol> Steps(const Sequence& s) {
    const Symbol split = Op("SliceChannel", {.name = Name("steps"),
                                             .inputs = {s.symbol},
                                             .attrs = {{"num_outputs", absl::StrCat(s.length)},
                                                       {"axis", s.layout[0] == 'N' ? "1" : "0"},
                                                       {"squeeze_axis", "True"}}});
    std::vector<Symbol> steps;
    steps.reserve(s.length);
    for (int i = 0; i < s.length; ++i) steps.push_back(split[i]);
    if (Chance(0.3)) std::reverse(steps.begin(), steps.end());
    if (Chance(0.3) && steps.size() > 1) steps.pop_back();
    if (Chance(0.15)) steps.push_back(steps[0]);
    if (Chance(0.2)) {
      for (Symbol& step : steps) {
        step = Op("elemwise_mul", {.name = Name("square"), .inputs = {step, step}});
      }
    }
    return steps;
  }

  void Unroll() {
    Sequence s = Chance(0.25) ? NewSequence() : Pick(sequences_);
    std::optional<Network> network;
    for (const Network& old : networks_) {
      if (old.features == s.features && Chance(0.3)) network = old;
    }
    if (!network.has_value()) network = NewNetwork(s.features);
    SymbolSequence inputs = s.symbol;
    if (Chance(0.4)) {
      std::vector<Symbol> steps = Steps(s);
      s.length = static_cast<int64_t>(steps.size());
      inputs = std::move(steps);
      s.layout = Chance(0.5) ? "NTC" : "TNC";
    }
    UnrollOptions options{.begin_state = BeginState(*network->cell), .layout = s.layout};
    if (Chance(0.8)) options.merge_outputs = Chance(0.6);
    const Unrolled unrolled =
        Checked(network->cell->Unroll(static_cast<int>(s.length), inputs, options));
    s.features = network->outputs;
    if (unrolled.outputs.is_merged()) {
      s.symbol = unrolled.outputs.merged();
      AddSequence(s);
    } else {
      for (const Symbol& step : unrolled.outputs.steps()) Add({step, {batch_, s.features}});
    }
    const std::vector<StateInfo> info = network->cell->state_info();
    for (size_t i = 0; i < info.size(); ++i) {
      states_.push_back({unrolled.states[i], {batch_, info[i].shape[1]}});
      if (Chance(0.2)) Add(states_.back());
    }
    if (Chance(0.2)) AddWeight(*network->cell, unrolled);
    results_.push_back(values_.back().symbol);
  }

  // One of the network's weights, for others to use.
  void AddWeight(const BaseRNNCell& cell, const Unrolled& unrolled) {
    const auto& variables = cell.params()->variables();
    const auto it = std::next(variables.begin(), Between(0, std::ssize(variables) - 1));
    const Symbol all = Checked(Symbol::Group({unrolled.outputs.symbols()[0], it->second}));
    KnownShapes known;
    for (const std::string& name : all.ListArguments()) {
      if (graph_.shapes.contains(name)) known[name] = graph_.shapes[name];
    }
    const PartialShape shape = Checked(InferShapePartial(all, known)).outputs.back();
    if (!shape.IsFull()) return;
    Add({it->second, shape.ToShape()});
    graph_.shapes[it->first] = shape;  // where nothing of the network is an output
  }

  // Cells whose steps take what the others gave before: decoders, layers that wait for each other.
  void StepByStep() {
    const int64_t hidden = Between(2, 4);
    std::vector<Symbol> rows = {Variable(Name("rows"), {batch_, hidden})};
    std::vector<RNNCellPtr> cells;
    std::vector<std::vector<Symbol>> states;
    for (int64_t i = Between(1, 2); i > 0; --i) {
      cells.push_back(StepCell(hidden));
      states.push_back(BeginState(*cells.back()));
    }
    for (int64_t t = Between(1, 4); t > 0; --t) {
      for (size_t c = 0; c < cells.size(); ++c) {
        const Symbol input = Chance(0.5) ? rows[0] : Pick(rows);
        const StepResult step = Checked(cells[c]->Step(input, states[c]));
        states[c] = step.states;
        if (Chance(0.1)) states[c][0] = Op("tanh", {.name = Name("tanh"), .inputs = {step.output}});
        rows.push_back(step.output);
      }
    }
    for (size_t i = 1; i < rows.size(); ++i) Add({rows[i], {batch_, hidden}});
    results_.push_back(rows.back());
  }

  // ---- Classifiers and other losses ----

  void Classify() {
    const Value source = Pick(values_);
    const int64_t classes = Between(2, 6);
    Value data = source;
    if (data.shape.rank() != 2 && Chance(0.8)) {
      const int64_t last = data.shape.rank() == 0 ? 1 : data.shape[data.shape.rank() - 1];
      data = Apply("Reshape", {data}, {{"shape", absl::StrCat("(-1, ", last, ")")}});
    }
    if (data.shape.rank() == 0) return;
    const bool flatten = data.shape.rank() != 2 || Chance(0.7);
    const Value scores = Apply("FullyConnected", {data},
                               {{"num_hidden", absl::StrCat(classes)},
                                {"no_bias", Flag(0.3)},
                                {"flatten", flatten ? "True" : "False"}});
    if (Chance(0.1)) Add(scores);
    AttrMap attrs = {{"use_ignore", Flag(0.5)},
                     {"ignore_label", absl::StrCat(Between(0, 1))},
                     {"normalization", Pick<std::string>({"null", "batch", "valid"})},
                     {"grad_scale", Pick<std::string>({"1", "0.25"})}};
    if (Chance(0.1)) attrs["multi_output"] = "True";
    if (Chance(0.1)) attrs["out_grad"] = "True";
    if (Chance(0.1)) attrs["smooth_alpha"] = "0.1";
    const Symbol softmax = Op(
        "SoftmaxOutput",
        {.name = Name("softmax"), .inputs = {scores.symbol, Label(scores, attrs)}, .attrs = attrs});
    results_.push_back(softmax);
    if (Chance(0.2)) Add({softmax, scores.shape});
  }

  Symbol Label(const Value& scores, const AttrMap& attrs) {
    const int64_t rows = scores.shape[0];
    const int64_t classes = scores.shape[1];
    if (attrs.contains("multi_output")) return ClassVariable({rows, 1}, classes);
    if (Chance(0.1)) return Variable(Name("probabilities"), scores.shape);
    if (Chance(0.5)) return ClassVariable({rows}, classes);
    // As a language model's: of two axes, or cut out of more.
    const Value wide{ClassVariable({1, rows}, classes), {1, rows}};
    return Apply("Reshape", {wide}, {{"shape", "(-1,)"}}).symbol;
  }

  void AddLoss() {
    const Value value = Apply("tanh", {Pick(values_)});
    if (Chance(0.5)) {
      const Symbol label = Variable(Name("target"), value.shape);
      results_.push_back(Op("LinearRegressionOutput",
                            {.name = Name("regression"), .inputs = {value.symbol, label}}));
    } else {
      const Value squares = Apply("square", {value});
      results_.push_back(Apply("MakeLoss", {Chance(0.5) ? Apply("mean", {squares}) : squares},
                               {{"grad_scale", "0.5"}})
                             .symbol);
    }
  }

  // ---- Other operators ----

  // A gradient that is a sum of many.
  void UseOften() {
    const Value value = Pick(values_);
    std::vector<Value> terms;
    for (int64_t i = Between(2, 6); i > 0; --i) {
      const double kind = random_.NextUniform();
      if (kind < 0.3) {
        terms.push_back(value);
      } else if (kind < 0.6) {
        terms.push_back(Elementwise(value));
      } else if (kind < 0.8) {
        terms.push_back(Apply("elemwise_mul", {value, Elementwise(value)}));
      } else {
        terms.push_back(Apply("elemwise_sub", {Elementwise(value), value}));
      }
    }
    Value sum = terms[0];
    if (Chance(0.5)) {
      sum = Apply("add_n", terms, {{"num_args", absl::StrCat(terms.size())}});
    } else {
      for (size_t i = 1; i < terms.size(); ++i) sum = Apply("elemwise_add", {sum, terms[i]});
    }
    Add(Apply("tanh", {sum}));
    results_.push_back(values_.back().symbol);
  }

  // Pieces of an array, of the size of whole cache lines, as those of large networks are, and now
  // and then of several tiles.
  void CutAndJoin() {
    const Shape shape =
        Chance(0.85) ? Shape({Between(2, 5), 2, 8}) : Shape({Between(2, 3), 40, 64});
    const std::string count = absl::StrCat(shape[0]);
    Value whole = {Variable(Name("steps"), shape), shape};
    if (Chance(0.8)) whole = Elementwise(whole);
    std::vector<Value> pieces;
    const double kind = random_.NextUniform();
    if (kind < 0.4) {
      pieces = Outputs("SliceChannel", {whole},
                       {{"num_outputs", count}, {"axis", "0"}, {"squeeze_axis", Flag(0.5)}});
    } else if (kind < 0.7) {
      pieces =
          Outputs("_split_v2", {whole}, {{"sections", count}, {"indices", "()"}, {"axis", "-3"}});
    } else {
      for (int64_t i = Between(1, shape[0]); i > 0; --i) pieces.push_back(Part(whole));
    }
    for (Value& piece : pieces) {
      if (Chance(0.6)) piece = Elementwise(piece);
      if (Chance(0.2)) piece = Apply("Reshape", {piece}, {{"shape", "(-1, 4, 4)"}});
      if (Chance(0.2)) Add(piece);
    }
    std::vector<Value> same;
    for (const Value& piece : pieces) {
      if (piece.shape == pieces[0].shape) same.push_back(piece);
    }
    if (Chance(0.2)) same.push_back(Pick(same));
    const std::string num_args = absl::StrCat(same.size());
    Value joined = Chance(0.5) ? Apply("Concat", same, {{"dim", "0"}, {"num_args", num_args}})
                               : Apply("stack", same, {{"axis", "0"}, {"num_args", num_args}});
    // Parts of it that overlap it, beside the whole.
    if (Chance(0.3)) Add(Elementwise(Part(joined)));
    if (Chance(0.3)) {
      const int64_t end = Between(1, joined.shape[0]);
      const Value row =
          Apply("slice_axis", {joined},
                {{"axis", "0"}, {"begin", absl::StrCat(end - 1)}, {"end", absl::StrCat(end)}});
      joined = Apply(Pick<const char*>({"broadcast_sub", "broadcast_add"}), {joined, row});
    }
    if (Chance(0.5)) joined = Elementwise(joined);
    Add(joined);
    results_.push_back(joined.symbol);
  }

  // Some of the whole's first axis, in one place or not.
  Value Part(const Value& whole) {
    const int64_t begin = Between(0, whole.shape[0] - 1);
    const std::string first = absl::StrCat(begin);
    const std::string end = absl::StrCat(Between(begin + 1, whole.shape[0]));
    if (Chance(0.6)) {
      return Apply("slice_axis", {whole}, {{"axis", "0"}, {"begin", first}, {"end", end}});
    }
    return Apply("slice", {whole},
                 {{"begin", absl::StrCat("(", first, ",)")},
                  {"end", absl::StrCat("(", end, ",)")},
                  {"step", absl::StrCat("(", Between(1, 2), ",)")}});
  }

  // A product of matrices that may have to be transposed for it.
  Value Multiply(const Value& value) {
    const bool batched = value.shape.rank() > 2;
    const int last = value.shape.rank() - 1;
    const auto transposed = [&](const Value& x) {
      return Apply("SwapAxis", {x},
                   {{"dim1", absl::StrCat(last)}, {"dim2", absl::StrCat(last - 1)}});
    };
    // One side is the other's transpose: they fit.
    Value other = Chance(0.5) ? value : Elementwise(value);
    AttrMap attrs = {{"transpose_b", "True"}};
    if (Chance(0.7)) {
      other = transposed(other);
      attrs = {};
    }
    const Value product = Apply(batched ? "batch_dot" : "dot", {value, other}, attrs);
    return Apply("tanh", {Chance(0.3) ? transposed(product) : product});
  }

  Value Elementwise(const Value& value) {
    std::vector<const char*> ops = {"tanh",     "sigmoid",   "_copy",       "square",
                                    "negative", "BlockGrad", "_mul_scalar", "Dropout"};
    if (is_double()) ops.insert(ops.end(), {"relu", "abs"});
    const std::string op = Pick(ops);
    AttrMap attrs;
    if (op == "_mul_scalar") attrs = {{"scalar", "-0.7"}};
    if (op == "Dropout") attrs = {{"p", "0.3"}};
    const Value result = Apply(op.c_str(), {value}, attrs);
    return op == "square" ? Apply("tanh", {result}) : result;
  }

  std::vector<const char*> PairOps() const {
    if (is_double()) return {"elemwise_add", "elemwise_sub", "elemwise_mul", "_maximum"};
    return {"elemwise_add", "elemwise_sub", "elemwise_mul"};
  }

  void Operate() {
    const Value value = Pick(values_);
    const int rank = value.shape.rank();
    std::vector<Value> same;  // values that can be summed
    for (const Value& other : values_) {
      if (other.shape == value.shape) same.push_back(other);
    }
    const std::string axis = absl::StrCat(Between(0, std::max(0, rank - 1)));
    const std::string last = absl::StrCat(rank - 1);
    const int64_t extent = rank == 0 ? 1 : value.shape[rank - 1];
    switch (Between(0, rank == 0 ? 2 : 14)) {
      case 0:
      case 1:
        return Add(Elementwise(value));
      case 2:
        return Add(Apply("tanh", {Apply(Pick(PairOps()), {value, Pick(same)})}));
      case 3:
        return Add(Apply("Reshape", {value}, {{"shape", "(-1,)"}}));
      case 4:
        return Add(Apply("Flatten", {value}));
      case 5:
        return Add(Apply("expand_dims", {value}, {{"axis", axis}}));
      case 6:
        return Add(Apply("transpose", {value}));
      case 7: {
        const Value swapped = Apply("SwapAxis", {value}, {{"dim1", axis}, {"dim2", last}});
        if (Chance(0.5)) Add(Apply("SwapAxis", {swapped}, {{"dim1", last}, {"dim2", axis}}));
        return Add(swapped);
      }
      case 8:
        return Add(Apply("reverse", {value}, {{"axis", axis}}));
      case 9: {
        const std::string end = absl::StrCat(Between(1, extent));
        return Add(Apply("slice_axis", {value}, {{"axis", last}, {"begin", "0"}, {"end", end}}));
      }
      case 10: {
        const auto parts = Outputs("SliceChannel", {value},
                                   {{"num_outputs", absl::StrCat(extent)},
                                    {"axis", last},
                                    {"squeeze_axis", rank > 1 ? Flag(0.5) : "False"}});
        return Add(Pick(parts));
      }
      case 11: {
        std::vector<Value> parts = {value, Pick(same), Pick(same)};
        return Add(Apply("Concat", parts, {{"dim", axis}, {"num_args", "3"}}));
      }
      case 12:
        return Add(Apply(Pick<const char*>({"sum", "mean"}), {value},
                         {{"axis", axis}, {"keepdims", rank > 1 ? Flag(0.5) : "True"}}));
      case 13:
        if (rank < 2) return;
        return Add(Multiply(value));
      default:
        if (rank != 2) return;
        if (Chance(0.3)) return Add(Apply("BatchNorm", {value}, {{"fix_gamma", Flag(0.5)}}));
        return Add(Apply("FullyConnected", {value},
                         {{"num_hidden", absl::StrCat(Between(2, 4))}, {"no_bias", Flag(0.5)}}));
    }
  }

  // ---- The whole ----

  std::vector<Symbol> Outputs() {
    std::vector<Symbol> outputs = results_;
    for (int64_t i = Between(1, 3); i > 0; --i) outputs.push_back(Pick(values_).symbol);
    random_.Shuffle(outputs);
    return outputs;
  }

  // Inner values that are seen from outside, or used once more.
  Symbol WithInnerOutputs(const Symbol& symbol) {
    if (Chance(0.6)) return symbol;
    const Symbol inner = symbol.GetInternals();
    std::vector<Symbol> outputs = {symbol};
    for (int64_t i = Between(1, 2); i > 0; --i) {
      Symbol value = inner[static_cast<int>(Between(0, inner.num_outputs() - 1))];
      if (Chance(0.5)) value = Op("tanh", {.name = Name("tanh"), .inputs = {value}});
      outputs.push_back(std::move(value));
    }
    return Checked(Symbol::Group(outputs));
  }

  void ChooseRequests() {
    const std::vector<WriteReq> all = {WriteReq::kWrite, WriteReq::kAdd, WriteReq::kNull};
    const WriteReq one = Chance(0.7) ? WriteReq::kWrite : WriteReq::kAdd;
    const bool mixed = Chance(0.5);
    std::vector<std::string> used = graph_.symbol.ListArguments();
    std::sort(used.begin(), used.end());
    for (const std::string& name : used) {
      const bool none = graph_.classes.contains(name) && Chance(0.8);
      graph_.grad_reqs[name] = none ? WriteReq::kNull : mixed ? Pick(all) : one;
    }
    auto unused = [&](const auto& item) {
      return !std::binary_search(used.begin(), used.end(), item.first);
    };
    std::erase_if(graph_.shapes, unused);
    std::erase_if(graph_.types, unused);
    std::erase_if(graph_.classes, unused);
  }

  NameManager names_;  // automatic names begin anew
  RandomGenerator random_;
  int64_t batch_ = 0;
  int num_names_ = 0;
  std::vector<Value> values_;
  std::vector<Value> states_;
  std::vector<Sequence> sequences_;
  std::vector<Network> networks_;
  std::vector<Symbol> results_;  // that are to be outputs
  RandomGraph graph_;
};

}  // namespace

RandomGraph MakeRandomGraph(uint64_t seed) { return GraphMaker(seed).Make(); }

}  // namespace cooper
