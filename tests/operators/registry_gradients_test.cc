// Compares the gradients of every linked operator with central differences. The calls follow from
// the schemas, so that a new operator is covered without a line here: attributes and shapes are
// those of the operator reference (tools/ops/op_trial.h), once as they are and once with each other
// value of each flag and enumeration.

#include <cmath>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/executor.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/graph/gradient.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/schema/op.h"
#include "symbol/schema/param_schema.h"
#include "tests/operators/gradient_checker.h"
#include "tools/ops/op_trial.h"

namespace cooper {
namespace {

// Operators that are left out, and why.
const std::map<std::string, std::string>& Exempt() {
  static const auto& exempt = *new std::map<std::string, std::string>{
      {"Cast", "the call that is tried gives float32"},
      {"Custom", "its functions are the user's"},
      {"IdentityAttachKLSparseReg", "its gradient is that of a penalty that is no output"},
      {"_blocked_batch_norm", "made by passes, in float32"},
      {"_blocked_convolution", "made by passes, in float32"},
      {"_contrib_boolean_mask", "the values of an input decide the extents of its output"},
      {"_contrib_round_ste", "its gradient is that of the identity, on purpose"},
      {"_contrib_sign_ste", "its gradient is that of the identity, on purpose"},
      {"_guard", "a part of a choice, which depends on a condition"},
      {"_image_adjust_lighting", "computes in float32"},
      {"_image_to_tensor", "gives float32"},
      {"_keep_if", "a part of a loop, which depends on a condition"},
      {"_linalg_potrf", "needs a positive definite matrix: linalg_test"},
      {"_linalg_syevd", "needs a symmetric matrix: golden cases and their central differences"},
      {"_npi_ceil", "its gradient is 0"},
      {"_npi_fix", "its gradient is 0"},
      {"_npi_floor", "its gradient is 0"},
      {"_npi_rint", "its gradient is 0"},
      {"_npi_sign", "its gradient is 0"},
      {"_npi_trunc", "its gradient is 0"},
      {"_random_pdf_generalized_negative_binomial", "a sample is a count, whose gradient is 0"},
      {"_random_pdf_negative_binomial", "a sample is a count, whose gradient is 0"},
      {"_random_pdf_poisson", "a sample is a count, whose gradient is 0"},
      {"_random_pdf_uniform", "constant between its limits"},
      {"_select", "a part of a choice, which depends on a condition"},
      {"scatter_nd", "the positions that are tried repeat, where the last value stays"},
  };
  return exempt;
}

// Attributes that stay as they are, and why.
const std::map<std::string, std::string>& FixedAttributes() {
  static const auto& fixed = *new std::map<std::string, std::string>{
      {"output_mean_var", "as in MXNet, no gradient flows through mean and variance"},
      {"in_format", "as in MXNet, the gradient of box_nms leaves out the change of coordinates"},
      {"out_format", "the same"},
  };
  return fixed;
}

// The absolute values of inputs.
struct Domain {
  const char* name;
  double low, high;
  bool both_signs;
};
constexpr Domain kDomains[] = {
    {"of both signs", 0.2, 0.9, true},
    {"between 0 and 1", 0.2, 0.9, false},
    {"above 1", 1.2, 2.6, false},
};

// Returns different numbers of the domain in no order.
std::vector<double> Values(const Domain& domain, int64_t count, size_t input) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    const double u = std::fmod(
        0.618033988749895 * static_cast<double>(i + 1) + 0.237 * static_cast<double>(input), 1.0);
    const bool negative = domain.both_signs && (5 * i + static_cast<int64_t>(input)) % 3 == 0;
    values.push_back((negative ? -1 : 1) * (domain.low + (domain.high - domain.low) * u));
  }
  return values;
}

