#ifndef COOPER_IO_BATCH_KEY_VALUES_H_
#define COOPER_IO_BATCH_KEY_VALUES_H_

// Named values and their text form, in which iterators, schedules and metrics save their state. One
// "key value" per line, in order of the keys; numbers are restored bit for bit.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace cooper {

// A plain value; not thread-safe. A state that another version wrote may have more keys: unknown
// ones are kept and not an error.
class KeyValues {
 public:
  // Set a value. Keys contain no space and no line break; an existing value is overwritten. Doubles
  // are written with 17 digits, which determine every double, infinities and NaN included.
  void SetInt(absl::string_view key, int64_t value);
  void SetUint(absl::string_view key, uint64_t value);
  void SetDouble(absl::string_view key, double value);
  // The value may hold any bytes, such as another KeyValues' text.
  void SetString(absl::string_view key, absl::string_view value);
  void SetInts(absl::string_view key, absl::Span<const int64_t> values);
  void SetDoubles(absl::string_view key, absl::Span<const double> values);

  bool Has(absl::string_view key) const;
  // Return a value. kInvalidArgument, naming the key, if it is missing or has another type.
  absl::StatusOr<int64_t> GetInt(absl::string_view key) const;
  absl::StatusOr<uint64_t> GetUint(absl::string_view key) const;
  absl::StatusOr<double> GetDouble(absl::string_view key) const;
  absl::StatusOr<std::string> GetString(absl::string_view key) const;
  absl::StatusOr<std::vector<int64_t>> GetInts(absl::string_view key) const;
  absl::StatusOr<std::vector<double>> GetDoubles(absl::string_view key) const;

  // Returns kInvalidArgument, naming both, unless `key` holds the string `expected`: rejects the
  // state of another kind of object.
  absl::Status Expect(absl::string_view key, absl::string_view expected) const;

  // Returns kInvalidArgument unless `key` holds the option's value `expected`. A state without the
  // key, from a version that did not write the option, is accepted.
  absl::Status ExpectOption(absl::string_view key, int64_t expected) const;

  // Returns the text form, which Parse reads.
  std::string ToString() const;
  // Parses the form of ToString. kInvalidArgument, with the line, for other texts.
  static absl::StatusOr<KeyValues> Parse(absl::string_view text);

  friend bool operator==(const KeyValues&, const KeyValues&) = default;

 private:
  absl::StatusOr<absl::string_view> Find(absl::string_view key) const;

  std::map<std::string, std::string, std::less<>> values_;  // in their text form
};

}  // namespace cooper

#endif  // COOPER_IO_BATCH_KEY_VALUES_H_
