#ifndef COOPER_MODULE_PICKLE_UNPICKLE_H_
#define COOPER_MODULE_PICKLE_UNPICKLE_H_

// Reads Python pickles as plain data, without Python: the opcodes with which Python 2 and 3 write
// optimizer states of MXNet in protocols 0 to 4, and the classes of pickle_class.h. Everything else
// is refused by name.
//
// Files are untrusted. Memory is proportional to the file, and bounded where a small file could ask
// for much: a pickle has at most kMaxPickleValues values, and its decoded texts take at most four
// times the bytes of the file. Nothing recurses, so that depth needs no limit.

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "module/pickle/pickle_value.h"

namespace cooper {

// The largest number of values in a pickle. A parameter with two state arrays takes about 30.
inline constexpr int64_t kMaxPickleValues = int64_t{1} << 20;

// Parses a pickle, which has to end with `bytes`. The result refers to `bytes`, which must outlive
// it. kInvalidArgument, with the offset in the file, for an unknown opcode (which is named), an
// unknown class (with its module), and whatever is malformed; kResourceExhausted beyond the limits.
absl::StatusOr<Pickle> Unpickle(absl::string_view bytes);

}  // namespace cooper

#endif  // COOPER_MODULE_PICKLE_UNPICKLE_H_
