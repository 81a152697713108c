#include "executor/compile/program_passes/program_node.h"

#include <utility>

#include "glog/logging.h"
#include "symbol/op.h"

namespace cooper {

NodePtr MakeProgramNode(const char* op, const std::string& name) {
  auto schema = FindOp(op);
  CHECK(schema.ok()) << "the operator " << op << " of every program is not linked";
  OpCall call;
  call.op = *schema;
  return Node::Make({.name = name,
                     .call = std::move(call),
                     .inputs = {},
                     .forward = nullptr,
                     .variables = nullptr});
}

}  // namespace cooper
