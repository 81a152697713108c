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

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/schema/param_text.h"

namespace cooper {

// A node's attributes as text, by name.
using AttrMap = std::map<std::string, std::string>;

// The declaration of one field, type-erased. A field is made by ParamDeclaration and not changed
// afterwards; `parse` and `print` are thread-safe.
struct ParamField {
  // The attribute's name, and what it means, one line for the generated documentation.
  std::string name;
  std::string doc;
  std::string type;                                       // as ParamTypeName returns it, or "enum"
  std::vector<std::string> allowed;                       // the texts of an enumeration
  double min = -std::numeric_limits<double>::infinity();  // of a number
  double max = std::numeric_limits<double>::infinity();
  bool required = false;
  // Parses `text` into the field of the struct at `params`.
  std::function<absl::Status(const std::string& text, void* params)> parse;
  // Returns the field's text, in the form that `parse` reads.
  std::function<std::string(const void* params)> print;
};

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

  bool IsKnown(const std::string& name) const;
  std::string FieldNames() const;
  std::string Suggestion(const std::string& name) const;  // DidYouMean among the fields

  std::vector<ParamField> fields_;
  std::function<std::shared_ptr<void>()> make_;
};

// Refines the field declared last. Valid while P::Declare runs; T is the field's type.
template <typename T>
class FieldDeclaration {
 public:
  // The limits that the parser of the field checks. It shares them with this object, since they are
  // set after the parser has been made.
  struct Rules {
    double min = -std::numeric_limits<double>::infinity();
    double max = std::numeric_limits<double>::infinity();
    std::vector<std::pair<std::string, T>> names;  // of an enumeration
  };

  FieldDeclaration(ParamField* field, std::shared_ptr<Rules> rules)
      : field_(field), rules_(std::move(rules)) {}

  // Makes the attribute required: parsing fails without it, and the struct's initial value has no
  // meaning.
  FieldDeclaration& Required() {
    field_->required = true;
    return *this;
  }
  // Sets the meaning: one line without a full stop, for the generated pages of operators.
  FieldDeclaration& Doc(std::string doc) {
    field_->doc = std::move(doc);
    return *this;
  }
  // Sets the smallest and the greatest allowed value. Numbers only. The limits are inclusive.
  // Parsing fails for numbers outside; the default is not checked. Elements of tuples have no
  // limits.
  FieldDeclaration& Min(double min) {
    rules_->min = field_->min = min;
    return *this;
  }
  FieldDeclaration& Max(double max) {
    rules_->max = field_->max = max;
    return *this;
  }

 private:
  ParamField* field_;
  std::shared_ptr<Rules> rules_;
};

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
    schema.make_ = [] { return std::make_shared<P>(); };
    schema.fields_.reserve(kMaxFields);
    ParamDeclaration declaration(&schema);
    declare(declaration);
    return schema;
  }

  // Declares a field of a type that param_text.h parses: integers, bool, floating point,
  // std::string, DType, tuples (std::vector) and std::optional of these ("None"). The member may
  // belong to a base of P.
  template <typename T, typename B>
  FieldDeclaration<T> Field(std::string name, T B::*member) {
    return FieldOf<T>(std::move(name), [member](P& params) -> T& { return params.*member; });
  }
  // Declares a field that is a member of a nested struct.
  template <typename T, typename Part>
  FieldDeclaration<T> Field(std::string name, Part P::*part, T Part::*member) {
    return FieldOf<T>(std::move(name),
                      [part, member](P& params) -> T& { return params.*part.*member; });
  }
  // Declares an attribute that is parsed as a T but ignored, and printed as T's zero value: for
  // MXNet's attributes without a meaning here.
  template <typename T>
  void Ignored(std::string name) {
    ParamField* field = Add(std::move(name));
    field->type = ParamTypeName(static_cast<const T*>(nullptr));
    field->parse = [](const std::string& text, void*) {
      T value{};
      return ParseParamText(text, &value);
    };
    field->print = [](const void*) { return PrintParamText(T{}); };
  }

  // Declares an enumeration with the text of each of its values. Other texts fail with
  // kInvalidArgument, listing these; texts are compared exactly.
  template <typename T, typename B>
  FieldDeclaration<T> Enum(std::string name, T B::*member,
                           std::vector<std::pair<std::string, T>> names) {
    return EnumOf<T>(
        std::move(name), [member](P& params) -> T& { return params.*member; }, std::move(names));
  }
  template <typename T, typename Part>
  FieldDeclaration<T> Enum(std::string name, Part P::*part, T Part::*member,
                           std::vector<std::pair<std::string, T>> names) {
    return EnumOf<T>(
        std::move(name), [part, member](P& params) -> T& { return params.*part.*member; },
        std::move(names));
  }

 private:
  // FieldDeclarations point into the vector, so it must not reallocate while P::Declare runs.
  static constexpr size_t kMaxFields = 64;

  explicit ParamDeclaration(ParamSchema* schema) : schema_(schema) {}

  // get(params) returns a reference to the field.
  template <typename T, typename Get>
  FieldDeclaration<T> FieldOf(std::string name, Get get) {
    auto rules = std::make_shared<typename FieldDeclaration<T>::Rules>();
    ParamField* field = Add(std::move(name));
    field->type = ParamTypeName(static_cast<const T*>(nullptr));
    field->parse = [get, rules](const std::string& text, void* params) -> absl::Status {
      T value{};
      COOPER_RETURN_IF_ERROR(ParseParamText(text, &value));
      COOPER_RETURN_IF_ERROR(CheckParamRange(value, rules->min, rules->max));
      get(*static_cast<P*>(params)) = std::move(value);
      return absl::OkStatus();
    };
    field->print = [get](const void* params) {
      return PrintParamText(get(*static_cast<P*>(const_cast<void*>(params))));
    };
    return FieldDeclaration<T>(field, std::move(rules));
  }

  // Declares an enumeration. A value without a name, which only a struct made in C++ can have,
  // prints as an empty text.
  template <typename T, typename Get>
  FieldDeclaration<T> EnumOf(std::string name, Get get,
                             std::vector<std::pair<std::string, T>> names) {
    auto rules = std::make_shared<typename FieldDeclaration<T>::Rules>();
    rules->names = std::move(names);
    ParamField* field = Add(std::move(name));
    field->type = "enum";
    for (const auto& [known, value] : rules->names) field->allowed.push_back(known);
    field->parse = [get, rules](const std::string& text, void* params) -> absl::Status {
      std::string allowed;
      for (const auto& [known, value] : rules->names) {
        if (text == known) {
          get(*static_cast<P*>(params)) = value;
          return absl::OkStatus();
        }
        absl::StrAppend(&allowed, allowed.empty() ? "" : ", ", known);
      }
      return absl::InvalidArgumentError(absl::StrCat("expected one of ", allowed));
    };
    field->print = [get, rules](const void* params) -> std::string {
      for (const auto& [known, value] : rules->names) {
        if (get(*static_cast<P*>(const_cast<void*>(params))) == value) return known;
      }
      return "";
    };
    return FieldDeclaration<T>(field, std::move(rules));
  }

  // Adds a field with this name. The pointer stays valid while P::Declare runs.
  ParamField* Add(std::string name) {
    schema_->fields_.emplace_back();
    schema_->fields_.back().name = std::move(name);
    return &schema_->fields_.back();
  }

  ParamSchema* schema_;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_PARAM_SCHEMA_H_
