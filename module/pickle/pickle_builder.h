#ifndef COOPER_MODULE_PICKLE_PICKLE_BUILDER_H_
#define COOPER_MODULE_PICKLE_PICKLE_BUILDER_H_

// Collects the values of a pickle while it is read, and reads the arguments of the classes that it
// names (pickle_class.h).

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "module/pickle/pickle_value.h"

namespace cooper {

// References to values stay valid until the next value is added. Functions that add a value return
// its reference. Not thread-safe.
class PickleBuilder {
 public:
  // `max_values` and `max_decoded_bytes` bound what a pickle may have.
  PickleBuilder(int64_t max_values, int64_t max_decoded_bytes)
      : max_values_(max_values), decoded_left_(max_decoded_bytes) {}

  PickleValue& at(PickleRef ref) { return pickle_.values[static_cast<size_t>(ref)]; }
  const PickleValue& at(PickleRef ref) const { return pickle_[ref]; }

  // Adds a value. kResourceExhausted beyond the limit.
  absl::StatusOr<PickleRef> Add(PickleValue value);
  // Adds a text or bytes that are decoded from the file. kResourceExhausted beyond the limit.
  absl::StatusOr<PickleRef> AddDecoded(PickleType type, std::string bytes);

  // Adds the class of that name; kInvalidArgument, naming it, if it is not known.
  absl::StatusOr<PickleRef> AddClass(absl::string_view module, absl::string_view name);
  // Adds the result of the class or function `callee` for the tuple `args`. kInvalidArgument,
  // naming it, for arguments that MXNet does not write.
  absl::StatusOr<PickleRef> Call(PickleRef callee, PickleRef args);
  // Adds an object of a class without arguments.
  absl::StatusOr<PickleRef> NewObject(PickleRef cls, PickleRef args);
  // Gives an object its state. kInvalidArgument for values that take none.
  absl::Status SetState(PickleRef object, PickleRef state);

  // Returns the pickle whose outermost value is `root`.
  Pickle Finish(PickleRef root) && {
    pickle_.root = root;
    return std::move(pickle_);
  }

 private:
  absl::StatusOr<PickleRef> AddObject(const PickleValue& cls);
  absl::StatusOr<PickleRef> AddBytes(const PickleValue& callee, const PickleValue& args);
  absl::StatusOr<PickleRef> AddScalar(const PickleValue& callee, const PickleValue& args);

  Pickle pickle_;
  const int64_t max_values_;
  int64_t decoded_left_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PICKLE_PICKLE_BUILDER_H_
