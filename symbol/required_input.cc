#include "symbol/required_input.h"

namespace cooper {

std::optional<std::string> WhyRequired(const OpCall& call, int i) {
  if (!call.op->variable_attrs()) return std::nullopt;
  const AttrMap attrs = call.op->variable_attrs()(call, i);
  const auto reason = attrs.find(kRequiredInput);
  if (reason == attrs.end()) return std::nullopt;
  return reason->second;
}

}  // namespace cooper
