#include "symbol/schema/op_example.h"

#include <map>
#include <utility>

#include "glog/logging.h"

namespace cooper {
namespace {

std::map<std::string, OpExample>& Examples() {
  static auto* examples = new std::map<std::string, OpExample>;
  return *examples;
}

}  // namespace

const OpExample* FindOpExample(const std::string& op) {
  const auto found = Examples().find(op);
  return found == Examples().end() ? nullptr : &found->second;
}

OpExampleRegistrar::OpExampleRegistrar(const char* op, AttrMap attrs,
                                       std::vector<PartialShape> inputs) {
  OpExample example = {std::move(attrs), std::move(inputs)};
  CHECK(Examples().emplace(op, std::move(example)).second) << op << " has two examples";
}

}  // namespace cooper
