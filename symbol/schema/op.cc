#include "symbol/schema/op.h"

#include <algorithm>
#include <initializer_list>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/status_macros.h"
#include "symbol/schema/param_text.h"

namespace cooper {
namespace {

struct Registry {
  std::map<std::string, const OpSchema*> by_name;  // aliases too
  std::vector<std::unique_ptr<OpSchema>> ops;
};

Registry& TheRegistry() {
  static auto* registry = new Registry;
  return *registry;
}

}  // namespace

std::string OpSchema::family() const {
  const size_t end = file_.rfind('/');
  if (end == std::string::npos) return "";
  const size_t begin = file_.rfind('/', end - 1) + 1;  // 0 where there is none
  return file_.substr(begin, end - begin);
}

int OpSchema::NumVisibleOutputs(const OpCall& call) const {
  return visible_outputs_ ? visible_outputs_(call) : static_cast<int>(outputs_(call).size());
}

absl::Status OpSchema::CheckSubgraphs(const OpCall& call) const {
  const int count = call.subgraphs == nullptr ? 0 : static_cast<int>(call.subgraphs->size());
  if (count != num_subgraphs_) {
    return absl::InvalidArgumentError(
        absl::StrCat("has ", count, " subgraphs, expected ", num_subgraphs_,
                     num_subgraphs_ > 0 ? ": such a node comes from a symbol file or from a "
                                          "function that builds its subgraphs"
                                        : ""));
  }
  return check_subgraphs_ ? check_subgraphs_(call) : absl::OkStatus();
}

std::vector<int> OpSchema::AuxInputs(const OpCall& call) const {
  return aux_inputs_ ? aux_inputs_(call) : std::vector<int>();
}

std::vector<int> OpSchema::WrittenInputs(const OpCall& call) const {
  std::vector<int> written = AuxInputs(call);
  if (written_inputs_) {
    const std::vector<int> others = written_inputs_(call);
    written.insert(written.end(), others.begin(), others.end());
  }
  return written;
}

OpKind OpSchema::Kind(const OpCall& call) const {
  if (kind_ != OpKind::kOther) return kind_;
  if (is_view_) return OpKind::kShaping;
  return IgnoresHeadGradient(call) ? OpKind::kLoss : OpKind::kOther;
}

bool OpSchema::is_gradient() const {
  return absl::StartsWith(name_, "_backward_") || absl::EndsWith(name_, "_backward");
}

std::string OpSchema::Summary(const OpCall& call) const {
  if (!summary_) return "";
  AttrMap params;
  if (params_ != nullptr) params = params_->Print(call.params.get());
  return summary_(params);
}

bool OpSchema::IgnoresHeadGradient(const OpCall& call) const {
  return ignores_head_gradient_ && ignores_head_gradient_(call);
}

OpBuilder::OpBuilder(absl::string_view name, const char* file)
    : op_(std::make_unique<OpSchema>(std::string{name}, file)) {}

OpBuilder::OpBuilder(OpBuilder&&) noexcept = default;

OpBuilder::~OpBuilder() = default;

std::unique_ptr<OpSchema> OpBuilder::Build() && { return std::move(op_); }

OpBuilder&& OpBuilder::Params(const ParamSchema* params) && {
  op_->params_ = params;
  return std::move(*this);
}

OpBuilder&& OpBuilder::Describe(absl::string_view doc) && {
  op_->doc_ = std::string{doc};
  return std::move(*this);
}

OpBuilder&& OpBuilder::Alias(absl::string_view name) && {
  op_->aliases_.emplace_back(name);
  return std::move(*this);
}

OpBuilder&& OpBuilder::Inputs(std::initializer_list<const char*> names) && {
  return std::move(*this).Inputs(OpSchema::Names(names.begin(), names.end()));
}

OpBuilder&& OpBuilder::Inputs(OpSchema::Names names) && {
  op_->inputs_ = [names = std::move(names)](const OpCall&) { return names; };
  return std::move(*this);
}

OpBuilder&& OpBuilder::Inputs(OpSchema::NamesFn names) && {
  op_->inputs_ = std::move(names);
  return std::move(*this);
}

OpBuilder&& OpBuilder::VariadicInputs(absl::string_view attr) && {
  op_->variadic_attr_ = std::string{attr};
  op_->inputs_ = [attr = op_->variadic_attr_](const OpCall& call) {
    OpSchema::Names names;
    auto it = call.attrs.find(attr);
    int count = 0;
    if (it == call.attrs.end() || !ParseParamText(it->second, &count).ok()) return names;
    for (int i = 0; i < count; ++i) names.push_back(absl::StrCat("arg", i));
    return names;
  };
  return std::move(*this);
}

OpBuilder&& OpBuilder::AuxInputs(OpSchema::IndicesFn indices) && {
  op_->aux_inputs_ = std::move(indices);
  return std::move(*this);
}

OpBuilder&& OpBuilder::Outputs(std::initializer_list<const char*> names) && {
  return std::move(*this).Outputs(OpSchema::Names(names.begin(), names.end()));
}

OpBuilder&& OpBuilder::Outputs(OpSchema::Names names) && {
  op_->outputs_ = [names = std::move(names)](const OpCall&) { return names; };
  return std::move(*this);
}

OpBuilder&& OpBuilder::Outputs(OpSchema::NamesFn names) && {
  op_->outputs_ = std::move(names);
  return std::move(*this);
}

OpBuilder&& OpBuilder::VisibleOutputs(OpSchema::CountFn count) && {
  op_->visible_outputs_ = std::move(count);
  return std::move(*this);
}

OpBuilder&& OpBuilder::Shape(OpSchema::ShapeFn rule) && {
  op_->shape_ = std::move(rule);
  return std::move(*this);
}

OpBuilder&& OpBuilder::Type(OpSchema::TypeFn rule) && {
  op_->type_ = std::move(rule);
  return std::move(*this);
}

OpBuilder&& OpBuilder::Gradient(OpSchema::GradientFn rule) && {
  op_->gradient_ = std::move(rule);
  return std::move(*this);
}

OpBuilder&& OpBuilder::InPlace(std::initializer_list<std::pair<int, int>> pairs) && {
  op_->in_place_ = pairs;
  return std::move(*this);
}

OpBuilder&& OpBuilder::View() && {
  op_->is_view_ = true;
  op_->in_place_ = {{0, 0}};
  return std::move(*this);
}

OpBuilder&& OpBuilder::IgnoreHeadGradient() && {
  op_->ignores_head_gradient_ = [](const OpCall&) { return true; };
  return std::move(*this);
}

OpBuilder&& OpBuilder::IgnoreHeadGradient(std::function<bool(const OpCall&)> rule) && {
  op_->ignores_head_gradient_ = std::move(rule);
  return std::move(*this);
}

OpBuilder&& OpBuilder::GradientComputesOutputs() && {
  op_->gradient_computes_outputs_ = true;
  return std::move(*this);
}

OpBuilder&& OpBuilder::Random() && {
  op_->is_random_ = true;
  return std::move(*this);
}

OpBuilder&& OpBuilder::Subgraphs(int count, OpSchema::CheckFn check) && {
  op_->num_subgraphs_ = count;
  op_->check_subgraphs_ = std::move(check);
  return std::move(*this);
}

OpBuilder&& OpBuilder::FixAttrs(OpSchema::AttrsFn fix) && {
  op_->fix_attrs_ = std::move(fix);
  return std::move(*this);
}

OpBuilder&& OpBuilder::VariableAttrs(OpSchema::VariableAttrsFn attrs) && {
  op_->variable_attrs_ = std::move(attrs);
  return std::move(*this);
}

OpBuilder&& OpBuilder::WritesInputs(OpSchema::IndicesFn indices) && {
  op_->written_inputs_ = std::move(indices);
  return std::move(*this);
}

OpBuilder&& OpBuilder::KeepsElements() && {
  op_->keeps_elements_ = true;
  return std::move(*this);
}

OpBuilder&& OpBuilder::Elementwise() && {
  op_->is_elementwise_ = true;
  return std::move(*this);
}

OpBuilder&& OpBuilder::ReadsShapesAlone() && {
  op_->reads_shapes_alone_ = true;
  return std::move(*this);
}

OpBuilder&& OpBuilder::CountsRows() && {
  op_->counts_rows_ = true;
  return std::move(*this);
}

OpBuilder&& OpBuilder::Transposes(OpSchema::AxesFn axes) && {
  op_->transposed_axes_ = std::move(axes);
  return std::move(*this);
}

OpBuilder&& OpBuilder::Splits(OpSchema::AxisFn axis) && {
  op_->split_axis_ = std::move(axis);
  return std::move(*this);
}

OpBuilder&& OpBuilder::Joins(OpSchema::AxisFn axis) && {
  op_->join_axis_ = std::move(axis);
  return std::move(*this);
}

OpBuilder&& OpBuilder::Slices(OpSchema::SliceFn slice) && {
  op_->slice_ = std::move(slice);
  return std::move(*this);
}

OpBuilder&& OpBuilder::UpgradeAttrs(OpSchema::UpgradeFn upgrade) && {
  op_->upgrade_attrs_ = std::move(upgrade);
  return std::move(*this);
}

OpBuilder&& OpBuilder::Kind(OpKind kind) && {
  op_->kind_ = kind;
  return std::move(*this);
}

OpBuilder&& OpBuilder::Summary(OpSchema::SummaryFn summary) && {
  op_->summary_ = std::move(summary);
  return std::move(*this);
}

OpBuilder&& OpBuilder::Summary(absl::string_view param) && {
  return std::move(*this).Summary(
      [param = std::string{param}](AttrMap& params) { return params[param]; });
}

OpRegistrar::OpRegistrar(OpBuilder&& builder) {
  Registry& registry = TheRegistry();
  registry.ops.push_back(std::move(builder).Build());
  const OpSchema* op = registry.ops.back().get();
  CHECK(op->shape() && op->type()) << "operator " << op->name() << " lacks a shape or type rule";
  CHECK(registry.by_name.emplace(op->name(), op).second)
      << "operator " << op->name() << " is registered twice";
  for (const std::string& alias : op->aliases()) {
    CHECK(registry.by_name.emplace(alias, op).second)
        << "operator " << alias << " is registered twice, now as an alias of " << op->name();
  }
}

absl::StatusOr<const OpSchema*> FindOp(absl::string_view name) {
  const Registry& registry = TheRegistry();
  auto it = registry.by_name.find(std::string(name.data(), name.size()));
  if (it != registry.by_name.end()) return it->second;
  std::vector<absl::string_view> known;
  for (const auto& entry : registry.by_name) known.push_back(entry.first);
  return absl::NotFoundError(absl::StrCat(
      "no operator '", name, "' is linked into this program", DidYouMean(name, known),
      "; if cooper has it (@cooper//tools:ops lists all), link @cooper//symbol/ops:all_ops, or "
      "@cooper//executor/cpu:all_kernels to run it"));
}

absl::StatusOr<OpCall> MakeOpCall(absl::string_view op, AttrMap attrs, size_t num_inputs) {
  OpCall call;
  COOPER_ASSIGN_OR_RETURN(call.op, FindOp(op));
  call.attrs = std::move(attrs);
  const std::string& variadic = call.op->variadic_attr();
  if (!variadic.empty()) call.attrs.emplace(variadic, absl::StrCat(num_inputs));
  if (call.op->fix_attrs()) COOPER_RETURN_IF_ERROR(call.op->fix_attrs()(call.attrs));
  if (call.op->params() != nullptr) {
    COOPER_ASSIGN_OR_RETURN(call.params, call.op->params()->Parse(call.attrs));
  }
  return call;
}

absl::Status CheckVariadicCount(const OpSchema& op, const AttrMap& attrs, size_t num_inputs) {
  const auto named = attrs.find(op.variadic_attr());
  int64_t count = 0;
  if (named == attrs.end() || !ParseParamText(named->second, &count).ok() ||
      count <= static_cast<int64_t>(num_inputs)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("has ", num_inputs, " inputs, but ", named->first, "='", named->second, "'"));
}

absl::Status RefuseGradientOp(const OpSchema& op) {
  if (!op.is_gradient()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      op.name(), " computes a gradient: its nodes are made by differentiation, not by name"));
}

std::vector<const OpSchema*> AllOps() {
  std::vector<const OpSchema*> ops;
  for (const auto& op : TheRegistry().ops) ops.push_back(op.get());
  std::sort(ops.begin(), ops.end(),
            [](const OpSchema* a, const OpSchema* b) { return a->name() < b->name(); });
  return ops;
}

}  // namespace cooper
