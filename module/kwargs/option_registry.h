#ifndef COOPER_MODULE_KWARGS_OPTION_REGISTRY_H_
#define COOPER_MODULE_KWARGS_OPTION_REGISTRY_H_

// What is made by name from texts: optimizers, metrics, initializers and schedules each have a
// registry, to which each kind adds itself in its own file, from a target with `alwayslink`. The
// names of its options are declared as an operator's are (symbol/schema/param_schema.h):
//
//   const bool kRegistered = Schedules().Add<PolyOptions>({"poly"}, Poly, [](auto& d) {
//     d.Field("max_update", &PolyOptions::max_update).Required();
//   });

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "module/kwargs/kwargs.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/status_macros.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// The label of the target that brings each kind, by name: of the targets of `package`, the names
// that each registers.
inline std::map<std::string, std::string> KindTargets(
    absl::string_view package,
    const std::vector<std::pair<std::string, std::vector<std::string>>>& targets) {
  std::map<std::string, std::string> labels;
  for (const auto& [target, kinds] : targets) {
    for (const std::string& kind : kinds) labels[kind] = absl::StrCat(package, ":", target);
  }
  return labels;
}

template <typename Made, typename... Args>
class OptionRegistry {
 public:
  using Result = absl::StatusOr<std::unique_ptr<Made>>;

  // `what` is what its members are called: "optimizer". `targets` are names of kinds that other
  // targets bring, each with its label, for the message to who has not linked one.
  explicit OptionRegistry(std::string what, std::map<std::string, std::string> targets = {})
      : what_(std::move(what)), targets_(std::move(targets)) {}

  // A kind with names in lower case. make(options, args...) gives a Made, or a status, from what
  // kwargs make of `defaults`; declare(ParamDeclaration<Options>&) names the options.
  template <typename Options, typename Make, typename Declare>
  bool Add(const std::vector<std::string>& names, Make make, const Declare& declare,
           Options defaults = {}) {
    const auto schema =
        std::make_shared<const ParamSchema>(ParamDeclaration<Options>::Make(declare));
    for (const std::string& name : names) {
      kinds_[name] = [what = absl::StrCat(what_, " ", name), schema, make, defaults](
                         const Kwargs& kwargs, Args... args) -> Result {
        Options options = defaults;
        COOPER_RETURN_IF_ERROR(schema->Read(kwargs, what, &options));
        return make(options, std::move(args)...);
      };
    }
    return true;
  }

  // `name` in any case. kNotFound, with the names there are and those that are near, for another
  // name, and with the target for a kind that is not linked; kInvalidArgument for unknown options
  // and bad values.
  Result Create(absl::string_view name, const Kwargs& kwargs, Args... args) const {
    const std::string lower = absl::AsciiStrToLower(name);
    const auto it = kinds_.find(lower);
    if (it != kinds_.end()) return it->second(kwargs, std::move(args)...);
    const auto target = targets_.find(lower);
    if (target != targets_.end()) {
      return absl::NotFoundError(
          absl::StrCat(what_, " '", name, "' is not linked: its target is ", target->second));
    }
    return absl::NotFoundError(absl::StrCat("no ", what_, " '", name, "', expected one of ",
                                            absl::StrJoin(names(), ", "), Meant(name)));
  }

  // In alphabetical order.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, make] : kinds_) names.push_back(name);
    return names;
  }

  // The targets of kinds that some target brings, linked or not.
  const std::map<std::string, std::string>& targets() const { return targets_; }

 private:
  // DidYouMean among all kinds, with the targets of those that are not linked.
  std::string Meant(absl::string_view name) const {
    std::vector<std::string> known = names();
    for (const auto& [kind, target] : targets_) {
      if (!kinds_.contains(kind)) known.push_back(kind);
    }
    std::string text = DidYouMean(name, known);
    for (const absl::string_view near :
         NearNames(name, std::vector<absl::string_view>(known.begin(), known.end()))) {
      const std::string kind(near);
      const auto target = targets_.find(kind);
      if (target == targets_.end() || kinds_.contains(kind)) continue;
      absl::StrAppend(&text, " '", kind, "' is not linked: its target is ", target->second);
    }
    return text;
  }

  const std::string what_;
  const std::map<std::string, std::string> targets_;
  std::map<std::string, std::function<Result(const Kwargs&, Args...)>> kinds_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_KWARGS_OPTION_REGISTRY_H_
