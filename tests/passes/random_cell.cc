#include "tests/passes/random_cell.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/executor_fixtures.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

RandomCell::RandomCell(Kind kind, int64_t num_hidden, std::string prefix, double odd,
                       RandomGenerator& random)
    : BaseRNNCell(std::move(prefix), nullptr),
      kind_(kind),
      num_hidden_(num_hidden),
      odd_(odd),
      random_(random) {
  // Creates the variables early, since containers collect them before the first step.
  for (const char* name : {"i2h_weight", "i2h_bias", "h2h_weight", "h2h_bias"}) {
    params()->Get(name);
  }
}

std::vector<StateInfo> RandomCell::state_info() const {
  return std::vector<StateInfo>(kind_ == Kind::kLstm ? 2 : 1, {{kUnknownDim, num_hidden_}, "NC"});
}

int RandomCell::gates() const { return kind_ == Kind::kLstm ? 4 : kind_ == Kind::kGru ? 3 : 1; }

absl::StatusOr<StepResult> RandomCell::Step(const Symbol& input,
                                            const std::vector<Symbol>& states) {
  COOPER_RETURN_IF_ERROR(CheckStates(states));
  oddity_ =
      random_.NextUniform() < odd_ ? static_cast<Oddity>(1 + random_.NextBelow(3)) : Oddity::kNone;
  if (kind_ == Kind::kLstm) return LstmStep(input, states);
  if (kind_ == Kind::kGru) return GruStep(input, states[0]);
  return PlainStep(input, states[0]);
}

Symbol RandomCell::Product(const char* which, const Symbol& data) {
  return Op("FullyConnected", {.inputs = {data, params()->Get(absl::StrCat(which, "_weight")),
                                          params()->Get(absl::StrCat(which, "_bias"))},
                               .attrs = {{"num_hidden", absl::StrCat(num_hidden_ * gates())}}});
}

Symbol RandomCell::Either(const char* op, const Symbol& a, const Symbol& b) {
  if (random_.NextBelow(2) == 0) return Op(op, {.inputs = {a, b}});
  return Op(op, {.inputs = {b, a}});
}

Symbol RandomCell::Function(const char* name, const Symbol& x) {
  if (random_.NextBelow(2) == 0) return Op(name, {.inputs = {x}});
  return Op("Activation", {.inputs = {x}, .attrs = {{"act_type", name}}});
}

Symbol RandomCell::Split(const Symbol& whole) {
  return Op("SliceChannel", {.inputs = {whole},
                             .attrs = {{"num_outputs", absl::StrCat(gates())},
                                       {"axis", random_.NextBelow(2) == 0 ? "1" : "-1"}}});
}

StepResult RandomCell::LstmStep(const Symbol& input, const std::vector<Symbol>& states) {
  const Symbol gates =
      Split(Either("elemwise_add", Product("i2h", input), Product("h2h", states[0])));
  const int first = oddity_ == Oddity::kGatesInAnotherOrder ? 1 : 0;
  const Symbol in = Function("sigmoid", gates[first]);
  const Symbol forget = Function("sigmoid", gates[1 - first]);
  const Symbol candidate =
      Function(oddity_ == Oddity::kAnotherFunction ? "sigmoid" : "tanh", gates[2]);
  const Symbol out = Function("sigmoid", gates[3]);
  const Symbol c = Either("elemwise_add", Either("elemwise_mul", forget, states[1]),
                          Either("elemwise_mul", in, candidate));
  const Symbol h = Either("elemwise_mul", out, Function("tanh", c));
  if (oddity_ != Oddity::kInnerValueIsUsed) return {h, {h, c}};
  return {Either("elemwise_add", h, random_.NextBelow(2) == 0 ? forget : c), {h, c}};
}

StepResult RandomCell::GruStep(const Symbol& input, const Symbol& state) {
  const Symbol x = Split(Product("i2h", input));
  const Symbol h = Split(Product("h2h", state));
  const int first = oddity_ == Oddity::kGatesInAnotherOrder ? 1 : 0;
  const Symbol reset = Function("sigmoid", Either("elemwise_add", x[first], h[first]));
  const Symbol update = Function("sigmoid", Either("elemwise_add", x[1 - first], h[1 - first]));
  const Symbol candidate =
      Function("tanh", Either("elemwise_add", x[2], Either("elemwise_mul", reset, h[2])));
  const Symbol rest =
      Op("_rminus_scalar",
         {.inputs = {update},
          .attrs = {{"scalar", oddity_ == Oddity::kAnotherFunction ? "1.5" : "1.0"}}});
  const Symbol next = Either("elemwise_add", Either("elemwise_mul", rest, candidate),
                             Either("elemwise_mul", update, state));
  if (oddity_ != Oddity::kInnerValueIsUsed) return {next, {next}};
  return {Either("elemwise_add", next, random_.NextBelow(2) == 0 ? update : h[2]), {next}};
}

StepResult RandomCell::PlainStep(const Symbol& input, const Symbol& state) {
  const Symbol product = Product("i2h", input);
  const Symbol sum = Either("elemwise_add", product, Product("h2h", state));
  const char* name = kind_ == Kind::kTanh ? "tanh" : "relu";
  const Symbol h = Function(oddity_ == Oddity::kAnotherFunction ? "sigmoid" : name, sum);
  if (oddity_ != Oddity::kInnerValueIsUsed) return {h, {h}};
  return {Either("elemwise_add", h, random_.NextBelow(2) == 0 ? product : sum), {h}};
}

}  // namespace cooper