// Returns the call with attributes `attrs` on inputs of the domain; nothing if it is not valid.
std::optional<GradientCase> MakeCase(const OpSchema& op, const OpTrial& trial, const AttrMap& attrs,
                                     const Domain& domain) {
  const absl::StatusOr<OpCall> call = MakeOpCall(op.name(), attrs, trial.inputs.size());
  if (!call.ok()) return std::nullopt;
  std::vector<std::string> names = op.InputNames(*call);
  names.resize(names.size() - op.AuxInputs(*call).size());
  GradientCase made{
      .name = absl::StrCat(op.name(), " {", absl::StrJoin(attrs, ", ", absl::PairFormatter("=")),
                           "} on inputs ", domain.name),
      .op = op.name(),
      .attrs = attrs};
  OpArgs args{.name = "op", .attrs = attrs};
  KnownShapes known;
  for (size_t i = 0; i < names.size(); ++i) {
    args.inputs.push_back(Symbol::Variable(names[i]));
    if (i < trial.inputs.size() && trial.inputs[i].rank_known()) known[names[i]] = trial.inputs[i];
  }
  const absl::StatusOr<Symbol> symbol = Symbol::Create(op.name(), args);
  if (!symbol.ok()) return std::nullopt;
  const absl::StatusOr<InferredShapes> shapes = InferShape(*symbol, known);
  if (!shapes.ok()) return std::nullopt;
  const absl::StatusOr<GradientGraph> gradients = MakeGradientGraph(*symbol, names);
  if (!gradients.ok()) return std::nullopt;
  BindOptions options{.grad_req = WriteReq::kNull};
  bool has_gradient = false;
  for (size_t i = 0; i < names.size(); ++i) {
    const Shape shape = shapes->args[i].ToShape();
    const bool checked = gradients->gradients[i].node != nullptr;
    has_gradient = has_gradient || checked;
    std::vector<double> values = Values(domain, shape.num_elements(), i);
    // Inputs without a gradient are positions, classes, lengths.
    if (!checked) {
      for (size_t k = 0; k < values.size(); ++k) values[k] = k % 2 == 0 ? 1 : 0;
    }
    made.inputs.push_back(
        {.name = names[i], .shape = shape, .values = values, .has_gradient = checked});
    options.shapes[names[i]] = PartialShape(shape);
    options.types[names[i]] = DType::kFloat64;
  }
  if (!has_gradient) return std::nullopt;
  // The outputs have to be numbers.
  const auto executor = Executor::SimpleBind(*symbol, options);
  if (!executor.ok()) return std::nullopt;
  for (const GradientCase::Input& input : made.inputs) {
    const auto to = (*executor)->arg(input.name).Data<double>();
    if (!to.ok()) return std::nullopt;
    for (size_t i = 0; i < input.values.size(); ++i) (*to)[i] = input.values[i];
  }
  if (!(*executor)->Forward(/*is_train=*/true).ok()) return std::nullopt;
  const auto outputs = (*executor)->outputs();
  if (!outputs.ok()) return std::nullopt;
  for (const NDArray& output : *outputs) {
    const auto values = output.Data<double>();  // an error of another dtype
    if (!values.ok()) return std::nullopt;
    for (const double value : *values) {
      if (!std::isfinite(value)) return std::nullopt;
    }
  }
  return made;
}

// Returns the attributes of the trial, and those that differ from them in one flag or enumeration.
std::vector<AttrMap> Variations(const OpSchema& op, const OpTrial& trial) {
  std::vector<AttrMap> variations = {trial.attrs};
  if (op.params() == nullptr) return variations;
  AttrMap as_it_is = op.params()->Defaults();
  for (const auto& [name, text] : trial.attrs) as_it_is[name] = text;
  for (const ParamField& field : op.params()->fields()) {
    if (FixedAttributes().contains(field.name)) continue;
    std::vector<std::string> texts = field.allowed;
    if (absl::StartsWith(field.type, "bool")) texts = {"True", "False"};
    for (const std::string& text : texts) {
      if (text == as_it_is[field.name]) continue;
      variations.push_back(trial.attrs);
      variations.back()[field.name] = text;
    }
  }
  return variations;
}

bool HasGradientOfItsOutput(const OpSchema& op, const OpTrial& trial) {
  const absl::StatusOr<OpCall> call = MakeOpCall(op.name(), trial.attrs, trial.inputs.size());
  return call.ok() && !op.IgnoresHeadGradient(*call);
}

TEST(RegistryGradientsTest, AreThoseOfCentralDifferences) {
  std::set<std::string> unused;
  for (const auto& [name, reason] : Exempt()) unused.insert(name);
  int checked = 0;
  for (const OpSchema* op : AllOps()) {
    if (op->is_gradient() || !op->gradient() || op->is_random() || op->num_subgraphs() > 0)
      continue;
    if (unused.erase(op->name()) > 0) continue;
    const std::optional<OpTrial> trial = FindOpTrial(*op);
    if (!trial.has_value()) {
      ADD_FAILURE() << op->name() << ": no call is found";
      continue;
    }
    if (!HasGradientOfItsOutput(*op, *trial)) continue;
    int cases = 0;
    for (const AttrMap& attrs : Variations(*op, *trial)) {
      for (const Domain& domain : kDomains) {
        const std::optional<GradientCase> made = MakeCase(*op, *trial, attrs, domain);
        if (!made.has_value()) continue;
        ++cases;
        CheckGradient(*made);
      }
    }
    EXPECT_GT(cases, 0) << op->name() << ": no call in float64 has finite outputs and a gradient";
    checked += cases > 0 ? 1 : 0;
  }
  EXPECT_TRUE(unused.empty()) << absl::StrJoin(unused, ", ") << ": exempt for nothing";
  std::cout << checked << " operators\n";
  EXPECT_GT(checked, 150);
}

}  // namespace
}  // namespace cooper
