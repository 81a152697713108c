#include "tests/fuzz/operator_fields.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace cooper {
namespace {

constexpr const char* kUsual[] = {"0",
                                  "1",
                                  "2",
                                  "3",
                                  "4",
                                  "-1",
                                  "-2",
                                  "True",
                                  "False",
                                  "None",
                                  "()",
                                  "(1,)",
                                  "(2,)",
                                  "(0,)",
                                  "(1, 1)",
                                  "(2, 2)",
                                  "(3, 3)",
                                  "(1, 2)",
                                  "(0, 0)",
                                  "(0, 1)",
                                  "(1, 0)",
                                  "(2, 3)",
                                  "(-1,)",
                                  "(-1, 2)",
                                  "(0, -1)",
                                  "(-2,)",
                                  "(-3, 2)",
                                  "(-4, 1, 2, -2)",
                                  "(0, 2, 1)",
                                  "(1, 1, 1)",
                                  "(2, 2, 2)",
                                  "0.5",
                                  "-0.5",
                                  "1e-3",
                                  "1.0",
                                  "(None, 1)",
                                  "(1, None)",
                                  "(0.5, 1)",
                                  "float32",
                                  "float64",
                                  "float16",
                                  "int32",
                                  "int64",
                                  "uint8",
                                  "int8",
                                  "bfloat16",
                                  "(1, 2, 3, 4)",
                                  "(0, 0, 0, 0, 1, 0)",
                                  "(0, 0, 0, 0, 1, 1, 2, 2)"};
constexpr const char* kExtreme[] = {"100",
                                    "65536",
                                    "100000",
                                    "1000000000",
                                    "2147483647",
                                    "-2147483648",
                                    "4294967296",
                                    "9223372036854775807",
                                    "-9223372036854775808",
                                    "1e308",
                                    "-1e308",
                                    "1e-320",
                                    "nan",
                                    "inf",
                                    "-inf",
                                    "(100, 100)",
                                    "(65536, 65536)",
                                    "(1000000000, 1000000000)",
                                    "(9223372036854775807, 2)",
                                    "(9223372036854775807, 9223372036854775807)",
                                    "(-9223372036854775808, 1)",
                                    "(4611686018427387904,)"};

// Returns the allowed names in the error of an enumeration.
std::vector<std::string> NamesIn(absl::string_view error) {
  constexpr absl::string_view kExpected = "expected one of ";
  const size_t at = error.find(kExpected);
  if (at == absl::string_view::npos) return {};
  return absl::StrSplit(error.substr(at + kExpected.size()), ", ");
}

// Finds accepted texts for the fields in their order, with an accepted text for each earlier
// required field.
class Finder {
 public:
  explicit Finder(const ParamSchema& schema) : schema_(schema) {}

  FieldTexts Find(const ParamField& field) {
    FieldTexts texts{.name = field.name, .required = field.required, .usual = {}, .extreme = {}};
    for (const std::string& name : NamesIn(ErrorOf(field.name, "?"))) {
      if (Accepts(field.name, name)) texts.usual.push_back(name);
    }
    for (const char* text : kUsual) {
      if (Accepts(field.name, text)) texts.usual.emplace_back(text);
    }
    for (const char* text : kExtreme) {
      if (Accepts(field.name, text)) texts.extreme.emplace_back(text);
    }
    if (field.required && !texts.usual.empty()) before_[field.name] = texts.usual[0];
    return texts;
  }

 private:
  std::string ErrorOf(const std::string& name, const std::string& text) {
    AttrMap attrs = before_;
    attrs[name] = text;
    return std::string(schema_.Parse(attrs).status().message());
  }
  // Accepts the text if the error, if any, is about another field: later ones may be missing.
  bool Accepts(const std::string& name, const std::string& text) {
    return !absl::StartsWith(ErrorOf(name, text), absl::StrCat("attribute ", name, "="));
  }

  const ParamSchema& schema_;
  AttrMap before_;
};

}  // namespace

const std::vector<OperatorFields>& AllOperatorFields() {
  static const auto* const all = [] {
    auto* const ops = new std::vector<OperatorFields>;
    for (const OpSchema* schema : AllOps()) {
      if (schema->is_gradient()) continue;
      OperatorFields& op = ops->emplace_back(OperatorFields{.schema = schema, .fields = {}});
      if (schema->params() == nullptr) continue;
      Finder finder(*schema->params());
      for (const ParamField& field : schema->params()->fields()) {
        op.fields.push_back(finder.Find(field));
      }
    }
    return ops;
  }();
  return *all;
}

}  // namespace cooper
