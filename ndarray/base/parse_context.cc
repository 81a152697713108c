#include "ndarray/base/parse_context.h"

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::StatusOr<Context> ParseContext(absl::string_view text) {
  absl::string_view rest = absl::StripAsciiWhitespace(text);
  Context context;
  if (absl::ConsumePrefix(&rest, "gpu")) {
    context.device_type = DeviceType::kGpu;
  } else if (!absl::ConsumePrefix(&rest, "cpu")) {
    rest = "?";
  }
  const bool named = rest.empty();
  const bool numbered = absl::ConsumePrefix(&rest, "(") && absl::ConsumeSuffix(&rest, ")") &&
                        absl::SimpleAtoi(rest, &context.device_id) && context.device_id >= 0;
  if (!named && !numbered) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not a context, such as cpu, gpu, cpu(1) or gpu(1)"));
  }
  return context;
}

absl::StatusOr<std::vector<Context>> ParseContexts(absl::string_view text) {
  std::vector<Context> contexts;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    COOPER_ASSIGN_OR_RETURN(const Context context, ParseContext(part));
    contexts.push_back(context);
  }
  return contexts;
}

}  // namespace cooper
