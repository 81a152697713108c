#include "io/batch/call_with_key.h"

#include "absl/strings/str_cat.h"

namespace cooper {

std::string DescribeKey(const BucketKey& key) {
  return absl::StrCat(key.is_int()      ? "the integer "
                      : key.is_string() ? "the string "
                                        : "the tuple ",
                      key.ToString());
}

absl::Status internal_call_with_key::KeyKindError(const char* what, const BucketKey& key) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, " takes a key of another kind than ", DescribeKey(key)));
}

}  // namespace cooper
