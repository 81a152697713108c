#include "tests/plans/network_draft.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace cooper {
namespace {

std::string Text(WindowExtent e) { return absl::StrCat("(", e.height, ", ", e.width, ")"); }

}  // namespace

Symbol NetworkDraft::Make(absl::string_view op, const std::vector<Symbol>& inputs,
                          const AttrMap& attrs, const std::string& name) {
  if (!status_.ok()) return {};
  auto made = Symbol::Create(
      op, {.name = name.empty() ? absl::StrCat(absl::AsciiStrToLower(op), made_++) : name,
           .inputs = inputs,
           .attrs = attrs});
  if (made.ok()) return *std::move(made);
  status_ = made.status();
  return {};
}

Symbol NetworkDraft::Data() { return Symbol::Variable("data"); }

Symbol NetworkDraft::Conv(const Symbol& x, int filters, const ConvOptions& options) {
  return Make("Convolution", {x},
              {{"num_filter", absl::StrCat(filters)},
               {"kernel", Text(options.kernel)},
               {"stride", Text(options.stride)},
               {"pad", Text(options.pad)},
               {"num_group", absl::StrCat(options.groups)},
               {"no_bias", options.bias ? "False" : "True"}});
}

Symbol NetworkDraft::BatchNorm(const Symbol& x) {
  const Symbol made = Make("BatchNorm", {x}, {{"fix_gamma", "False"}, {"eps", "2e-5"}});
  return made.num_outputs() > 1 ? made[0] : made;
}

Symbol NetworkDraft::Relu(const Symbol& x) {
  return Make("Activation", {x}, {{"act_type", "relu"}});
}

Symbol NetworkDraft::Tanh(const Symbol& x) {
  return Make("Activation", {x}, {{"act_type", "tanh"}});
}

Symbol NetworkDraft::ConvUnit(const Symbol& x, int filters, const ConvOptions& options) {
  return Relu(BatchNorm(Conv(x, filters, options)));
}

Symbol NetworkDraft::MaxPool(const Symbol& x, WindowExtent kernel, WindowExtent stride,
                             WindowExtent pad, bool valid) {
  return Make("Pooling", {x},
              {{"pool_type", "max"},
               {"kernel", Text(kernel)},
               {"stride", Text(stride)},
               {"pad", Text(pad)},
               {"pooling_convention", valid ? "valid" : "full"}});
}

Symbol NetworkDraft::AvgPool(const Symbol& x, WindowExtent kernel, WindowExtent stride,
                             WindowExtent pad) {
  return Make("Pooling", {x},
              {{"pool_type", "avg"},
               {"kernel", Text(kernel)},
               {"stride", Text(stride)},
               {"pad", Text(pad)}});
}

Symbol NetworkDraft::GlobalPool(const Symbol& x) {
  return Make("Pooling", {x},
              {{"pool_type", "avg"}, {"kernel", "(1, 1)"}, {"global_pool", "True"}});
}

Symbol NetworkDraft::Dense(const Symbol& x, int hidden) {
  return Make("FullyConnected", {Make("Flatten", {x}, {})}, {{"num_hidden", absl::StrCat(hidden)}});
}

Symbol NetworkDraft::Dropout(const Symbol& x, double p) {
  return Make("Dropout", {x}, {{"p", absl::StrCat(p)}});
}

Symbol NetworkDraft::Scale(const Symbol& x, double by) {
  return Make("_mul_scalar", {x}, {{"scalar", absl::StrCat(by)}});
}

Symbol NetworkDraft::Add(const Symbol& a, const Symbol& b) {
  return Make("elemwise_add", {a, b}, {});
}

Symbol NetworkDraft::Concat(const std::vector<Symbol>& parts) {
  return Make("Concat", parts, {{"num_args", absl::StrCat(parts.size())}, {"dim", "1"}});
}

absl::StatusOr<Symbol> NetworkDraft::Classify(const Symbol& x, int classes) {
  const Symbol scores = Make("FullyConnected", {Make("Flatten", {x}, {})},
                             {{"num_hidden", absl::StrCat(classes)}}, "fc");
  const Symbol softmax = Make("SoftmaxOutput", {scores}, {}, "softmax");
  if (!status_.ok()) return status_;
  return softmax;
}

}  // namespace cooper
