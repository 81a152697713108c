#include "tests/conformance/rnn_cells.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/name_manager.h"
#include "symbol/rnn/bidirectional_cell.h"
#include "symbol/rnn/dropout_cell.h"
#include "symbol/rnn/fused_rnn_cell.h"
#include "symbol/rnn/gru_cell.h"
#include "symbol/rnn/lstm_cell.h"
#include "symbol/rnn/residual_cell.h"
#include "symbol/rnn/rnn_cell.h"
#include "symbol/rnn/sequential_rnn_cell.h"
#include "symbol/rnn/zoneout_cell.h"

namespace cooper::conformance {
namespace {

// Creates the cells of one case, with the sizes of its arguments and states.
class CellMaker {
 public:
  explicit CellMaker(const Json& json) : json_(json) {}

  RNNCellPtr Lstm(const std::string& prefix, double forget_bias = 1.0) const {
    return std::make_shared<LSTMCell>(
        Hidden(prefix), LSTMCellOptions{.prefix = prefix, .forget_bias = forget_bias});
  }
  RNNCellPtr Gru(const std::string& prefix) const {
    return std::make_shared<GRUCell>(Hidden(prefix), GRUCellOptions{.prefix = prefix});
  }
  RNNCellPtr Rnn(const std::string& prefix, const std::string& activation = "tanh") const {
    return std::make_shared<RNNCell>(Hidden(prefix),
                                     RNNCellOptions{.activation = activation, .prefix = prefix});
  }
  std::shared_ptr<FusedRNNCell> Fused(RNNMode mode, int num_layers, bool bidirectional,
                                      const std::string& prefix) const {
    // The last axis of a state, fused (L, N, C) or not (N, C).
    const int64_t hidden = json_.at("state_info").at(0).at("shape").back().get<int64_t>();
    return std::make_shared<FusedRNNCell>(hidden,
                                          FusedRNNCellOptions{.num_layers = num_layers,
                                                              .mode = mode,
                                                              .bidirectional = bidirectional,
                                                              .get_next_state = !bidirectional,
                                                              .prefix = prefix});
  }

 private:
  // Returns the number of hidden units: h2h_weight is (gates * hidden, hidden).
  int64_t Hidden(const std::string& prefix) const {
    return json_.at("arg_shapes").at(prefix + "h2h_weight").at(1).get<int64_t>();
  }

