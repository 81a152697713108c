#include "module/pickle/pickle_builder.h"

#include <cstring>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "module/pickle/pickle_class.h"
#include "module/pickle/pickle_text.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

absl::Status BadArguments(const PickleValue& callee) {
  return absl::InvalidArgumentError(
      absl::StrCat("the arguments of ", callee.text, " are not those that MXNet writes"));
}

// Reads a number of NumPy from its little-endian bytes.
template <typename T>
std::optional<T> NumberFrom(absl::string_view bytes) {
  T number;
  if (bytes.size() != sizeof(number)) return std::nullopt;
  std::memcpy(&number, bytes.data(), sizeof(number));
  return number;
}

PickleValue Float(double number) { return {.type = PickleType::kFloat, .number = number}; }
PickleValue Int(int64_t integer) { return {.type = PickleType::kInt, .integer = integer}; }

}  // namespace

absl::StatusOr<PickleRef> PickleBuilder::Add(PickleValue value) {
  const auto count = static_cast<int64_t>(pickle_.values.size());
  if (count >= max_values_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the pickle has more than ", max_values_, " values"));
  }
  pickle_.values.push_back(std::move(value));
  return static_cast<PickleRef>(count);
}

absl::StatusOr<PickleRef> PickleBuilder::AddDecoded(PickleType type, std::string bytes) {
  if (static_cast<int64_t>(bytes.size()) > decoded_left_) {
    return absl::ResourceExhaustedError(
        "the texts of the pickle take many times the bytes of the file");
  }
  decoded_left_ -= static_cast<int64_t>(bytes.size());
  pickle_.decoded.push_back(std::move(bytes));
  return Add({.type = type, .text = pickle_.decoded.back()});
}

absl::StatusOr<PickleRef> PickleBuilder::AddClass(absl::string_view module,
                                                  absl::string_view name) {
  const std::string full_name = absl::StrCat(module, ".", name);
  const std::optional<PickleClass> cls = FindPickleClass(module, name);
  if (!cls.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the class '", absl::Utf8SafeCEscape(full_name.substr(0, 200)),
        "' is not one of optimizer states (NDArray, bytearray, numbers of NumPy, MXNet's "
        "optimizers and schedules); nothing of a pickle is executed"));
  }
  COOPER_ASSIGN_OR_RETURN(const PickleRef ref, AddDecoded(PickleType::kClass, full_name));
  at(ref).cls = *cls;
  return ref;
}

absl::StatusOr<PickleRef> PickleBuilder::AddObject(const PickleValue& cls) {
  return Add({.type = PickleType::kObject, .cls = cls.cls, .text = cls.text});
}

// bytearray(), bytearray(bytes), bytearray(text, 'latin-1') and _codecs.encode(text, 'latin1').
absl::StatusOr<PickleRef> PickleBuilder::AddBytes(const PickleValue& callee,
                                                  const PickleValue& args) {
  const bool is_array = callee.cls == PickleClass::kBytearray;
  if (args.items.empty() && is_array) return Add({.type = PickleType::kBytes});
  if (args.items.empty()) return BadArguments(callee);
  const PickleValue& content = at(args.items[0]);
  if (args.items.size() == 1 && is_array && content.type == PickleType::kBytes) {
    return Add({.type = PickleType::kBytes, .text = content.text});
  }
  if (args.items.size() != 2 || content.type != PickleType::kText) return BadArguments(callee);
  const absl::string_view encoding = at(args.items[1]).text;
  if (encoding != "latin-1" && encoding != "latin1") return BadArguments(callee);
  COOPER_ASSIGN_OR_RETURN(std::string bytes, EncodeLatin1(content.text));
  return AddDecoded(PickleType::kBytes, std::move(bytes));
}

