#ifndef COOPER_SYMBOL_OPS_ELEMWISE_WHERE_ARRAYS_H_
#define COOPER_SYMBOL_OPS_ELEMWISE_WHERE_ARRAYS_H_

namespace cooper {

// Inputs of where: condition has x's shape, or one element per row of x; y has x's shape.
struct WhereArrays {
  enum Input { kCondition, kX, kY };
};
struct WhereGradientArrays {
  enum Input { kCondition, kOgrad };
  enum Output { kXGrad, kYGrad };
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_ELEMWISE_WHERE_ARRAYS_H_
