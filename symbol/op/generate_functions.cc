// generate_functions FAMILY INCLUDE_PATH HEADER SOURCE: writes the functions of the operators of
// FAMILY that are linked into it. Run while building, by op_functions of operators.bzl.

#include <fstream>
#include <iostream>
#include <string>

#include "symbol/op/function_text.h"
#include "symbol/schema/op.h"

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: generate_functions FAMILY INCLUDE_PATH HEADER SOURCE\n";
    return 2;
  }
  const cooper::FunctionTexts texts = cooper::WriteFunctions(cooper::AllOps(), argv[1], argv[2]);
  std::ofstream header(argv[3]);
  header << texts.header;
  std::ofstream source(argv[4]);
  source << texts.source;
  return header.flush() && source.flush() ? 0 : 1;
}
