#ifndef COOPER_TOOLS_PROGRAM_MAIN_H_
#define COOPER_TOOLS_PROGRAM_MAIN_H_

// main() of a program that reads flags and does one thing.

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cooper {

struct ProgramInfo {
  absl::string_view name;     // what its errors begin with
  absl::string_view summary;  // the first words of --help
  // --help tells of the flags that are defined in sources whose path has this in it.
  absl::string_view flags_of = "tools/";
};

// Sets logging up (init_logging.h), reads the flags, calls `run`, and returns the exit status of
// the process: 0, or 1 after one line on standard error, "NAME: MESSAGE". Arguments that are no
// flags are errors. To be called once, by main().
int ProgramMain(const ProgramInfo& info, int argc, char** argv,
                absl::FunctionRef<absl::Status()> run);

}  // namespace cooper

#endif  // COOPER_TOOLS_PROGRAM_MAIN_H_
