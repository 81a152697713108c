#include "symbol/schema/batch_layout.h"

#include <map>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace cooper {
namespace {

using Kind = BatchLayout::Kind;
using LossRule = bool (*)(const BatchCall& call);

template <typename Rule>
std::map<std::string, Rule>& Rules() {
  static auto* rules = new std::map<std::string, Rule>;
  return *rules;
}

template <typename Rule>
Rule RuleOf(const BatchCall& call) {
  const auto rule = Rules<Rule>().find(call.call.op->name());
  return rule == Rules<Rule>().end() ? nullptr : rule->second;
}

template <typename Rule>
void Register(std::initializer_list<const char*> ops, Rule rule) {
  for (const char* op : ops) {
    CHECK(Rules<Rule>().emplace(op, rule).second) << op << " has two rules for its batch axis";
  }
}

int NonNegative(int64_t axis, int rank) { return static_cast<int>(axis < 0 ? axis + rank : axis); }

// Returns the layout of input 0 with permuted axes.
BatchLayout Transposed(const BatchCall& c) {
  const std::vector<int> from = c.call.op->transposed_axes()(c.call, c.rank(0));
  return c.Map([&](int, int axis) {
    const auto at = absl::c_find(from, axis);
    return at == from.end() ? BatchCall::kMixed : static_cast<int>(at - from.begin());
  });
}

// Returns the layout of parts of input 0 along an axis, which disappears if the parts have a lower
// rank.
BatchLayout Split(const BatchCall& c) {
  const int cut = NonNegative(c.call.op->split_axis()(c.call), c.rank(0));
  const bool squeezed = c.out().rank() < c.rank(0);
  return c.Map([&](int, int axis) {
    if (axis == cut) return BatchCall::kMixed;
    return squeezed && axis > cut ? axis - 1 : axis;
  });
}

// Returns the layout of inputs that are joined along an axis, which is new if the output has a
// higher rank.
BatchLayout Joined(const BatchCall& c) {
  const int joint = NonNegative(c.call.op->join_axis()(c.call), c.out().rank());
  const bool stacked = c.out().rank() > c.rank(0);
  return c.Map([&](int, int axis) {
    if (stacked) return axis < joint ? axis : axis + 1;
    return axis == joint ? BatchCall::kMixed : axis;
  });
}

// Returns the layout of a slice of input 0. Other inputs only give their shape, which must have the
// same samples.
BatchLayout Sliced(const BatchCall& c) {
  if (!c.layouts[0].has_samples()) return {};
  return c.Map([&](int input, int axis) {
    if (input > 0) return axis;
    const int64_t whole = c.input(0)[axis];
    const SliceRange range = c.call.op->slice()(c.call, axis, c.input(0), c.out());
    const bool is_all = range.begin == 0 && range.step == 1 && range.extent == whole;
    return is_all ? axis : BatchCall::kMixed;
  });
}

}  // namespace

bool BatchLayout::Fits(const Shape& shape, int64_t batch_size) const {
  return !has_samples() ||
         (axis >= 0 && axis < shape.rank() && shape[axis] == outer * batch_size * inner);
}

Shape BatchLayout::WithSamples(Shape shape, int64_t to) const {
  shape[axis] = outer * to * inner;
  return shape;
}

std::string BatchLayout::ToString() const {
  switch (kind) {
    case Kind::kUnknown:
      return "unknown";
    case Kind::kNone:
      return "no samples";
    case Kind::kSum:
      return "a sum over samples";
    case Kind::kMean:
      return "a mean over samples";
    case Kind::kSomeSamples:
      return "rows of some samples";
    case Kind::kSamples:
      break;
  }
  if (per_sample() == 1) return absl::StrCat("axis ", axis);
  return absl::StrCat("axis ", axis, " as (", outer, ", N, ", inner, ")");
}

std::ostream& operator<<(std::ostream& os, const BatchLayout& layout) {
  return os << layout.ToString();
}

bool BatchCall::any_reduced() const {
  return absl::c_any_of(layouts, [](const BatchLayout& layout) { return layout.is_reduced(); });
}

