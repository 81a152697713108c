// Usage: generate_functions FAMILY INCLUDE_PATH HEADER SOURCE. Writes the functions of those linked
// operators that belong to FAMILY. op_functions of operators.bzl runs it during the build.

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
