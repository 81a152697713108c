#include "symbol/op/node_builder.h"

namespace cooper::op {
namespace {

template <typename T>
void SetIfGiven(AttrValues& attrs, const char* name, const std::optional<T>& value) {
  if (value.has_value()) attrs[name] = PrintParamText(*value);
}

}  // namespace

NodeBuilder::NodeBuilder(const char* op, const char* hint, const std::string& name,
                         const AttrValues& attrs)
    : op_(op), args_{.name = name, .inputs = {}, .named = {}, .attrs = attrs, .hint = hint} {}

void NodeBuilder::Input(const char* name, const Symbol& symbol) {
  args_.named.emplace(name, symbol);
}

void NodeBuilder::OptionalInput(const char* name, const Symbol& symbol) {
  if (symbol.num_outputs() > 0 || !symbol.status().ok()) Input(name, symbol);
}

void NodeBuilder::Inputs(absl::Span<const Symbol> symbols) {
  args_.inputs.assign(symbols.begin(), symbols.end());
}

void NodeBuilder::Attr(const char* name, bool value, bool absent) {
  if (value != absent) args_.attrs[name] = PrintParamText(value);
}

void NodeBuilder::Attr(const char* name, int64_t value, int64_t absent) {
  if (value != absent) args_.attrs[name] = PrintParamText(value);
}

void NodeBuilder::Attr(const char* name, double value, double absent) {
  if (value != absent) args_.attrs[name] = PrintParamText(value);
}

void NodeBuilder::Attr(const char* name, DType value, DType absent) {
  if (value != absent) args_.attrs[name] = PrintParamText(value);
}

void NodeBuilder::Attr(const char* name, const std::string& value, const char* absent) {
  if (value != absent) args_.attrs[name] = value;
}

void NodeBuilder::Attr(const char* name, const Tuple& value) {
  if (!value.text().empty()) args_.attrs[name] = value.text();
}

void NodeBuilder::Attr(const char* name, const std::vector<double>& value) {
  if (!value.empty()) args_.attrs[name] = PrintParamText(value);
}

void NodeBuilder::Attr(const char* name, const std::optional<bool>& value) {
  SetIfGiven(args_.attrs, name, value);
}

void NodeBuilder::Attr(const char* name, const std::optional<int64_t>& value) {
  SetIfGiven(args_.attrs, name, value);
}

void NodeBuilder::Attr(const char* name, const std::optional<double>& value) {
  SetIfGiven(args_.attrs, name, value);
}

void NodeBuilder::Attr(const char* name, const std::optional<DType>& value) {
  SetIfGiven(args_.attrs, name, value);
}

void NodeBuilder::Attr(const char* name, const std::optional<std::string>& value) {
  SetIfGiven(args_.attrs, name, value);
}

}  // namespace cooper::op