BatchLayout BatchCall::Map(AxisFn axis_of) const {
  BatchLayout found = BatchLayout::Of(Kind::kNone);
  for (size_t i = 0; i < layouts.size(); ++i) {
    if (layouts[i].is_reduced()) return {};
    if (!layouts[i].has_samples()) continue;
    BatchLayout moved = layouts[i];
    moved.axis = axis_of(static_cast<int>(i), moved.axis);
    if (moved.axis < 0 || (found.has_samples() && moved != found)) return {};
    found = moved;
  }
  return found;
}

BatchLayout BatchCall::FirstAxis() const {
  return Map([](int, int axis) { return axis == 0 ? 0 : kMixed; });
}

BatchLayout BatchCall::Aligned() const {
  return Map([this](int input, int axis) { return axis + out().rank() - rank(input); });
}

BatchLayout BatchCall::AllBut(int64_t mixed) const {
  return Map([&](int input, int axis) {
    return input > 0 || axis == NonNegative(mixed, rank(0)) ? kMixed : axis;
  });
}

BatchLayout BatchCall::View(int i, const Shape& shape) const {
  const BatchLayout& from = layouts[i];
  if (!from.has_samples()) return from;
  // Numbers of elements before and after a sample's in memory order, compared with the axes of the
  // new shape.
  const int64_t before = input(i).Product(0, from.axis) * from.outer;
  const int64_t behind = input(i).Product(from.axis + 1, rank(i)) * from.inner;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t outside = shape.Product(0, axis), inside = shape.Product(axis + 1, shape.rank());
    if (outside == 0 || inside == 0 || before % outside != 0 || behind % inside != 0) continue;
    const BatchLayout to = BatchLayout::Samples(axis, before / outside, behind / inside);
    if (to.Fits(shape, batch_size)) return to;
  }
  return {};
}

BatchLayout BatchCall::Reduced() const {
  BatchLayout found = BatchLayout::Of(Kind::kNone);
  for (const BatchLayout& layout : layouts) {
    if (layout.kind == Kind::kNone) continue;
    if (!layout.is_reduced() || (found.is_reduced() && layout != found)) return {};
    found = layout;
  }
  // If one term is a sum over the samples and another is independent of them, the layout is
  // unknown: on several devices the latter would be added once for each part of the batch.
  const auto is_none = [](const BatchLayout& layout) { return layout.kind == Kind::kNone; };
  return found.kind == Kind::kSum && absl::c_any_of(layouts, is_none) ? BatchLayout() : found;
}

BatchLayout OutputLayout(const BatchCall& c) {
  if (const auto rule = RuleOf<BatchRule>(c); rule != nullptr) return rule(c);
  if (c.layouts.empty()) return BatchLayout::Of(Kind::kNone);
  const OpSchema& op = *c.call.op;
  const bool is_view = op.is_view() && c.output == 0;
  const bool moves = is_view || op.transposed_axes() || op.split_axis() || op.slice();
  // Moving or dropping elements keeps sums and means.
  if (moves && c.layouts[0].is_reduced()) return c.layouts[0];
  if (op.join_axis() && c.any_reduced()) return c.Reduced();
  if (is_view) return c.View(0, c.out());
  if (op.transposed_axes()) return Transposed(c);
  if (op.split_axis()) return Split(c);
  if (op.join_axis()) return Joined(c);
  if (op.slice()) return Sliced(c);
  return op.is_elementwise() ? c.Aligned() : BatchLayout();
}

BatchRuleRegistrar::BatchRuleRegistrar(std::initializer_list<const char*> ops, BatchRule rule) {
  Register(ops, rule);
}

LossRuleRegistrar::LossRuleRegistrar(std::initializer_list<const char*> ops,
                                     bool (*divides)(const BatchCall& call)) {
  Register(ops, divides);
}

bool LossNeedsWeights(const BatchCall& c) {
  const auto divides = RuleOf<LossRule>(c);
  if (divides == nullptr) return false;
  const Kind kind = c.layouts[0].kind;
  return kind == Kind::kMean || kind == Kind::kNone || divides(c);
}

}  // namespace cooper
