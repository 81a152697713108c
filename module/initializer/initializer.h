#ifndef COOPER_MODULE_INITIALIZER_INITIALIZER_H_
#define COOPER_MODULE_INITIALIZER_INITIALIZER_H_

// Gives parameters their first values: MXNet's mx.init. What an array is filled with follows from
// its variable's attribute `__init__` or from the end of its name; the kinds of initializers
// (initializers.h) differ in what they do with weights.
//
// Random values depend on the seed and the array's name alone: a parameter gets the same ones
// whichever other parameters there are, and in whichever order they are initialized.

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

class Initializer;

// What is known of an array that is to be initialized.
struct InitDesc {
  std::string name;
  // The variable's attributes. `__init__` holds an initializer as Initializer::Dumps writes it, or
  // its name alone; it wins over the rules for names.
  std::map<std::string, std::string> attrs;
  // Fills the weights inside of a packed parameter. Null: the initializer that was called.
  const Initializer* global_init = nullptr;
  // As if MXNet were called with a plain string in place of a description: adds rules for names
  // that start with "upsampling" or "stn_loc" and for those of moving statistics.
  bool plain_name = false;
};

class Initializer {
 public:
  virtual ~Initializer() = default;

  // Overwrites `array`, of any floating dtype and context. kInvalidArgument, naming the array, if
  // there is no rule for its name or its shape does not suit the rule.
  virtual absl::Status Init(const InitDesc& desc, const NDArray& array, uint64_t seed) const = 0;

  // Name and arguments as JSON, for the attribute `__init__`: ["constant", {"value": 0.25}]. Empty
  // if the kind cannot be written so.
  virtual std::string Dumps() const = 0;
};

// Chooses by name: "...weight" is left to the kind, "...bias", "...beta" and "...min" become 0,
// "...gamma" and "...max" 1.
class NamePatternInitializer : public Initializer {
 public:
  absl::Status Init(const InitDesc& desc, const NDArray& array, uint64_t seed) const final;

  // Whether FillWeight fills an array of any dtype where it is. If not, it gets a float32 one on
  // the CPU, which is copied.
  virtual bool fills_anywhere() const { return false; }

  // Fills an array whatever its name is.
  virtual absl::Status FillWeight(const InitDesc& desc, const NDArray& values,
                                  uint64_t seed) const = 0;

 private:
  absl::Status FillByName(const InitDesc& desc, const NDArray& array, uint64_t seed) const;
  // FillWeight, by way of the CPU where that is needed.
  absl::Status FillOwn(const InitDesc& desc, const NDArray& array, uint64_t seed) const;
};

// The number of the random stream that belongs to a name.
uint64_t RandomStreamOf(absl::string_view name);

}  // namespace cooper

#endif  // COOPER_MODULE_INITIALIZER_INITIALIZER_H_
