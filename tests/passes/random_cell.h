#ifndef COOPER_TESTS_PASSES_RANDOM_CELL_H_
#define COOPER_TESTS_PASSES_RANDOM_CELL_H_

// A recurrent cell as a user might write it: operands in any order, functions under any of their
// names. Some steps differ from the standard cell or expose inner values, so that a pass must not
// replace them by a layer.

#include <string>
#include <vector>

#include "ndarray/random/random.h"
#include "symbol/rnn/base_rnn_cell.h"

namespace cooper {

class RandomCell : public BaseRNNCell {
 public:
  enum class Kind { kLstm, kGru, kTanh, kRelu };

  // `odd` is the probability that a step differs from the standard cell. `random` must outlive the
  // cell.
  RandomCell(Kind kind, int64_t num_hidden, std::string prefix, double odd,
             RandomGenerator& random);

  std::vector<StateInfo> state_info() const override;
  absl::StatusOr<StepResult> Step(const Symbol& input, const std::vector<Symbol>& states) override;

 private:
  // The ways in which a step may differ; some have no effect on some kinds.
  enum class Oddity { kNone, kGatesInAnotherOrder, kAnotherFunction, kInnerValueIsUsed };

  int gates() const;
  Symbol Product(const char* which, const Symbol& data);
  Symbol Either(const char* op, const Symbol& a, const Symbol& b);
  Symbol Function(const char* name, const Symbol& x);
  Symbol Split(const Symbol& whole);
  StepResult LstmStep(const Symbol& input, const std::vector<Symbol>& states);
  StepResult GruStep(const Symbol& input, const Symbol& state);
  StepResult PlainStep(const Symbol& input, const Symbol& state);

  Kind kind_;
  int64_t num_hidden_;
  double odd_;
  RandomGenerator& random_;
  Oddity oddity_ = Oddity::kNone;  // of the step under construction
};

}  // namespace cooper

#endif  // COOPER_TESTS_PASSES_RANDOM_CELL_H_
