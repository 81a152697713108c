#ifndef COOPER_IO_ITERATORS_DECOMPRESSOR_H_
#define COOPER_IO_ITERATORS_DECOMPRESSOR_H_

// Decompresses the formats that ByteStream reads (byte_stream.h).

#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace cooper {

// Decompresses members, of which a compressed file has one or more in a row. Not thread-safe.
class Decompressor {
 public:
  virtual ~Decompressor() = default;

  // Prepares for the first bytes of a member.
  virtual void Restart() = 0;

  // Decompresses bytes of `in` to `out`, and removes what was read and what was written from their
  // fronts. Returns whether the member has ended. If it has not, all of `in` was read or all of
  // `out` written; with an empty `in` it writes what it holds. kInvalidArgument, with "is damaged
  // (WHY)", for damaged bytes; kResourceExhausted if there is no memory.
  virtual absl::StatusOr<bool> Decompress(absl::Span<const char>* in, absl::Span<char>* out) = 0;
};

// Returns a decompressor of gzip's format. kResourceExhausted if there is no memory.
absl::StatusOr<std::unique_ptr<Decompressor>> MakeGzipDecompressor();

// Returns a decompressor of Zstandard's format. It needs the memory of a frame's window, at most 8
// MiB: frames of larger windows, which only `zstd --long` and `zstd --ultra` write, are damaged to
// it. kFailedPrecondition, with what to install, in a program built without libzstd.
absl::StatusOr<std::unique_ptr<Decompressor>> MakeZstdDecompressor();

}  // namespace cooper

#endif  // COOPER_IO_ITERATORS_DECOMPRESSOR_H_
