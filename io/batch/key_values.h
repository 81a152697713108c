#ifndef COOPER_IO_BATCH_KEY_VALUES_H_
#define COOPER_IO_BATCH_KEY_VALUES_H_

// A few named values and their text form, in which iterators, schedules and metrics save where
// they stand. One "key value" per line, in order of the keys; numbers come back bit for bit.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace cooper {

class KeyValues {
 public:
  // Keys hold no space and no line break. Setting a key again overwrites it.
  void SetInt(absl::string_view key, int64_t value);
  void SetUint(absl::string_view key, uint64_t value);
  void SetDouble(absl::string_view key, double value);
  // Any bytes, such as another KeyValues' text.
  void SetString(absl::string_view key, absl::string_view value);
  void SetInts(absl::string_view key, absl::Span<const int64_t> values);
  void SetDoubles(absl::string_view key, absl::Span<const double> values);

  bool Has(absl::string_view key) const;
  // kInvalidArgument, naming the key, if it is missing or holds something else.
  absl::StatusOr<int64_t> GetInt(absl::string_view key) const;
  absl::StatusOr<uint64_t> GetUint(absl::string_view key) const;
  absl::StatusOr<double> GetDouble(absl::string_view key) const;
  absl::StatusOr<std::string> GetString(absl::string_view key) const;
  absl::StatusOr<std::vector<int64_t>> GetInts(absl::string_view key) const;
  absl::StatusOr<std::vector<double>> GetDoubles(absl::string_view key) const;

  // kInvalidArgument, naming both, unless `key` holds the string `expected`: to refuse the state
  // of another kind of object.
  absl::Status Expect(absl::string_view key, absl::string_view expected) const;

  // The same for the number of an option, which is part of what a state is of. A state from before
  // the option was written says nothing of it, and is taken.
  absl::Status ExpectOption(absl::string_view key, int64_t expected) const;

  std::string ToString() const;
  // The inverse of ToString. kInvalidArgument, with the line, otherwise.
  static absl::StatusOr<KeyValues> Parse(absl::string_view text);

  friend bool operator==(const KeyValues&, const KeyValues&) = default;

 private:
  absl::StatusOr<absl::string_view> Find(absl::string_view key) const;

  std::map<std::string, std::string, std::less<>> values_;  // as they are written
};

}  // namespace cooper

#endif  // COOPER_IO_BATCH_KEY_VALUES_H_
