#include "symbol/rnn/gated_cell.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/rnn/gate_weights.h"

namespace cooper {
namespace {

// Weights and biases of both products are packed and unpacked in the same way.
constexpr const char* kProducts[] = {"i2h", "h2h"};
constexpr const char* kKinds[] = {"_weight", "_bias"};

}  // namespace

GatedCell::GatedCell(Fields fields)
    : BaseRNNCell(std::move(fields.prefix), std::move(fields.params)),
      num_hidden_(fields.num_hidden),
      num_states_(fields.num_states),
      gates_(std::move(fields.gates)),
      i2h_weight_(params()->Get("i2h_weight")),
      i2h_bias_(params()->Get("i2h_bias", {.init = std::move(fields.i2h_bias_init)})),
      h2h_weight_(params()->Get("h2h_weight")),
      h2h_bias_(params()->Get("h2h_bias")) {}

std::vector<StateInfo> GatedCell::state_info() const {
  return std::vector<StateInfo>(num_states_, {{kUnknownDim, num_hidden_}, "NC"});
}

absl::StatusOr<Symbol> GatedCell::Product(const std::string& name, const Symbol& data,
                                          const Symbol& weight, const Symbol& bias) const {
  if (num_hidden_ < 1) {
    return absl::InvalidArgumentError(absl::StrCat("cell '", prefix(), "': num_hidden is ",
                                                   num_hidden_, ", expected at least 1"));
  }
  const int64_t gates = num_hidden_ * static_cast<int64_t>(gates_.size());
  return Symbol::Create("FullyConnected", {.name = name,
                                           .inputs = {data, weight, bias},
                                           .attrs = {{"num_hidden", absl::StrCat(gates)}}});
}

absl::StatusOr<ArrayMap> GatedCell::UnpackWeights(ArrayMap args) const {
  for (const char* product : kProducts) {
    for (const char* kind : kKinds) {
      const std::string name = absl::StrCat(prefix(), product, kind);
      COOPER_ASSIGN_OR_RETURN(const NDArray packed, ExtractArray(args, name));
      COOPER_ASSIGN_OR_RETURN(
          std::vector<NDArray> pieces,
          SplitRows(packed, name, static_cast<int>(gates_.size()), num_hidden_));
      for (size_t i = 0; i < gates_.size(); ++i) {
        args[absl::StrCat(prefix(), product, gates_[i], kind)] = std::move(pieces[i]);
      }
    }
  }
  return args;
}

absl::StatusOr<ArrayMap> GatedCell::PackWeights(ArrayMap args) const {
  for (const char* product : kProducts) {
    for (const char* kind : kKinds) {
      std::vector<NDArray> pieces;
      for (const std::string& gate : gates_) {
        const std::string name = absl::StrCat(prefix(), product, gate, kind);
        COOPER_ASSIGN_OR_RETURN(NDArray piece, ExtractArray(args, name));
        if (piece.shape().rank() < 1 || piece.shape()[0] != num_hidden_) {
          return absl::InvalidArgumentError(absl::StrCat("weight '", name, "' has shape ",
                                                         piece.shape().ToString(), ", expected ",
                                                         num_hidden_, " rows"));
        }
        if (!pieces.empty() && piece.shape() != pieces[0].shape()) {
          return absl::InvalidArgumentError(
              absl::StrCat("weight '", name, "' has shape ", piece.shape().ToString(),
                           ", that of the first gate has ", pieces[0].shape().ToString()));
        }
        pieces.push_back(std::move(piece));
      }
      const std::string name = absl::StrCat(prefix(), product, kind);
      COOPER_ASSIGN_OR_RETURN(args[name], AddContext(ConcatRows(pieces), "weight '", name, "'"));
    }
  }
  return args;
}

}  // namespace cooper
