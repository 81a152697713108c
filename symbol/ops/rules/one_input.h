#ifndef COOPER_SYMBOL_OPS_RULES_ONE_INPUT_H_
#define COOPER_SYMBOL_OPS_RULES_ONE_INPUT_H_

// Names of inputs for operators that have one, and for gradients that need no more than the head.
// Operators with more have an enumeration of their own beside their parameters.

namespace cooper {

struct OneInputArrays {
  enum Input { kData };
};
struct OneInputGradientArrays {
  enum Input { kOgrad };
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_RULES_ONE_INPUT_H_
