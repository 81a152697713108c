#ifndef COOPER_SYMBOL_SCHEMA_PARAM_SCHEMA_H_
#define COOPER_SYMBOL_SCHEMA_PARAM_SCHEMA_H_

// Declares an operator's parameters: a plain struct, and one declaration of the names, ranges and
// meaning of its fields. Parsing from attributes, printing, defaults and documentation are derived
// from that declaration.
//
//   struct FullyConnectedParam {
//     int64_t num_hidden = 0;
//     bool no_bias = false;
//     static void Declare(ParamDeclaration<FullyConnectedParam>& d) {
//       d.Field("num_hidden", &FullyConnectedParam::num_hidden).Required().Min(1).Doc("...");
//       d.Field("no_bias", &FullyConnectedParam::no_bias).Doc("whether bias is left out");
//     }
//   };
//
// The default of a field without Required() is the struct's initializer. Texts have the form of
// MXNet's Python front end: "True", "(2, 2)", "None", "1e-05".

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/schema/param_text.h"

namespace cooper {

// A node's attributes as text, by name.
using AttrMap = std::map<std::string, std::string>;

// The declaration of one field, type-erased. A field is made by ParamDeclaration and not changed
// afterwards; Parse and Print are thread-safe.
struct ParamField {
  // Parses `text` into the field of the struct at `params`. Errors: kInvalidArgument, with what was
  // expected.
  absl::Status Parse(const std::string& text, void* params) const {
    return parse(*this, text, static_cast<char*>(params) + offset);
  }
  // Returns the field's text, in the form that Parse reads.
  std::string Print(const void* params) const {
    return print(*this, static_cast<const char*>(params) + offset);
  }

  // The attribute's name, and what it means, one line for the generated documentation.
  std::string name;
  std::string doc;
  std::string type;                                       // as ParamTypeName returns it, or "enum"
  std::vector<std::string> allowed;                       // the texts of an enumeration
  double min = -std::numeric_limits<double>::infinity();  // of a number
  double max = std::numeric_limits<double>::infinity();
  bool required = false;

  // The functions of the field's type, and the place of its value in the struct. These are
  // functions, not closures, so that they exist once for each type.
  absl::Status (*parse)(const ParamField& field, const std::string& text, void* value) = nullptr;
  std::string (*print)(const ParamField& field, const void* value) = nullptr;
  size_t offset = 0;
  std::vector<int64_t> values;  // the values of the texts in `allowed`
  size_t size = 0;              // the bytes of an enumeration
};

namespace internal_param_schema {

template <typename T>
absl::Status ParseValue(const ParamField& field, const std::string& text, void* value) {
  T parsed{};
  COOPER_RETURN_IF_ERROR(ParseParamText(text, &parsed));
  COOPER_RETURN_IF_ERROR(CheckParamRange(parsed, field.min, field.max));
  *static_cast<T*>(value) = std::move(parsed);
  return absl::OkStatus();
}

template <typename T>
std::string PrintValue(const ParamField& /*field*/, const void* value) {
  return PrintParamText(*static_cast<const T*>(value));
}

// Returns a field of this type.
template <typename T>
ParamField FieldOfType() {
  return {.name = {},
          .doc = {},
          .type = ParamTypeName(static_cast<const T*>(nullptr)),
          .allowed = {},
          .parse = ParseValue<T>,
          .print = PrintValue<T>,
          .values = {}};
}

// Returns an enumeration whose values are integers of `size` bytes: 1, 2, 4 or 8.
ParamField EnumField(size_t size);

// The types of nearly all fields are instantiated in param_schema.cc.
extern template ParamField FieldOfType<int>();
extern template ParamField FieldOfType<int64_t>();
extern template ParamField FieldOfType<bool>();
extern template ParamField FieldOfType<double>();
extern template ParamField FieldOfType<float>();
extern template ParamField FieldOfType<std::string>();
extern template ParamField FieldOfType<DType>();
extern template ParamField FieldOfType<std::vector<int64_t>>();
extern template ParamField FieldOfType<std::vector<double>>();
extern template ParamField FieldOfType<std::vector<float>>();
extern template ParamField FieldOfType<std::optional<int>>();
extern template ParamField FieldOfType<std::optional<int64_t>>();
extern template ParamField FieldOfType<std::optional<bool>>();
extern template ParamField FieldOfType<std::optional<double>>();
extern template ParamField FieldOfType<std::optional<float>>();
extern template ParamField FieldOfType<std::optional<DType>>();
extern template ParamField FieldOfType<std::optional<std::string>>();
extern template ParamField FieldOfType<std::optional<std::vector<int64_t>>>();

}  // namespace internal_param_schema

class FieldDeclaration;

// The declaration of a parameter struct. Immutable. Thread-safe. A schema lives as long as the
// program if ParamDeclaration::Schema made it.
class ParamSchema {
 public:
  // Returns the struct filled from `attrs`. Keys of the form __x__ are hidden attributes and are
  // ignored. Fails with kInvalidArgument, naming key, text and the allowed values, for an unknown
  // key, a missing required key, or an invalid text. The result is a P, the struct that the schema
  // was declared for, and shared: nodes with equal attributes do not share it. Costs one allocation
  // and a search in `attrs` for each field.
  absl::StatusOr<std::shared_ptr<const void>> Parse(const AttrMap& attrs) const;

