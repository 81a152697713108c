#ifndef COOPER_MODULE_KWARGS_OPTION_REGISTRY_H_
#define COOPER_MODULE_KWARGS_OPTION_REGISTRY_H_

// What is made by name from texts: optimizers, metrics, initializers and schedules each have a
// registry, to which each kind adds itself in its own file, from a target with `alwayslink`. The
// names of its options are declared as an operator's are (symbol/param_schema.h):
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
#include "ndarray/near_names.h"
#include "ndarray/status_macros.h"
#include "symbol/param_schema.h"

namespace cooper {

template <typename Made, typename... Args>
class OptionRegistry {
 public:
  using Result = absl::StatusOr<std::unique_ptr<Made>>;

  // `what` is what its members are called: "optimizer".
  explicit OptionRegistry(std::string what) : what_(std::move(what)) {}

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

  // `name` in any case. kNotFound, with the names there are, for another name; kInvalidArgument for
  // unknown options and bad values.
  Result Create(absl::string_view name, const Kwargs& kwargs, Args... args) const {
    const auto it = kinds_.find(absl::AsciiStrToLower(name));
    if (it != kinds_.end()) return it->second(kwargs, std::move(args)...);
    return absl::NotFoundError(absl::StrCat("no ", what_, " '", name, "', expected one of ",
                                            absl::StrJoin(names(), ", "),
                                            DidYouMean(name, names())));
  }

  // In alphabetical order.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, make] : kinds_) names.push_back(name);
    return names;
  }

 private:
  const std::string what_;
  std::map<std::string, std::function<Result(const Kwargs&, Args...)>> kinds_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_KWARGS_OPTION_REGISTRY_H_
