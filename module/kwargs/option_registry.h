#ifndef COOPER_MODULE_KWARGS_OPTION_REGISTRY_H_
#define COOPER_MODULE_KWARGS_OPTION_REGISTRY_H_

// A registry of factories that create objects by name from keyword arguments. Optimizers, metrics,
// initializers and schedules each have one; each kind registers itself in its own source file, in a
// target with `alwayslink`. Options are declared in the same way as an operator's parameters
// (symbol/schema/param_schema.h):
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

// Returns the label of the target that registers each kind. `targets` lists, for each target of
// `package`, the names that it registers. A name that several targets list gets the last of them.
inline std::map<std::string, std::string> KindTargets(
    absl::string_view package,
    const std::vector<std::pair<std::string, std::vector<std::string>>>& targets) {
  std::map<std::string, std::string> labels;
  for (const auto& [target, kinds] : targets) {
    for (const std::string& kind : kinds) labels[kind] = absl::StrCat(package, ":", target);
  }
  return labels;
}

// A registry of kinds of `Made`, whose factories take Args besides the options. Not thread-safe
// while kinds are being added.
template <typename Made, typename... Args>
class OptionRegistry {
 public:
  using Result = absl::StatusOr<std::unique_ptr<Made>>;

  // `what` names the kinds in messages: "optimizer". `targets` has the labels of the targets of
  // other kinds, so that messages can name a target which is not linked.
  explicit OptionRegistry(std::string what, std::map<std::string, std::string> targets = {})
      : what_(std::move(what)), targets_(std::move(targets)) {}

  // Adds a kind under these names, in lower case. make(options, args...) returns a
  // std::unique_ptr<Made>, or a status, from `defaults` overwritten by the keyword arguments;
  // declare(ParamDeclaration<Options>&) declares the options. Returns true. The names share one
  // schema; `make` is copied for each of them. A name that exists already gets the new factory.
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

  // Creates an object of the kind `name`, in any case. Errors: kNotFound for an unknown name, with
  // the known and the similar names, and for a kind that is not linked, with its target;
  // kInvalidArgument for unknown options and bad values. Errors of the factory are returned as they
  // are. Thread-safe once all kinds are added.
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
                                            absl::StrJoin(names(), ", "), Suggestion(name)));
  }

  // The names of the linked kinds, in alphabetical order.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, make] : kinds_) names.push_back(name);
    return names;
  }

  // The targets by name of kind, linked or not.
  const std::map<std::string, std::string>& targets() const { return targets_; }

 private:
  // Returns DidYouMean among all kinds, with the targets of kinds that are not linked.
  std::string Suggestion(absl::string_view name) const {
    std::vector<std::string> known = names();
    for (const auto& [kind, target] : targets_) {
      if (!kinds_.contains(kind)) known.push_back(kind);
    }
    std::string text = DidYouMean(name, known);
    for (const absl::string_view near :
         SimilarNames(name, std::vector<absl::string_view>(known.begin(), known.end()))) {
      const std::string kind(near);
      const auto target = targets_.find(kind);
      if (target == targets_.end() || kinds_.contains(kind)) continue;
      absl::StrAppend(&text, " '", kind, "' is not linked: its target is ", target->second);
    }
    return text;
  }

  // Only for messages. `targets_` has linked kinds too, so a kind is missing from the program if it
  // is in `targets_` but not in `kinds_`.
  const std::string what_;
  const std::map<std::string, std::string> targets_;
  // By name in lower case. Not changed after the program's static initializers, unless a program
  // adds kinds itself.
  std::map<std::string, std::function<Result(const Kwargs&, Args...)>> kinds_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_KWARGS_OPTION_REGISTRY_H_
