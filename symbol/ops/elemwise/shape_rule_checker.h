#ifndef COOPER_SYMBOL_OPS_ELEMWISE_SHAPE_RULE_CHECKER_H_
#define COOPER_SYMBOL_OPS_ELEMWISE_SHAPE_RULE_CHECKER_H_

// Runs an operator's shape rule on shapes written as text, for table-driven tests of the rules in
// symbol/ops. Calls the rule of a single node once; infer_shape_test.cc tests inference over
// graphs.

#include <string>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// A case: a call with partially known shapes, and the shapes that its rule must infer. Shapes are
// written as PartialShape::ToString prints them.
struct ShapeRuleCase {
  // The case's name in failure messages, the operator's name and its attributes.
  std::string name;
  std::string op;
  AttrMap attrs;
  std::vector<std::string> inputs;  // "(2, ?)", or "?" for unknown rank
  std::string output;               // of output 0, before the rule runs
  std::vector<std::string> expect_inputs;
  std::string expect_output;  // "" if the rule must fail,
  std::string error;          // with this in its message
};

// Return a case whose output has unknown rank before the rule runs: one in which the rule infers
// the expected shapes, and one in which it fails with `error` in its message.
ShapeRuleCase Infers(std::string name, std::string op, AttrMap attrs,
                     std::vector<std::string> inputs, std::vector<std::string> expect_inputs,
                     std::string expect_output);
ShapeRuleCase Refuses(std::string name, std::string op, AttrMap attrs,
                      std::vector<std::string> inputs, std::string error);

// Checks the case with GoogleTest's expectations. Attributes must parse and the operator must be
// linked. Outputs after the first begin unknown and are not compared; there are no forward inputs,
// so rules of gradients cannot be tested.
void CheckShapeRule(const ShapeRuleCase& test);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_ELEMWISE_SHAPE_RULE_CHECKER_H_
