#include "module/initializer/create_initializer.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "module/initializer/initializer_registry.h"
#include "module/kwargs/json_kwargs.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::StatusOr<std::unique_ptr<NamePatternInitializer>> CreateInitializer(absl::string_view name,
                                                                          const Kwargs& kwargs) {
  return Initializers().Create(name, kwargs);
}

absl::StatusOr<std::unique_ptr<NamePatternInitializer>> CreateInitializerFromText(
    absl::string_view text) {
  const absl::string_view trimmed = absl::StripAsciiWhitespace(text);
  if (!absl::StartsWith(trimmed, "[")) return CreateInitializer(trimmed);
  COOPER_ASSIGN_OR_RETURN(const auto parsed, NameAndKwargsFromJson(trimmed));
  return CreateInitializer(parsed.first, parsed.second);
}

}  // namespace cooper
