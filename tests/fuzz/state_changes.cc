#include "tests/fuzz/state_changes.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace cooper {
namespace {

constexpr const char* kValues[] = {"0",
                                   "1",
                                   "2",
                                   "3",
                                   "-1",
                                   "7",
                                   "4503599627370496",
                                   "9223372036854775807",
                                   "-9223372036854775808",
                                   "18446744073709551615",
                                   "99999999999999999999",
                                   "0.5",
                                   "1e300",
                                   "nan",
                                   "inf",
                                   "",
                                   "1,2",
                                   "1,2,3",
                                   "0,0,0,0",
                                   "1,1,1,1,1,1",
                                   "1,2,x",
                                   "\\x",
                                   "\\n"};

}  // namespace

std::string ChangeState(FuzzInput& input, const std::string& state) {
  std::vector<std::string> lines = absl::StrSplit(state, '\n', absl::SkipEmpty());
  for (uint64_t changes = input.Below(4); changes > 0 && !lines.empty(); --changes) {
    const size_t at = input.Below(lines.size());
    const std::string key = lines[at].substr(0, lines[at].find(' '));
    switch (input.Below(4)) {
      case 0:
        lines[at] = absl::StrCat(key, " ", input.Pick(kValues));
        break;
      case 1:
        lines[at] = absl::StrCat(key, " ", input.Text(30));
        break;
      case 2:
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      default:
        lines.push_back(input.OneIn(4) ? input.Text(30) : std::string(lines[at]));
    }
  }
  return absl::StrCat(absl::StrJoin(lines, "\n"), "\n");
}

}  // namespace cooper