  // Sets the fields of the struct at `options` that `texts` names, for options other than operator
  // parameters, such as an optimizer's. Fails as Parse does, except that no key is hidden; after an
  // error some fields may be set. Every error message begins with `what`, such as "optimizer sgd".
  absl::Status Read(const AttrMap& texts, absl::string_view what, void* options) const;

  // Returns the text of every field, by its name, also of those at their defaults. `params` must be
  // a struct of this schema.
  AttrMap Print(const void* params) const;

  // Return the struct with its initial values, and the texts of its fields. The initial value of a
  // required field has no meaning.
  std::shared_ptr<void> MakeDefault() const { return make_(); }
  AttrMap Defaults() const { return Print(make_().get()); }

  // Returns the declarations of the fields, in the order of P::Declare.
  const std::vector<ParamField>& fields() const { return fields_; }

 private:
  template <typename P>
  friend class ParamDeclaration;

  FieldDeclaration Add(absl::string_view name, ParamField field, size_t offset);
  FieldDeclaration Add(absl::string_view name, ParamField (*make)(), size_t offset);
  bool IsKnown(const std::string& name) const;
  std::string FieldNames() const;
  std::string Suggestion(const std::string& name) const;  // DidYouMean among the fields

  std::vector<ParamField> fields_;
  std::shared_ptr<void> (*make_)() = nullptr;
};

// Refines the field declared last. Valid while P::Declare runs.
class FieldDeclaration {
 public:
  explicit FieldDeclaration(ParamField* field) : field_(field) {}

  // Makes the attribute required: parsing fails without it, and the struct's initial value has no
  // meaning.
  FieldDeclaration& Required();
  // Sets the meaning: one line without a full stop, for the generated pages of operators.
  FieldDeclaration& Doc(absl::string_view doc);
  // Sets the smallest and the greatest allowed value. Numbers only. The limits are inclusive.
  // Parsing fails for numbers outside; the default is not checked. Elements of tuples have no
  // limits.
  FieldDeclaration& Min(double min);
  FieldDeclaration& Max(double max);

