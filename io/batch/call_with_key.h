#ifndef COOPER_IO_BATCH_CALL_WITH_KEY_H_
#define COOPER_IO_BATCH_CALL_WITH_KEY_H_

// Calls user functions of bucket keys, and converts the exception for a key of the wrong kind to a
// status.

#include <string>
#include <variant>

#include "absl/status/status.h"
#include "io/batch/bucket_key.h"

namespace cooper {

namespace internal_call_with_key {

// Returns the error of CallWithKey.
absl::Status KeyKindError(const char* what, const BucketKey& key);

}  // namespace internal_call_with_key

// Describes a key for messages: "the string 'long'".
std::string DescribeKey(const BucketKey& key);

// Returns fn(key), a StatusOr. kInvalidArgument, naming `what` and the key, if `fn` reads the key
// as another kind, for which BucketKey throws std::bad_variant_access. Other exceptions pass
// through. `fn` is called once.
template <typename Fn>
auto CallWithKey(const char* what, const Fn& fn, const BucketKey& key) -> decltype(fn(key)) {
  try {
    return fn(key);
  } catch (const std::bad_variant_access&) {
    return internal_call_with_key::KeyKindError(what, key);
  }
}

}  // namespace cooper

#endif  // COOPER_IO_BATCH_CALL_WITH_KEY_H_
