#ifndef COOPER_MODULE_PICKLE_PICKLE_VALUE_H_
#define COOPER_MODULE_PICKLE_PICKLE_VALUE_H_

// The values of a Python pickle as plain data. Values refer to each other by number, since a pickle
// may share a value between others, and may make a list that contains itself.

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "module/pickle/pickle_class.h"

namespace cooper {

// The number of a value of a Pickle.
using PickleRef = int32_t;

// The kinds of values that optimizer states consist of. A class is a name; an object is the result
// of calling a class, such as an array or a dtype.
enum class PickleType {
  kNone,
  kBool,
  kInt,
  kFloat,
  kText,
  kBytes,
  kTuple,
  kList,
  kDict,
  kClass,
  kObject
};

// One value. The members that a type does not use are 0 or empty.
struct PickleValue {
  PickleType type = PickleType::kNone;
  PickleClass cls = PickleClass::kObject;  // kClass, kObject
  int64_t integer = 0;                     // kBool, kInt
  double number = 0;                       // kFloat
  // kText: UTF-8, or the bytes of a string of Python 2. kBytes: bytes. kClass, kObject: the name of
  // the class, "mxnet.optimizer.optimizer.Adam"; of a dtype of NumPy its code, "f8". Refers to the
  // parsed bytes or to Pickle::decoded.
  absl::string_view text;
  // kTuple, kList: the elements. kDict: keys and values in turn; a later pair replaces an earlier
  // one of the same key. kObject: the state that the pickle gives it (one value, or none).
  std::vector<PickleRef> items;
};

// A parsed pickle (unpickle.h).
struct Pickle {
  std::vector<PickleValue> values;
  PickleRef root = 0;
  std::deque<std::string> decoded;  // texts and bytes that are not in the file as they are

  const PickleValue& operator[](PickleRef ref) const { return values[static_cast<size_t>(ref)]; }

  // Returns the value of the text `key` in a dictionary; null if it has none, or `dict` is no
  // dictionary.
  const PickleValue* Find(const PickleValue& dict, absl::string_view key) const;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PICKLE_PICKLE_VALUE_H_
