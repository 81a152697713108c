#ifndef COOPER_SYMBOL_RNN_MODIFIER_CELL_H_
#define COOPER_SYMBOL_RNN_MODIFIER_CELL_H_

// The base of cells that modify the behaviour of another cell, their base cell. After construction
// the modifier must be called instead of the base cell.

#include <memory>
#include <string>
#include <vector>

#include "symbol/rnn/base_rnn_cell.h"

namespace cooper {

// Delegates states and weights to the base cell, whose ownership it shares. BeginState of the base
// fails with kFailedPrecondition while it has a modifier, so that a user does not unroll the base
// by mistake.
class ModifierCell : public BaseRNNCell {
 public:
  // Makes this cell the modifier of `base`, which must not be null, for the rest of the base's
  // life. A modifier may be the base of another one.
  explicit ModifierCell(RNNCellPtr base);

  const RNNCellPtr& base() const { return base_; }

  void Reset() override;
  std::vector<StateInfo> state_info() const override { return base_->state_info(); }
  absl::StatusOr<std::vector<Symbol>> BeginState(const StateFn& make = ZeroStates()) override;
  absl::StatusOr<ArrayMap> UnpackWeights(ArrayMap args) const override;
  absl::StatusOr<ArrayMap> PackWeights(ArrayMap args) const override;
  const std::shared_ptr<RNNParams>& params() const override { return base_->params(); }

 protected:
  std::string Description() const override { return base_->Description(); }
  // Unrolls the base cell, whose BeginState fails for all other callers.
  absl::StatusOr<Unrolled> UnrollBase(int length, const SymbolSequence& inputs,
                                      const UnrollOptions& options);

 private:
  RNNCellPtr base_;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_MODIFIER_CELL_H_
