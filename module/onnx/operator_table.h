#ifndef COOPER_MODULE_ONNX_OPERATOR_TABLE_H_
#define COOPER_MODULE_ONNX_OPERATOR_TABLE_H_

// The table of operators in docs/onnx_operators.md.

#include <string>

namespace cooper {

// Returns a row in Markdown for each linked operator, sorted by name: its name, and what it becomes
// in ONNX or why it cannot be exported. Gradients are left out. An operator without a rule
// (node_export.h) has an empty second column.
std::string OnnxOperatorTable();

}  // namespace cooper

#endif  // COOPER_MODULE_ONNX_OPERATOR_TABLE_H_
