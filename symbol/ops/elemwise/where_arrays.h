#ifndef COOPER_SYMBOL_OPS_ELEMWISE_WHERE_ARRAYS_H_
#define COOPER_SYMBOL_OPS_ELEMWISE_WHERE_ARRAYS_H_

// Arrays of where, which selects from two arrays by a condition, and of its gradient. The schema is
// in where.cc. MXNet: src/operator/tensor/control_flow_op.cc.

namespace cooper {

// Inputs of where: the output is x where the condition is not 0, else y. x, y and the output have
// one shape and dtype. The condition has x's shape, or is a vector with one element per row of x;
// it may have any dtype, and NaN counts as not 0.
struct WhereArrays {
  enum Input { kCondition, kX, kY };
};
// The gradient of x is ograd where the condition is not 0 and else 0; that of y is the opposite.
// The condition has no gradient.
struct WhereGradientArrays {
  enum Input { kCondition, kOgrad };
  enum Output { kXGrad, kYGrad };
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_ELEMWISE_WHERE_ARRAYS_H_
