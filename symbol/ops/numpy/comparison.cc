// NumPy comparisons, which give bools. MXNet:
// src/operator/numpy/np_elemwise_broadcast_logic_op.cc, np_elemwise_unary_op_basic.cc.

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/elemwise/scalar_param.h"
#include "symbol/ops/rules/broadcast_shape.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

// Type rule: the inputs have one dtype, the output is bool.
absl::Status ComparisonType(TypeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, c.input(0)));
    COOPER_RETURN_IF_ERROR(c.SetInput(0, c.input(i)));
  }
  return c.SetOutput(0, DType::kBool);
}

struct Comparison {
  const char* name;
  const char* sign;
};

constexpr Comparison kComparisons[] = {
    {"equal", "=="},         {"not_equal", "!="}, {"greater", ">"},
    {"greater_equal", ">="}, {"less", "<"},       {"less_equal", "<="},
};

void RegisterComparisons() {
  for (const Comparison& comparison : kComparisons) {
    OpRegistrar(OpBuilder(absl::StrCat("_npi_", comparison.name))
                    .Describe(absl::StrCat("Whether lhs ", comparison.sign, " rhs."))
                    .Inputs({"lhs", "rhs"})
                    .Shape(BroadcastShape)
                    .Type(ComparisonType)
                    .Elementwise());
    OpRegistrar(OpBuilder(absl::StrCat("_npi_", comparison.name, "_scalar"))
                    .Describe(absl::StrCat("Whether data ", comparison.sign, " scalar."))
                    .Param<ScalarParam>()
                    .Inputs({"data"})
                    .Shape(SameShape)
                    .Type(ComparisonType)
                    .Elementwise());
  }
}

struct Test {
  const char* name;
  const char* doc;
};

constexpr Test kTests[] = {
    {"_npi_logical_not", "Whether x is 0."},
    {"_npi_isnan", "Whether x is NaN."},
    {"_npi_isinf", "Whether x is infinite."},
    {"_npi_isposinf", "Whether x is positive infinity."},
    {"_npi_isneginf", "Whether x is negative infinity."},
    {"_npi_isfinite", "Whether x is neither NaN nor infinite."},
};

void RegisterTests() {
  for (const Test& test : kTests) {
    OpRegistrar(OpBuilder(test.name)
                    .Describe(test.doc)
                    .Inputs({"x"})
                    .Shape(SameShape)
                    .Type(ComparisonType)
                    .Elementwise());
  }
}

const bool kRegistered = (RegisterComparisons(), RegisterTests(), true);

}  // namespace
}  // namespace cooper