// numpy.core.multiarray.scalar(dtype, bytes).
absl::StatusOr<PickleRef> PickleBuilder::AddScalar(const PickleValue& callee,
                                                   const PickleValue& args) {
  if (args.items.size() != 2) return BadArguments(callee);
  const PickleValue& dtype = at(args.items[0]);
  if (dtype.type != PickleType::kObject || dtype.cls != PickleClass::kDtype) {
    return BadArguments(callee);
  }
  const absl::string_view bytes = at(args.items[1]).text;
  if (dtype.text == "f8") {
    if (const auto number = NumberFrom<double>(bytes)) return Add(Float(*number));
  } else if (dtype.text == "f4") {
    if (const auto number = NumberFrom<float>(bytes)) return Add(Float(*number));
  } else if (dtype.text == "i8") {
    if (const auto number = NumberFrom<int64_t>(bytes)) return Add(Int(*number));
  } else if (dtype.text == "i4") {
    if (const auto number = NumberFrom<int32_t>(bytes)) return Add(Int(*number));
  }
  return BadArguments(callee);
}

absl::StatusOr<PickleRef> PickleBuilder::Call(PickleRef callee_ref, PickleRef args_ref) {
  // Copies, since adding a value moves the others. The lists of arguments are short.
  const PickleValue callee = at(callee_ref);
  if (callee.type != PickleType::kClass) {
    return absl::InvalidArgumentError("a value that is no class is called");
  }
  if (at(args_ref).type != PickleType::kTuple || at(args_ref).items.size() > 3) {
    return BadArguments(callee);
  }
  const PickleValue args = at(args_ref);
  const auto is_class = [&](size_t i, PickleClass cls) {
    const PickleValue& value = at(args.items[i]);
    return value.type == PickleType::kClass && value.cls == cls;
  };
  switch (callee.cls) {
    case PickleClass::kNdarray:
      // The argument is the handle, which the state replaces.
      if (args.items.size() != 1 || at(args.items[0]).type != PickleType::kNone) break;
      return AddObject(callee);
    case PickleClass::kBytearray:
    case PickleClass::kEncode:
      return AddBytes(callee, args);
    case PickleClass::kReconstructor:
      if (args.items.size() != 3 || !is_class(1, PickleClass::kObject)) break;
      if (!is_class(0, PickleClass::kOptimizer) && !is_class(0, PickleClass::kScheduler)) break;
      return AddObject(PickleValue(at(args.items[0])));
    case PickleClass::kDtype:
      if (args.items.empty() || at(args.items[0]).type != PickleType::kText) break;
      return Add({.type = PickleType::kObject, .cls = callee.cls, .text = at(args.items[0]).text});
    case PickleClass::kScalar:
      return AddScalar(callee, args);
    case PickleClass::kObject:
    case PickleClass::kOptimizer:
    case PickleClass::kScheduler:
      break;
  }
  return BadArguments(callee);
}

absl::StatusOr<PickleRef> PickleBuilder::NewObject(PickleRef cls_ref, PickleRef args) {
  const PickleValue cls = at(cls_ref);
  if (cls.type != PickleType::kClass) {
    return absl::InvalidArgumentError("an object is made of a value that is no class");
  }
  const bool is_object = cls.cls == PickleClass::kOptimizer || cls.cls == PickleClass::kScheduler;
  if (!is_object || at(args).type != PickleType::kTuple || !at(args).items.empty()) {
    return BadArguments(cls);
  }
  return AddObject(cls);
}

absl::Status PickleBuilder::SetState(PickleRef object, PickleRef state) {
  PickleValue& value = at(object);
  if (value.type != PickleType::kObject) {
    return absl::InvalidArgumentError("a value that is no object gets a state");
  }
  if (value.cls == PickleClass::kDtype) {
    // (version, byte order, ...): numbers are read as little-endian.
    const PickleValue& description = at(state);
    const bool fits = description.type == PickleType::kTuple && description.items.size() > 1 &&
                      at(description.items[1]).text != ">";
    if (!fits) return absl::InvalidArgumentError("a dtype of NumPy is not little-endian");
  } else if (at(state).type != PickleType::kDict) {
    return absl::InvalidArgumentError(
        absl::StrCat("the state of ", value.text, " is not a dictionary"));
  }
  value.items = {state};
  return absl::OkStatus();
}

}  // namespace cooper
