#include "symbol/graph/conditional_input.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace cooper {
namespace {

using IsMeant = std::function<bool(const std::string& name)>;

struct Found {
  std::string attr, text, input;
  OpCall call;  // with the attribute set
};

std::optional<Found> FindInput(const OpCall& call, const IsMeant& is_meant) {
  const ParamSchema* const schema = call.op->params();
  if (schema == nullptr) return std::nullopt;
  for (const ParamField& field : schema->fields()) {
    const std::vector<std::string> texts =
        field.type == "bool" ? std::vector<std::string>{"True", "False"} : field.allowed;
    for (const std::string& text : texts) {
      OpCall changed = {.op = call.op, .attrs = call.attrs, .params = nullptr};
      changed.attrs[field.name] = text;
      absl::StatusOr<std::shared_ptr<const void>> params = schema->Parse(changed.attrs);
      if (!params.ok()) continue;
      changed.params = *std::move(params);
      const OpSchema::Names inputs = call.op->InputNames(changed);
      const auto it = absl::c_find_if(inputs, is_meant);
      if (it != inputs.end()) return Found{field.name, text, *it, std::move(changed)};
    }
  }
  return std::nullopt;
}

}  // namespace

bool EnableInput(const std::string& name, OpCall* call) {
  std::optional<Found> found =
      FindInput(*call, [&](const std::string& input) { return input == name; });
  if (!found.has_value() || found->text != "True" || call->attrs.contains(found->attr)) {
    return false;
  }
  *call = std::move(found->call);
  return true;
}

std::string AttributeForInput(const OpCall& call, const IsMeant& is_meant) {
  const std::optional<Found> found = FindInput(call, is_meant);
  if (!found.has_value()) return "";
  return absl::StrCat("; with ", found->attr, "=", found->text, " it has input '", found->input,
                      "'");
}

}  // namespace cooper