 private:
  ParamField* field_;
};

// A value of an enumeration and its text.
template <typename T>
struct EnumName {
  const char* text;
  T value;
};
// A list of them, which does not own its elements: write it as an argument, or define it constexpr
// at namespace scope.
template <typename T>
using EnumNames = std::initializer_list<EnumName<T>>;

// Collects the fields of P; passed to P::Declare. The order of declarations is the order of the
// documentation, of generated C++ options, and of errors.
template <typename P>
class ParamDeclaration {
 public:
  // Returns the schema that P::Declare describes; built once. Thread-safe.
  static const ParamSchema* Schema() {
    static const auto* schema = new ParamSchema(Make(P::Declare));
    return schema;
  }
  // Returns the schema that declare(ParamDeclaration<P>&) describes. Use it where the options have
  // no static Declare, such as those of optimizers.
  template <typename Declare>
  static ParamSchema Make(const Declare& declare) {
    ParamSchema schema;
    schema.make_ = []() -> std::shared_ptr<void> { return std::make_shared<P>(); };
    schema.fields_.reserve(kMaxFields);
    ParamDeclaration declaration(&schema);
    declare(declaration);
    return schema;
  }

  // Declares a field of a type that param_text.h parses: integers, bool, floating point,
  // std::string, DType, tuples (std::vector) and std::optional of these ("None"). The member may
  // belong to a base of P.
  template <typename T, typename B>
  FieldDeclaration Field(absl::string_view name, T B::*member) {
    return Add(name, internal_param_schema::FieldOfType<T>, &(probe_.*member));
  }
  // Declares a field that is a member of a nested struct.
  template <typename T, typename Part>
  FieldDeclaration Field(absl::string_view name, Part P::*part, T Part::*member) {
    return Add(name, internal_param_schema::FieldOfType<T>, &(probe_.*part.*member));
  }
  // Declares an attribute that is parsed as a T but ignored, and printed as T's zero value: for
  // MXNet's attributes without a meaning here.
  template <typename T>
  void Ignored(absl::string_view name) {
    ParamField field = internal_param_schema::FieldOfType<T>();
    field.parse = [](const ParamField&, const std::string& text, void*) {
      T value{};
      return ParseParamText(text, &value);
    };
    field.print = [](const ParamField&, const void*) { return PrintParamText(T{}); };
    schema_->Add(name, std::move(field), 0);
  }

  // Declares an enumeration with the text of each of its values. Other texts fail with
  // kInvalidArgument, listing these; texts are compared exactly. A value without a text, which only
  // a struct made in C++ can have, prints as an empty text.
  template <typename T, typename B>
  FieldDeclaration Enum(absl::string_view name, T B::*member,
                        EnumNames<std::type_identity_t<T>> names) {
    return AddEnum(name, &(probe_.*member), names);
  }
  template <typename T, typename Part>
  FieldDeclaration Enum(absl::string_view name, Part P::*part, T Part::*member,
                        EnumNames<std::type_identity_t<T>> names) {
    return AddEnum(name, &(probe_.*part.*member), names);
  }

 private:
  // FieldDeclarations point into the vector, so it must not reallocate while P::Declare runs.
  static constexpr size_t kMaxFields = 64;

  explicit ParamDeclaration(ParamSchema* schema) : schema_(schema) {}

  template <typename T>
  FieldDeclaration AddEnum(absl::string_view name, const T* value, EnumNames<T> names) {
    static_assert(std::is_enum_v<T> || std::is_integral_v<T>);
    ParamField field = internal_param_schema::EnumField(sizeof(T));
    for (const EnumName<T>& known : names) {
      field.allowed.emplace_back(known.text);
      field.values.push_back(static_cast<int64_t>(known.value));
    }
    return schema_->Add(name, std::move(field), OffsetOf(value));
  }

  // Adds the field that make() returns; `value` is its value in probe_. The result is valid while
  // P::Declare runs.
  FieldDeclaration Add(absl::string_view name, ParamField (*make)(), const void* value) {
    return schema_->Add(name, make, OffsetOf(value));
  }

  // Returns the place of `value`, which is in probe_, in a P.
  size_t OffsetOf(const void* value) const {
    return static_cast<const char*>(value) - reinterpret_cast<const char*>(&probe_);
  }

  ParamSchema* const schema_;
  const P probe_ = P();  // tells where a P has its fields
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_PARAM_SCHEMA_H_
