#ifndef COOPER_SYMBOL_SCHEMA_PARAM_SCHEMA_H_
#define COOPER_SYMBOL_SCHEMA_PARAM_SCHEMA_H_

// How an operator's parameters are declared: a plain struct, and once beside it the names, ranges
// and meaning of its fields. Parsing from attributes, printing, defaults and documentation all come
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
// A field without Required() has the value that the struct's initializer gives it. Texts are those
// that MXNet's Python front end writes: "True", "(2, 2)", "None", "1e-05".

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

// One field, its type erased.
struct ParamField {
  std::string name;
  std::string doc;
  std::string type;                                       // as ParamTypeName says it; "enum"
  std::vector<std::string> allowed;                       // the texts of an enumeration
  double min = -std::numeric_limits<double>::infinity();  // of a number
  double max = std::numeric_limits<double>::infinity();
  bool required = false;
  // Parses `text` into the field of the struct at `params`.
  std::function<absl::Status(const std::string& text, void* params)> parse;
  std::function<std::string(const void* params)> print;
};

class ParamSchema {
 public:
  // The struct filled from `attrs`. Keys of the form __x__ are not the operator's and are passed
  // over. kInvalidArgument, naming key, text and what is allowed, for an unknown key, a missing
  // required one, or a text out of range.
  absl::StatusOr<std::shared_ptr<const void>> Parse(const AttrMap& attrs) const;

  // The same for options that are no operator's: sets the fields of the struct at `options` that
  // `texts` has. `what`, such as "optimizer sgd", begins every message.
  absl::Status Read(const AttrMap& texts, absl::string_view what, void* options) const;

  // Every field as text.
  AttrMap Print(const void* params) const;

  // The struct as its initializers fill it, and the text of each of its fields. A required field
  // means nothing in it.
  std::shared_ptr<void> MakeDefault() const { return make_(); }
  AttrMap Defaults() const { return Print(make_().get()); }

  const std::vector<ParamField>& fields() const { return fields_; }

 private:
  template <typename P>
  friend class ParamDeclaration;

  bool IsKnown(const std::string& name) const;
  std::string FieldNames() const;
  std::string Meant(const std::string& name) const;  // DidYouMean among the fields

  std::vector<ParamField> fields_;
  std::function<std::shared_ptr<void>()> make_;
};

// Refines the field just declared.
template <typename T>
class FieldDeclaration {
 public:
  struct Rules {
    double min = -std::numeric_limits<double>::infinity();
    double max = std::numeric_limits<double>::infinity();
    std::vector<std::pair<std::string, T>> names;  // of an enumeration
  };

  FieldDeclaration(ParamField* field, std::shared_ptr<Rules> rules)
      : field_(field), rules_(std::move(rules)) {}

  FieldDeclaration& Required() {
    field_->required = true;
    return *this;
  }
  FieldDeclaration& Doc(std::string doc) {
    field_->doc = std::move(doc);
    return *this;
  }
  // Numbers only: the least and greatest value allowed.
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

template <typename P>
class ParamDeclaration {
 public:
  // The schema that P::Declare describes; built once.
  static const ParamSchema* Schema() {
    static const auto* schema = new ParamSchema(Make(P::Declare));
    return schema;
  }
  // The schema that declare(ParamDeclaration<P>&) describes.
  template <typename Declare>
  static ParamSchema Make(const Declare& declare) {
    ParamSchema schema;
    schema.make_ = [] { return std::make_shared<P>(); };
    schema.fields_.reserve(kMaxFields);
    ParamDeclaration declaration(&schema);
    declare(declaration);
    return schema;
  }

  // A field whose type param_text.h can parse: integers, bool, double, std::string, DType, tuples
  // (std::vector) and std::optional of these ("None"). The member may be one of a base of P.
  template <typename T, typename B>
  FieldDeclaration<T> Field(std::string name, T B::*member) {
    return FieldOf<T>(std::move(name), [member](P& params) -> T& { return params.*member; });
  }
  // A field of a member that is itself a struct.
  template <typename T, typename Part>
  FieldDeclaration<T> Field(std::string name, Part P::*part, T Part::*member) {
    return FieldOf<T>(std::move(name),
                      [part, member](P& params) -> T& { return params.*part.*member; });
  }
  // One that is read and means nothing here.
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

  // An enumeration: the text of each of its values.
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
  // FieldDeclarations point into the vector: it must not move while P::Declare runs.
  static constexpr size_t kMaxFields = 64;

  explicit ParamDeclaration(ParamSchema* schema) : schema_(schema) {}

  // get(params) is the field.
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

  ParamField* Add(std::string name) {
    schema_->fields_.emplace_back();
    schema_->fields_.back().name = std::move(name);
    return &schema_->fields_.back();
  }

  ParamSchema* schema_;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_PARAM_SCHEMA_H_
