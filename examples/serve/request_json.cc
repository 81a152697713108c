#include "examples/serve/request_json.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "nlohmann/json.hpp"

namespace cooper {
namespace {

absl::Status Wrong(absl::string_view input, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("input '", input, "' ", what));
}

// Shortens a client's text, which may be as long as a body, for a message. If that cuts a
// multi-byte character, serve.cc replaces it.
std::string Shortened(absl::string_view text) {
  constexpr size_t kMaxBytes = 100;
  return absl::StrCat(text.substr(0, kMaxBytes), text.size() > kMaxBytes ? "..." : "");
}

absl::Status NoObject() {
  return absl::InvalidArgumentError("the body is no JSON object with an array for each input");
}

// Returns the minimum and maximum of an integer input of `dtype`; both are 0 if it accepts
// fractions. Numbers arrive as doubles: beyond 2^53 one may stand for a neighbour.
std::pair<double, double> WholeNumbersOf(DType dtype) {
  constexpr double kExact = 9007199254740991;  // 2^53 - 1
  switch (dtype) {
    case DType::kBool:
      return {0, 1};
    case DType::kUint8:
      return {0, 255};
    case DType::kInt8:
      return {-128, 127};
    case DType::kInt32:
      return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    case DType::kInt64:
      return {-kExact, kExact};
    default:
      return {0, 0};
  }
}

// Handles the parser's events; returning false stops the parser. Builds no tree of values: a
// hostile one may be deeper than the stack, or have too many keys to compare with each other.
class RequestReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit RequestReader(const std::vector<RequestInput>& inputs) : inputs_(inputs) {}

  // Returns the arrays, or the first error, once parsing has ended.
  absl::StatusOr<ArrayMap> Take() {
    if (!status_.ok()) return status_;
    return std::move(request_);
  }

  bool start_object(std::size_t) override {
    if (input_ != nullptr) return NoNumber("object");
    return true;  // the body's own
  }
  bool end_object() override { return true; }
  bool key(string_t& name) override;
  bool start_array(std::size_t) override;
  bool end_array() override;
  bool null() override { return NoNumber("null"); }
  bool boolean(bool) override { return NoNumber("boolean"); }
  bool string(string_t&) override { return NoNumber("string"); }
  bool binary(binary_t&) override { return NoNumber("binary"); }
  bool number_integer(number_integer_t value) override {
    return Number(static_cast<double>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return Number(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return Number(value); }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::json::exception& error) override {
    constexpr int kNumberOverflow = 406;  // of nlohmann's list of errors
    if (error.id != kNumberOverflow || input_ == nullptr) return Fail(NoObject());
    return Fail(Wrong(input_->name, "has a number beyond any double"));
  }

 private:
  bool Fail(absl::Status status) {
    status_ = std::move(status);
    return false;
  }
  bool NoNumber(absl::string_view type);
  bool Number(double value);
  // Ends an input if the value that has ended is not an element of a list.
  bool EndValue() { return !counts_.empty() || EndInput(); }
  bool EndInput();

  const std::vector<RequestInput>& inputs_;
  absl::Status status_;
  ArrayMap request_;
  // The input that is read; null outside of the body's object.
  const RequestInput* input_ = nullptr;
  std::vector<int64_t> shape_;   // shape of its array; -1 for extents that no list has shown yet
  std::vector<int64_t> counts_;  // number of elements so far, by open list
  std::vector<double> values_;
};

bool RequestReader::key(string_t& name) {
  const auto input = std::find_if(inputs_.begin(), inputs_.end(),
                                  [&name](const auto& each) { return each.name == name; });
  if (input == inputs_.end()) return Fail(Wrong(Shortened(name), "is none of the model's"));
  if (request_.count(name) > 0) return Fail(Wrong(name, "comes twice"));
  input_ = &*input;
  shape_.assign(input_->shape.rank(), -1);
  values_.clear();
  return true;
}

bool RequestReader::NoNumber(absl::string_view type) {
  if (input_ == nullptr) return Fail(NoObject());
  const bool is_element = counts_.size() == shape_.size();
  return Fail(
      Wrong(input_->name,
            absl::StrCat("has ", type, " where a ", is_element ? "number" : "list",
                         " is expected, at depth ", counts_.size(), " of ", shape_.size())));
}

bool RequestReader::start_array(std::size_t) {
  // This check also bounds the nesting depth.
  if (input_ == nullptr || counts_.size() == shape_.size()) return NoNumber("array");
  if (!counts_.empty()) ++counts_.back();
  counts_.push_back(0);
  return true;
}

bool RequestReader::end_array() {
  const int64_t extent = counts_.back();
  counts_.pop_back();
  int64_t& expected = shape_[counts_.size()];
  if (expected < 0) expected = extent;
  if (extent != expected) {
    return Fail(Wrong(input_->name, absl::StrCat("has lists of ", expected, " and of ", extent,
                                                 " elements on one axis")));
  }
  return EndValue();
}

bool RequestReader::Number(double value) {
  if (input_ == nullptr || counts_.size() != shape_.size()) return NoNumber("number");
  const auto [min, max] = WholeNumbersOf(input_->dtype);
  if (min < max && !(value >= min && value <= max && value == std::floor(value))) {
    return Fail(Wrong(input_->name,
                      absl::StrFormat("has %.16g, expected a whole number from %.0f to %.0f (%s)",
                                      value, min, max, DTypeName(input_->dtype))));
  }
  values_.push_back(value);
  if (!counts_.empty()) ++counts_.back();
  return EndValue();
}

bool RequestReader::EndInput() {
  // The extents inside an empty list are unknown (negative) and become 0.
  for (int64_t& extent : shape_) extent = std::max<int64_t>(extent, 0);
  absl::StatusOr<NDArray> array =
      NDArray::FromVector<double>(Shape(shape_), values_).value().AsType(input_->dtype);
  if (!array.ok()) return Fail(array.status());
  request_[input_->name] = *std::move(array);
  return true;
}

}  // namespace

absl::StatusOr<ArrayMap> ParseRequest(absl::string_view body,
                                      const std::vector<RequestInput>& inputs) {
  RequestReader reader(inputs);
  nlohmann::json::sax_parse(body.begin(), body.end(), &reader);
  return reader.Take();
}

}  // namespace cooper
