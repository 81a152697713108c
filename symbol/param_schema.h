#ifndef COOPER_SYMBOL_PARAM_SCHEMA_H_
#define COOPER_SYMBOL_PARAM_SCHEMA_H_

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
#include "ndarray/dtype.h"
#include "ndarray/status_macros.h"
#include "symbol/param_text.h"

namespace cooper {

// A node's attributes as text, by name.
using AttrMap = std::map<std::string, std::string>;

// One field, its type erased.
struct ParamField {
  std::string name;
  std::string doc;
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

  // Every field as text.
  AttrMap Print(const void* params) const;

  const std::vector<ParamField>& fields() const { return fields_; }

 private:
  template <typename P>
  friend class ParamDeclaration;

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
    rules_->min = min;
    return *this;
  }
  FieldDeclaration& Max(double max) {
    rules_->max = max;
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
    static const ParamSchema* schema = [] {
      auto* s = new ParamSchema;
      s->make_ = [] { return std::make_shared<P>(); };
      s->fields_.reserve(kMaxFields);
      ParamDeclaration declaration(s);
      P::Declare(declaration);
      return s;
    }();
    return schema;
  }

  // A field whose type param_text.h can parse: integers, bool, double, std::string, DType, tuples
  // (std::vector) and std::optional of these ("None").
  // The member may be one of a base of P.
  template <typename T, typename B>
  FieldDeclaration<T> Field(std::string name, T B::*member) {
    auto rules = std::make_shared<typename FieldDeclaration<T>::Rules>();
    ParamField* field = Add(std::move(name));
    field->parse = [member, rules](const std::string& text, void* params) -> absl::Status {
      T value{};
      COOPER_RETURN_IF_ERROR(ParseParamText(text, &value));
      COOPER_RETURN_IF_ERROR(CheckParamRange(value, rules->min, rules->max));
      static_cast<P*>(params)->*member = std::move(value);
      return absl::OkStatus();
    };
    field->print = [member](const void* params) {
      return PrintParamText(static_cast<const P*>(params)->*member);
    };
    return FieldDeclaration<T>(field, std::move(rules));
  }

  // An enumeration: the text of each of its values.
  template <typename T>
  FieldDeclaration<T> Enum(std::string name, T P::*member,
                           std::vector<std::pair<std::string, T>> names) {
    auto rules = std::make_shared<typename FieldDeclaration<T>::Rules>();
    rules->names = std::move(names);
    ParamField* field = Add(std::move(name));
    field->parse = [member, rules](const std::string& text, void* params) -> absl::Status {
      std::string allowed;
      for (const auto& [known, value] : rules->names) {
        if (text == known) {
          static_cast<P*>(params)->*member = value;
          return absl::OkStatus();
        }
        absl::StrAppend(&allowed, allowed.empty() ? "" : ", ", known);
      }
      return absl::InvalidArgumentError(absl::StrCat("expected one of ", allowed));
    };
    field->print = [member, rules](const void* params) -> std::string {
      for (const auto& [known, value] : rules->names) {
        if (static_cast<const P*>(params)->*member == value) return known;
      }
      return "";
    };
    return FieldDeclaration<T>(field, std::move(rules));
  }

 private:
  // FieldDeclarations point into the vector: it must not move while P::Declare runs.
  static constexpr size_t kMaxFields = 64;

  explicit ParamDeclaration(ParamSchema* schema) : schema_(schema) {}

  ParamField* Add(std::string name) {
    schema_->fields_.emplace_back();
    schema_->fields_.back().name = std::move(name);
    return &schema_->fields_.back();
  }

  ParamSchema* schema_;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_PARAM_SCHEMA_H_
