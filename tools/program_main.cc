#include "tools/program_main.h"

#include <iostream>

#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/flags/usage_config.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "ndarray/base/init_logging.h"

namespace cooper {

int ProgramMain(const ProgramInfo& info, int argc, char** argv,
                absl::FunctionRef<absl::Status()> run) {
  InitLogging();
  absl::SetProgramUsageMessage(info.summary);
  absl::FlagsUsageConfig usage;
  const std::string folder(info.flags_of);
  usage.contains_help_flags = [folder](absl::string_view file) {
    return absl::StrContains(file, folder);
  };
  absl::SetFlagsUsageConfig(usage);
  const std::vector<char*> rest = absl::ParseCommandLine(argc, argv);
  if (info.arguments != nullptr) info.arguments->assign(rest.begin() + 1, rest.end());
  const absl::Status status =
      rest.size() > 1 && info.arguments == nullptr
          ? absl::InvalidArgumentError(absl::StrCat("unexpected argument '", rest[1], "'"))
          : run();
  if (status.ok()) return 0;
  // File names may contain line breaks.
  std::cerr << info.name << ": " << absl::StrReplaceAll(status.message(), {{"\n", "\\n"}})
            << std::endl;
  return 1;
}

}  // namespace cooper
