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
#include "ndarray/status_macros.h"
#include "symbol/name_manager.h"
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

constexpr int64_t kHidden = 4;

RNNCellPtr Lstm(const std::string& prefix, double forget_bias = 1.0) {
  return std::make_shared<LSTMCell>(kHidden,
                                    LSTMCellOptions{.prefix = prefix, .forget_bias = forget_bias});
}

RNNCellPtr Gru(const std::string& prefix, int64_t num_hidden = kHidden) {
  return std::make_shared<GRUCell>(num_hidden, GRUCellOptions{.prefix = prefix});
}

RNNCellPtr Rnn(const std::string& prefix, const std::string& activation = "tanh",
               int64_t num_hidden = kHidden) {
  return std::make_shared<RNNCell>(num_hidden,
                                   RNNCellOptions{.activation = activation, .prefix = prefix});
}

RNNCellPtr Bidirectional(RNNCellPtr l, RNNCellPtr r) {
  return std::make_shared<BidirectionalCell>(std::move(l), std::move(r));
}

RNNCellPtr Sequential(const std::vector<RNNCellPtr>& cells) {
  auto sequential = std::make_shared<SequentialRNNCell>();
  for (const RNNCellPtr& cell : cells) sequential->Add(cell);
  return sequential;
}

absl::StatusOr<RNNMode> ModeFromName(absl::string_view name) {
  if (name == "rnn_relu") return RNNMode::kRnnRelu;
  if (name == "rnn_tanh") return RNNMode::kRnnTanh;
  if (name == "lstm") return RNNMode::kLstm;
  if (name == "gru") return RNNMode::kGru;
  return absl::UnimplementedError(absl::StrCat("mode of RNN: ", name));
}

std::shared_ptr<FusedRNNCell> Fused(RNNMode mode, int num_layers, bool bidirectional,
                                    const std::string& prefix) {
  return std::make_shared<FusedRNNCell>(kHidden,
                                        FusedRNNCellOptions{.num_layers = num_layers,
                                                            .mode = mode,
                                                            .bidirectional = bidirectional,
                                                            .get_next_state = !bidirectional,
                                                            .prefix = prefix});
}

// "lstm_l2_bi0"
absl::StatusOr<RNNCellPtr> MakeFused(absl::string_view name) {
  const bool bidirectional = absl::EndsWith(name, "_bi1");
  const absl::string_view without_bi = name.substr(0, name.size() - 4);
  const absl::string_view mode_name = without_bi.substr(0, without_bi.size() - 3);
  int num_layers = 0;
  if (!absl::SimpleAtoi(without_bi.substr(without_bi.size() - 1), &num_layers)) {
    return absl::UnimplementedError(absl::StrCat("fused cell ", name));
  }
  COOPER_ASSIGN_OR_RETURN(RNNMode mode, ModeFromName(mode_name));
  return RNNCellPtr(Fused(mode, num_layers, bidirectional, absl::StrCat("f", mode_name, "_")));
}

}  // namespace

absl::StatusOr<RNNCellPtr> MakeCell(const std::string& name) {
  if (name == "rnn_tanh") return Rnn("rnn_");
  if (name == "rnn_relu") return Rnn("rnn_", "relu");
  if (name == "lstm") return Lstm("lstm_");
  if (name == "lstm_forget_bias") return Lstm("lstm_", 2.0);
  if (name == "gru") return Gru("gru_");
  if (name == "sequential") return Sequential({Lstm("l0_"), Gru("l1_", 5), Rnn("l2_")});
  if (name == "bidirectional") return Bidirectional(Lstm("lf_"), Lstm("rb_"));
  if (name == "bidirectional_gru") return Bidirectional(Gru("lf_"), Gru("rb_", 5));
  if (name == "sequential_bi") {
    return Sequential({Bidirectional(Lstm("lf_"), Lstm("rb_")), Lstm("top_")});
  }
  if (name == "residual") {  // as wide as its input
    return Sequential({Rnn("l0_", "tanh", 5), std::make_shared<ResidualCell>(Gru("l1_", 5))});
  }
  if (name == "dropout0") {
    return Sequential({Lstm("l0_"), std::make_shared<DropoutCell>(0), Lstm("l1_")});
  }
  if (name == "zoneout0") return RNNCellPtr(std::make_shared<ZoneoutCell>(Lstm("lstm_")));
  if (name == "unfused_lstm_bi") return RNNCellPtr(Fused(RNNMode::kLstm, 2, true, "f_")->Unfuse());
  absl::string_view rest = name;
  if (absl::ConsumePrefix(&rest, "fused_")) return MakeFused(rest);
  if (absl::ConsumePrefix(&rest, "unfused_")) {
    COOPER_ASSIGN_OR_RETURN(RNNMode mode, ModeFromName(rest));
    return RNNCellPtr(Fused(mode, 2, false, absl::StrCat("f", rest, "_"))->Unfuse());
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
