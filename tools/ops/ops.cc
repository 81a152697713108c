// Prints the reference of operators.
//
// ops NAME...: inputs, attributes, shapes, gradient and kernels of the operators.
// ops --list: all names.
// ops --html: the reference of all operators as a page.
// ops --headers: the table of headers in docs/symbol.md.
// ops --mxnet: docs/mxnet_operators.md, the names of MXNet 1.9.1 and which of them are there. Run
// it from the workspace's root or by `bazel run`.

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "ndarray/base/atomic_file.h"
#include "symbol/schema/op.h"
#include "tools/ops/mxnet_table.h"
#include "tools/ops/op_headers.h"
#include "tools/ops/op_reference.h"

namespace cooper {
namespace {

int PrintMxnetNames() {
  const auto text = ReadFile("tools/ops/mxnet_names.txt");
  const auto names = text.ok() ? ReadMxnetNames(*text) : text.status();
  if (!names.ok()) {
    std::cerr << names.status().message() << "\n";
    return 1;
  }
  std::cout << MxnetNamesPage(*names);
  return 0;
}

int Main(const std::vector<std::string>& names) {
  if (names.empty()) {
    std::cerr << "usage: ops NAME...   an operator, by name or alias\n"
                 "       ops --list    all names, each with what it does\n"
                 "       ops --html    all of them as a page\n"
                 "       ops --headers a table of functions and headers, for docs/symbol.md\n"
                 "       ops --mxnet   MXNet's names and which are there, for "
                 "docs/mxnet_operators.md\n";
    return 2;
  }
  int result = 0;
  for (const std::string& name : names) {
    if (name == "--html") {
      std::cout << ReferencePage(AllEntries());
    } else if (name == "--mxnet") {
      result = std::max(result, PrintMxnetNames());
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
