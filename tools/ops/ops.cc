// Prints the reference of operators.
//
// ops NAME...: inputs, attributes, shapes, gradient and kernels of the operators.
// ops --list: all names.
// ops --html: the reference of all operators as a page.
// ops --headers: the table of headers in docs/symbol.md.

#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "symbol/schema/op.h"
#include "tools/ops/op_headers.h"
#include "tools/ops/op_reference.h"

namespace cooper {
namespace {

int Main(const std::vector<std::string>& names) {
  if (names.empty()) {
    std::cerr << "usage: ops NAME...   an operator, by name or alias\n"
                 "       ops --list    all names, each with what it does\n"
                 "       ops --html    all of them as a page\n"
                 "       ops --headers a table of functions and headers, for docs/symbol.md\n";
    return 2;
  }
  int result = 0;
  for (const std::string& name : names) {
    if (name == "--html") {
      std::cout << ReferencePage(AllEntries());
    } else if (name == "--headers") {
      std::cout << OpHeaderTable(AllOps());
    } else if (name == "--list") {
      for (const OpEntry& entry : AllEntries())
        std::cout << entry.name << "  " << entry.doc << "\n";
    } else if (const auto op = FindOp(name); op.ok()) {
      std::cout << EntryText(DescribeEntry(**op)) << "\n";
    } else {
      std::cerr << op.status().message() << "\n";
      result = 1;
    }
  }
  return result;
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  return cooper::Main(std::vector<std::string>(argv + 1, argv + argc));
}
