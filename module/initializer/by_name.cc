#include "module/initializer/by_name.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "module/initializer/name_pattern.h"
#include "ndarray/base/status_macros.h"

namespace cooper::init {
namespace {

class LoadInitializer : public Initializer {
 public:
  LoadInitializer(const std::map<std::string, NDArray>& arrays,
                  std::shared_ptr<const Initializer> default_init)
      : default_init_(std::move(default_init)) {
    for (const auto& [name, array] : arrays) {
      const bool prefixed = absl::StartsWith(name, "arg:") || absl::StartsWith(name, "aux:");
      arrays_[prefixed ? name.substr(4) : name] = array;
    }
  }

  absl::Status Init(const InitDesc& desc, const NDArray& array, uint64_t seed) const override {
    const auto it = arrays_.find(desc.name);
    if (it == arrays_.end()) {
      if (default_init_ != nullptr) return default_init_->Init(desc, array, seed);
      return absl::InvalidArgumentError(absl::StrCat("initializer load: there is no array '",
                                                     desc.name, "' and no default initializer"));
    }
    if (it->second.shape() != array.shape()) {
      return absl::InvalidArgumentError(
          absl::StrCat("initializer load: '", desc.name, "' is ", array.shape().ToString(),
                       ", the loaded array ", it->second.shape().ToString()));
    }
    return array.CopyFrom(it->second);
  }

  std::string Dumps() const override { return ""; }

 private:
  std::map<std::string, NDArray> arrays_;
  const std::shared_ptr<const Initializer> default_init_;
};

struct Pattern {
  NamePattern names;
  std::shared_ptr<const Initializer> init;
};

class MixedInitializer : public Initializer {
 public:
  explicit MixedInitializer(std::vector<Pattern> patterns) : patterns_(std::move(patterns)) {}

  absl::Status Init(const InitDesc& desc, const NDArray& array, uint64_t seed) const override {
    for (const Pattern& pattern : patterns_) {
      if (pattern.names.Matches(desc.name)) return pattern.init->Init(desc, array, seed);
    }
    return absl::InvalidArgumentError(
        absl::StrCat("initializer mixed: no pattern matches the start of '", desc.name,
                     "': add a pattern \".*\" at the end"));
  }

  std::string Dumps() const override { return ""; }

 private:
  const std::vector<Pattern> patterns_;
};

}  // namespace

std::unique_ptr<Initializer> Load(const std::map<std::string, NDArray>& arrays,
                                  std::shared_ptr<const Initializer> default_init) {
  return std::make_unique<LoadInitializer>(arrays, std::move(default_init));
}

absl::StatusOr<std::unique_ptr<Initializer>> Mixed(
    const std::vector<std::pair<std::string, std::shared_ptr<const Initializer>>>& patterns) {
  std::vector<Pattern> compiled;
  for (const auto& [text, init] : patterns) {
    if (init == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("initializer mixed: pattern '", text, "' has a null initializer"));
    }
    absl::StatusOr<NamePattern> pattern = NamePattern::Create(text);
    if (!pattern.ok()) return AddContext(pattern.status(), "initializer mixed");
    compiled.push_back({*std::move(pattern), init});
  }
  return std::make_unique<MixedInitializer>(std::move(compiled));
}

}  // namespace cooper::init
