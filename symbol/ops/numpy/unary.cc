// NumPy functions of one array. MXNet: src/operator/numpy/np_elemwise_unary_op_basic.cc.

#include <utility>

#include "symbol/ops/numpy/same_as.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

struct UnaryOp {
  const char* name;
  const char* base;  // the older operator that computes the same
  const char* doc;
  const char* input = "x";
  const char* alias = nullptr;
};

// The output has the input's dtype: unlike NumPy's, MXNet's sqrt of integers gives integers.
constexpr UnaryOp kOps[] = {
    {"_npx_relu", "relu", "max(data, 0)", "data"},
    {"_npx_sigmoid", "sigmoid", "1 / (1 + exp(-data))", "data"},
    {"_npi_absolute", "abs", "|x|", "x", "_npi_abs"},
    {"_npi_arccos", "arccos", "The inverse of cos."},
    {"_npi_arccosh", "arccosh", "The inverse of cosh."},
    {"_npi_arcsin", "arcsin", "The inverse of sin."},
    {"_npi_arcsinh", "arcsinh", "The inverse of sinh."},
    {"_npi_arctan", "arctan", "The inverse of tan."},
    {"_npi_arctanh", "arctanh", "The inverse of tanh."},
    {"_npi_cbrt", "cbrt", "The cube root."},
    {"_npi_ceil", "ceil", "The least integer that is not below x."},
    {"_npi_cos", "cos", "The cosine."},
    {"_npi_cosh", "cosh", "The hyperbolic cosine."},
    {"_npi_degrees", "degrees", "Radians to degrees."},
    {"_npi_exp", "exp", "e to the power of x"},
    {"_npi_expm1", "expm1", "exp(x) - 1"},
    {"_npi_fix", "fix", "The nearest integer towards 0."},
    {"_npi_floor", "floor", "The greatest integer that is not above x."},
    {"_npi_log", "log", "The natural logarithm."},
    {"_npi_log10", "log10", "The logarithm to base 10."},
    {"_npi_log1p", "log1p", "log(1 + x)"},
    {"_npi_log2", "log2", "The logarithm to base 2."},
    {"_npi_negative", "negative", "-x"},
    {"_npi_radians", "radians", "Degrees to radians."},
    {"_npi_reciprocal", "reciprocal", "1 / x"},
    {"_npi_rint", "rint", "The nearest integer, halves down."},
    {"_npi_sign", "sign", "-1, 0 or 1"},
    {"_npi_sin", "sin", "The sine."},
    {"_npi_sinh", "sinh", "The hyperbolic sine."},
    {"_npi_sqrt", "sqrt", "The square root."},
    {"_npi_square", "square", "x^2"},
    {"_npi_tan", "tan", "The tangent."},
    {"_npi_tanh", "tanh", "The hyperbolic tangent."},
    {"_npi_trunc", "trunc", "The integer next to x towards 0."},
};

void RegisterUnaryOps() {
  for (const UnaryOp& op : kOps) {
    OpBuilder builder(op.name);
    if (op.alias != nullptr) std::move(builder).Alias(op.alias);
    OpRegistrar(std::move(builder)
                    .Describe(op.doc)
                    .Inputs({op.input})
                    .Shape(SameShape)
                    .Type(SameType)
                    .Gradient(GradientOf(op.base))
                    .InPlace({{0, 0}})
                    .Elementwise());
  }
}

const bool kRegistered = (RegisterUnaryOps(), true);

COOPER_REGISTER_OP(_np_copy)
    .Describe("The input.")
    .Inputs({"a"})
    .Shape(SameShape)
    .Type(SameType)
    .Gradient(GradientOf("_copy"))
    .View()
    .Elementwise();

}  // namespace
}  // namespace cooper
