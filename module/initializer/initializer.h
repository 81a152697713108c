#ifndef COOPER_MODULE_INITIALIZER_INITIALIZER_H_
#define COOPER_MODULE_INITIALIZER_INITIALIZER_H_

// Gives parameters their first values: MXNet's mx.init. The rule for an array follows from its
// variable's attribute `__init__` or from the end of its name. The kinds of initializers
// (initializers.h) differ in how they fill weights.
//
// Random values depend only on the seed and the array's name: a parameter gets the same values
// whatever other parameters there are, and in whatever order they are initialized.

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

class Initializer;

// Describes an array that is to be initialized.
struct InitDesc {
  std::string name;
  // The variable's attributes. `__init__` holds an initializer in the format of Initializer::Dumps,
  // or its name alone; it takes precedence over the rules for names.
  std::map<std::string, std::string> attrs;
  // Fills the weights inside a packed parameter. Null: the initializer that was called.
  const Initializer* global_init = nullptr;
  // Applies the rules that MXNet uses for a plain string in place of a description: also for names
  // that start with "upsampling" or "stn_loc" and for those of moving statistics.
  bool plain_name = false;
};

// The interface of initializers. Thread-safe: Init is const.
class Initializer {
 public:
  virtual ~Initializer() = default;

  // Overwrites `array`, of any floating dtype and context. kInvalidArgument, naming the array, if
  // there is no rule for its name or the rule does not fit its shape.
  virtual absl::Status Init(const InitDesc& desc, const NDArray& array, uint64_t seed) const = 0;

  // Returns name and arguments as JSON, for the attribute `__init__`: ["constant", {"value":
  // 0.25}]. Empty if the kind has no such text.
  virtual std::string Dumps() const = 0;
};

// Chooses the rule by name: "...weight" is filled by the kind, "...bias", "...beta" and "...min"
// become 0, "...gamma" and "...max" 1.
class NamePatternInitializer : public Initializer {
 public:
  absl::Status Init(const InitDesc& desc, const NDArray& array, uint64_t seed) const final;

  // Whether FillWeight accepts an array of any dtype and context. If not, it gets a float32 array
  // on the CPU, which is then copied.
  virtual bool fills_anywhere() const { return false; }

  // Fills an array, whatever its name.
  virtual absl::Status FillWeight(const InitDesc& desc, const NDArray& values,
                                  uint64_t seed) const = 0;

 private:
  absl::Status FillByName(const InitDesc& desc, const NDArray& array, uint64_t seed) const;
  // Calls FillWeight, with a float32 array on the CPU where the kind needs one.
  absl::Status FillUnnamed(const InitDesc& desc, const NDArray& array, uint64_t seed) const;
};

// Returns the number of the random stream of a name; the same on all machines.
uint64_t RandomStreamOf(absl::string_view name);

}  // namespace cooper

#endif  // COOPER_MODULE_INITIALIZER_INITIALIZER_H_
