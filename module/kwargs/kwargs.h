#ifndef COOPER_MODULE_KWARGS_KWARGS_H_
#define COOPER_MODULE_KWARGS_KWARGS_H_

// What Python passes by keyword, as texts: how optimizers, schedulers, metrics and initializers are
// made by name from a command line, a configuration file or an attribute of a symbol.

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "symbol/param_text.h"

namespace cooper {

// Values as Python prints them: "0.1", "True", "(2, 4)", "None". {{"momentum", "0.9"}}
using Kwargs = std::map<std::string, std::string>;

// Reads kwargs into the fields of an options struct:
//
//   KwargReader reader("optimizer sgd", kwargs);
//   reader.Read("momentum", &options.momentum);
//   COOPER_RETURN_IF_ERROR(reader.Finish());
class KwargReader {
 public:
  // `what` begins every message. `kwargs` must outlive the reader.
  KwargReader(absl::string_view what, const Kwargs& kwargs) : what_(what), kwargs_(kwargs) {}

  // Parses the value into a field of any type of param_text.h; a missing one leaves the field as
  // it is. Returns whether it was given.
  template <typename T>
  bool Read(const std::string& name, T* field) {
    known_.push_back(name);
    const auto it = kwargs_.find(name);
    if (it == kwargs_.end()) return false;
    const absl::Status status = ParseParamText(it->second, field);
    if (!status.ok()) Fail(name, it->second, status);
    return true;
  }

  // Makes Finish() fail unless `name` was given.
  void Require(const std::string& name);

  // kInvalidArgument with the first value that could not be read, the first required name that is
  // missing, or the first given name that no Read() asked for and the names that may be given.
  absl::Status Finish() const;

 private:
  void Fail(const std::string& name, const std::string& text, const absl::Status& why);

  const std::string what_;
  const Kwargs& kwargs_;
  std::vector<std::string> known_;
  absl::Status status_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_KWARGS_KWARGS_H_
