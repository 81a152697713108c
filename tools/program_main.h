#ifndef COOPER_TOOLS_PROGRAM_MAIN_H_
#define COOPER_TOOLS_PROGRAM_MAIN_H_

// main() for programs that read flags and perform one task.

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cooper {

// The texts of a program.
struct ProgramInfo {
  absl::string_view name;     // prefix of its errors
  absl::string_view summary;  // the first words of --help
  // --help lists the flags that are defined in sources whose path contains this.
  absl::string_view flags_of = "tools/";
  // Gets the arguments that are no flags. Null: they are errors.
  std::vector<std::string>* arguments = nullptr;
};

// Initializes logging (init_logging.h), parses the flags, calls `run`, and returns the exit status
// of the process: 0, or 1 after one line on standard error, "NAME: MESSAGE". Call it once, from
// main().
int ProgramMain(const ProgramInfo& info, int argc, char** argv,
                absl::FunctionRef<absl::Status()> run);

}  // namespace cooper

#endif  // COOPER_TOOLS_PROGRAM_MAIN_H_
