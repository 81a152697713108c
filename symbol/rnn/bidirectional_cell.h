#ifndef COOPER_SYMBOL_RNN_BIDIRECTIONAL_CELL_H_
#define COOPER_SYMBOL_RNN_BIDIRECTIONAL_CELL_H_

// Two cells over one sequence, the second in reverse; their outputs are concatenated. The cell can
// only be unrolled.

#include <memory>
#include <string>
#include <vector>

#include "symbol/rnn/composed_cell.h"

namespace cooper {

// Options of BidirectionalCell. Nodes that join the outputs are named after output_prefix.
struct BidirectionalCellOptions {
  std::string output_prefix = "bi_";
  std::shared_ptr<RNNParams> params = nullptr;  // container for the cells' variables
};

// A cell whose `l_cell` reads the steps in order and whose `r_cell` reads them in reverse. Output t
// is the concatenation along the last axis of both cells' outputs for step t: (batch_size, l + r
// features). The two cells share no weights unless they share RNNParams.
class BidirectionalCell : public ComposedCell {
 public:
  BidirectionalCell(RNNCellPtr l_cell, RNNCellPtr r_cell, BidirectionalCellOptions options = {});

  // Fails with kUnimplemented.
  absl::StatusOr<StepResult> Step(const Symbol& input, const std::vector<Symbol>& states) override;
  // States are the first cell's, then the second's (which MXNet gives as two lists). The second
  // cell begins at each row's last valid step according to valid_length, else at the last step.
  absl::StatusOr<Unrolled> Unroll(int length, const SymbolSequence& inputs,
                                  const UnrollOptions& options = {}) override;

 protected:
  std::string Description() const override;

 private:
  // Unroll with valid_length.
  absl::StatusOr<Unrolled> UnrollLengths(int length, const SymbolSequence& inputs,
                                         const UnrollOptions& options);
  // Concatenates the outputs of both cells, for each step or for the whole sequence.
  absl::StatusOr<SymbolSequence> JoinOutputs(int length, const SymbolSequence& l,
                                             const SymbolSequence& r, const std::string& layout,
                                             std::optional<bool> merge) const;

  std::string output_prefix_;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_BIDIRECTIONAL_CELL_H_
