#ifndef COOPER_SYMBOL_RNN_BIDIRECTIONAL_CELL_H_
#define COOPER_SYMBOL_RNN_BIDIRECTIONAL_CELL_H_

// Two cells over one sequence, the second from its end; the outputs of both stand beside each
// other. It can be unrolled only.

#include <memory>
#include <string>
#include <vector>

#include "symbol/rnn/composed_cell.h"

namespace cooper {

struct BidirectionalCellOptions {
  std::string output_prefix = "bi_";
  std::shared_ptr<RNNParams> params = nullptr;  // where the cells' variables are collected
};

class BidirectionalCell : public ComposedCell {
 public:
  BidirectionalCell(RNNCellPtr l_cell, RNNCellPtr r_cell, BidirectionalCellOptions options = {});

  absl::StatusOr<StepResult> Step(const Symbol& input, const std::vector<Symbol>& states) override;
  // States are the first cell's, then the second's (which MXNet gives as two lists). The second
  // cell begins at the last step of each row that valid_length says is real, else at the last one.
  absl::StatusOr<Unrolled> Unroll(int length, const SymbolSequence& inputs,
                                  const UnrollOptions& options = {}) override;

 protected:
  std::string Description() const override;

 private:
  // Unroll with valid_length.
  absl::StatusOr<Unrolled> UnrollLengths(int length, const SymbolSequence& inputs,
                                         const UnrollOptions& options);
  // Both outputs of each step, or of the whole sequence, beside each other.
  absl::StatusOr<SymbolSequence> JoinOutputs(int length, const SymbolSequence& l,
                                             const SymbolSequence& r, const std::string& layout,
                                             std::optional<bool> merge) const;

  std::string output_prefix_;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_BIDIRECTIONAL_CELL_H_
