#ifndef COOPER_SYMBOL_OPS_RULES_ONE_INPUT_H_
#define COOPER_SYMBOL_OPS_RULES_ONE_INPUT_H_

// Input names for operators with one input, and for gradients that need only the head. Kernels use
// them for operators that have no header of their own. Operators with more inputs declare an
// enumeration beside their parameters.

namespace cooper {

// Index of the only input.
struct OneInputArrays {
  enum Input { kData };
};
// Index of the only input of the gradient.
struct OneInputGradientArrays {
  enum Input { kOgrad };
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_RULES_ONE_INPUT_H_
