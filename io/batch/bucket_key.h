#ifndef COOPER_IO_BATCH_BUCKET_KEY_H_
#define COOPER_IO_BATCH_BUCKET_KEY_H_

// The key of a bucket: an integer (a sequence length), a string, or a tuple of integers (encoder
// and decoder length). A plain value that can be a key of hashed and ordered maps and be written to
// files; keys of different kinds never compare equal.

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace cooper {

// A plain value of at most 48 bytes; small tuples need no heap memory.
class BucketKey {
 public:
  using Tuple = absl::InlinedVector<int64_t, 4>;

  // Creates the integer key 0.
  BucketKey() = default;
  template <typename Int, std::enable_if_t<std::is_integral_v<Int>, int> = 0>
  BucketKey(Int value) : value_(static_cast<int64_t>(value)) {}  // NOLINT: a key is its value
  BucketKey(std::string value) : value_(std::move(value)) {}     // NOLINT
  BucketKey(const char* value) : value_(std::string(value)) {}   // NOLINT
  BucketKey(Tuple value) : value_(std::move(value)) {}           // NOLINT
  // Creates a tuple: BucketKey({10, 20}). A list of one element gives the tuple (10,), not the
  // integer 10.
  BucketKey(std::initializer_list<int64_t> value) : value_(Tuple(value)) {}

  bool is_int() const { return std::holds_alternative<int64_t>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_tuple() const { return std::holds_alternative<Tuple>(value_); }
  // Return the value. Each throws std::bad_variant_access if the key is of another kind;
  // CallWithKey (call_with_key.h) converts that to a status. References and spans are valid as long
  // as the key.
  int64_t int_value() const { return std::get<int64_t>(value_); }
  const std::string& string_value() const { return std::get<std::string>(value_); }
  absl::Span<const int64_t> tuple_value() const { return std::get<Tuple>(value_); }

  // Returns the key in Python's notation: "10", "'a'", "(10, 20)", "(10,)". Quotes, backslashes and
  // control characters in a string are escaped, so that a key stays on one line.
  std::string ToString() const;
  // Parses the form of ToString. Strings may be in double quotes too, and spaces are allowed
  // between elements. kInvalidArgument, with the text, otherwise.
  static absl::StatusOr<BucketKey> Parse(absl::string_view text);

  // Compare keys: integers come before strings, strings before tuples. Tuples are compared element
  // by element.
  friend bool operator==(const BucketKey& a, const BucketKey& b) { return a.value_ == b.value_; }
  friend bool operator!=(const BucketKey& a, const BucketKey& b) { return a.value_ != b.value_; }
  friend bool operator<(const BucketKey& a, const BucketKey& b) { return a.value_ < b.value_; }
  friend bool operator>(const BucketKey& a, const BucketKey& b) { return b < a; }
  friend bool operator<=(const BucketKey& a, const BucketKey& b) { return !(b < a); }
  friend bool operator>=(const BucketKey& a, const BucketKey& b) { return !(a < b); }

  template <typename H>
  friend H AbslHashValue(H h, const BucketKey& key) {
    h = H::combine(std::move(h), key.value_.index());
    return std::visit([&h](const auto& value) { return H::combine(std::move(h), value); },
                      key.value_);
  }

 private:
  std::variant<int64_t, std::string, Tuple> value_ = int64_t{0};
};

inline std::ostream& operator<<(std::ostream& os, const BucketKey& key) {
  return os << key.ToString();
}

}  // namespace cooper

#endif  // COOPER_IO_BATCH_BUCKET_KEY_H_