  const Json& json_;
};

RNNCellPtr Bidirectional(RNNCellPtr l, RNNCellPtr r) {
  return std::make_shared<BidirectionalCell>(std::move(l), std::move(r));
}

absl::StatusOr<RNNCellPtr> Sequential(const std::vector<RNNCellPtr>& cells) {
  auto sequential = std::make_shared<SequentialRNNCell>();
  for (const RNNCellPtr& cell : cells) COOPER_RETURN_IF_ERROR(sequential->Add(cell));
  return sequential;
}

absl::StatusOr<RNNMode> ModeFromName(absl::string_view name) {
  if (name == "rnn_relu") return RNNMode::kRnnRelu;
  if (name == "rnn_tanh") return RNNMode::kRnnTanh;
  if (name == "lstm") return RNNMode::kLstm;
  if (name == "gru") return RNNMode::kGru;
  return absl::UnimplementedError(absl::StrCat("mode of RNN: ", name));
}

// Creates the cell of a name such as "lstm_l2_bi0": mode, number of layers, whether bidirectional.
absl::StatusOr<RNNCellPtr> MakeFused(const CellMaker& maker, absl::string_view name) {
  const bool bidirectional = absl::EndsWith(name, "_bi1");
  const absl::string_view without_bi = name.substr(0, name.size() - 4);
  const absl::string_view mode_name = without_bi.substr(0, without_bi.size() - 3);
  int num_layers = 0;
  if (!absl::SimpleAtoi(without_bi.substr(without_bi.size() - 1), &num_layers)) {
    return absl::UnimplementedError(absl::StrCat("fused cell ", name));
  }
  COOPER_ASSIGN_OR_RETURN(RNNMode mode, ModeFromName(mode_name));
  return RNNCellPtr(
      maker.Fused(mode, num_layers, bidirectional, absl::StrCat("f", mode_name, "_")));
}

}  // namespace

absl::StatusOr<RNNCellPtr> MakeCell(const Json& json) {
  const std::string name = json.at("cell").get<std::string>();
  const CellMaker make(json);
  if (name == "rnn_tanh") return make.Rnn("rnn_");
  if (name == "rnn_relu") return make.Rnn("rnn_", "relu");
  if (name == "lstm") return make.Lstm("lstm_");
  if (name == "lstm_forget_bias") return make.Lstm("lstm_", 2.0);
  if (name == "gru") return make.Gru("gru_");
  if (name == "sequential") return Sequential({make.Lstm("l0_"), make.Gru("l1_"), make.Rnn("l2_")});
  if (name == "bidirectional") return Bidirectional(make.Lstm("lf_"), make.Lstm("rb_"));
  if (name == "bidirectional_gru") return Bidirectional(make.Gru("lf_"), make.Gru("rb_"));
  if (name == "sequential_bi") {
    return Sequential({Bidirectional(make.Lstm("lf_"), make.Lstm("rb_")), make.Lstm("top_")});
  }
  if (name == "residual") {
    return Sequential({make.Rnn("l0_"), std::make_shared<ResidualCell>(make.Gru("l1_"))});
  }
  if (name == "dropout0") {
    return Sequential({make.Lstm("l0_"), std::make_shared<DropoutCell>(0), make.Lstm("l1_")});
  }
  if (name == "zoneout0") return RNNCellPtr(std::make_shared<ZoneoutCell>(make.Lstm("lstm_")));
  if (name == "unfused_lstm_bi") {
    return RNNCellPtr(make.Fused(RNNMode::kLstm, 2, true, "f_")->Unfuse());
  }
  absl::string_view rest = name;
  if (absl::ConsumePrefix(&rest, "fused_")) return MakeFused(make, rest);
  if (absl::ConsumePrefix(&rest, "unfused_")) {
    COOPER_ASSIGN_OR_RETURN(RNNMode mode, ModeFromName(rest));
    return RNNCellPtr(make.Fused(mode, 2, false, absl::StrCat("f", rest, "_"))->Unfuse());
  }
  return absl::UnimplementedError("cell " + name);
}

absl::StatusOr<RNNCellPtr> Unfused(const RNNCellPtr& cell) {
  const auto fused = std::dynamic_pointer_cast<FusedRNNCell>(cell);
  if (fused == nullptr) return absl::InvalidArgumentError("not a fused cell");
  return RNNCellPtr(fused->Unfuse());
}

absl::StatusOr<Symbol> UnrollCell(BaseRNNCell& cell, const Json& json) {
  NameManager names;  // counts from 0, as the cases do
  std::vector<Symbol> inputs;
  for (const auto& [name, shape] : json.at("inputs").items()) {
    inputs.push_back(Symbol::Variable(name));
  }
  const UnrollOptions options = {.begin_state = std::nullopt,
                                 .layout = json.at("layout").get<std::string>(),
                                 .merge_outputs = json.at("merge_outputs").get<bool>()};
  const SymbolSequence sequence =
      inputs.size() == 1 ? SymbolSequence(inputs[0]) : SymbolSequence(inputs);
  COOPER_ASSIGN_OR_RETURN(Unrolled unrolled,
                          cell.Unroll(json.at("length").get<int>(), sequence, options));
  std::vector<Symbol> outputs = unrolled.outputs.symbols();
  if (outputs.size() != json.at("num_output_symbols").get<size_t>()) {
    return absl::UnknownError(absl::StrCat("unrolling gives ", outputs.size(),
                                           " output symbols, expected ",
                                           json.at("num_output_symbols").dump()));
  }
  outputs.insert(outputs.end(), unrolled.states.begin(), unrolled.states.end());
  return Symbol::Group(outputs);
}

absl::Status CheckStateInfo(const BaseRNNCell& cell, const Json& json) {
  const std::vector<StateInfo> got = cell.state_info();
  if (got.size() != json.size()) {
    return absl::UnknownError(
        absl::StrCat("the cell has ", got.size(), " states, expected ", json.size()));
  }
  for (size_t i = 0; i < got.size(); ++i) {
    const std::string what = absl::StrCat("state ", i);
    COOPER_RETURN_IF_ERROR(CompareShapes(what, got[i].shape, json[i].at("shape")));
    COOPER_RETURN_IF_ERROR(
        CompareTexts(what, got[i].layout, json[i].at("layout").get<std::string>()));
  }
  return absl::OkStatus();
}

absl::Status CheckPacking(const BaseRNNCell& cell, const Arrays& packed, const Arrays& unpacked) {
  constexpr Tolerance kExact = {.rtol = 0, .atol = 0};
  const auto compare = [&](const char* what, const Arrays& got, const Arrays& expected) {
    if (got.size() != expected.size()) {
      return absl::UnknownError(
          absl::StrCat(what, " gives ", got.size(), " arrays, expected ", expected.size()));
    }
    for (const auto& [name, array] : expected) {
      COOPER_ASSIGN_OR_RETURN(NDArray one, FindArray(got, name));
      COOPER_RETURN_IF_ERROR(CompareArrays(absl::StrCat(what, ": ", name), one, array, kExact));
    }
    return absl::OkStatus();
  };
  COOPER_ASSIGN_OR_RETURN(ArrayMap got, cell.UnpackWeights(packed));
  COOPER_RETURN_IF_ERROR(compare("unpacking", got, unpacked));
  COOPER_ASSIGN_OR_RETURN(got, cell.PackWeights(unpacked));
  return compare("packing", got, packed);
}

}  // namespace cooper::conformance
