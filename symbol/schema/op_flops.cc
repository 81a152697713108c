#include "symbol/schema/op_flops.h"

#include <map>
#include <string>

#include "glog/logging.h"

namespace cooper {
namespace {

std::map<std::string, OpFlopsFn>& Rules() {
  static auto* rules = new std::map<std::string, OpFlopsFn>;
  return *rules;
}

}  // namespace

double ProductFlops(const OpWork& work) {
  const auto rule = Rules().find(work.call.op->name());
  return rule == Rules().end() ? 0 : rule->second(work);
}

OpFlopsRegistrar::OpFlopsRegistrar(const char* op, OpFlopsFn rule) {
  CHECK(Rules().emplace(op, rule).second) << op << " has two rules for its operations";
}

}  // namespace cooper
