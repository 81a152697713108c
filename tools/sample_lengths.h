#ifndef COOPER_TOOLS_SAMPLE_LENGTHS_H_
#define COOPER_TOOLS_SAMPLE_LENGTHS_H_

// The lengths of samples, from which buckets are chosen: counted in a text or in a file of records,
// or read from a list.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace cooper {

// The greatest length that a list may have.
inline constexpr int64_t kMaxSampleLength = 1000000000;

struct SampleLengths {
  std::vector<int64_t> first;   // by sample, in the order of the file
  std::vector<int64_t> second;  // of pairs; else empty
  int64_t empty = 0;            // samples of length 0, which are in neither
  std::string noun = "sample";  // what they are the lengths of: "sentence"

  bool pairs() const { return !second.empty(); }
  // Of all samples, both elements of pairs: at most 10^15.
  int64_t tokens() const;
};

// The words of each line of a text: what ReadSentences (io/text/text_corpus.h) takes for words,
// without keeping them. Errors are those of ReadFile (ndarray/base/atomic_file.h), and
// kInvalidArgument if no line has a word. A file may have 4 GiB.
absl::StatusOr<SampleLengths> CountWords(const std::string& path);

// A length on each line, or two on each with spaces, tabs or a comma between them. Empty lines are
// passed over. Errors are those of ReadFile, and kInvalidArgument, naming the line, for anything
// else, and for lengths above kMaxSampleLength.
absl::StatusOr<SampleLengths> ReadLengths(const std::string& path);

// What RecordLengths counts.
struct RecordLayout {
  int64_t header_bytes = 24;    // of each record, not counted: MXNet's IRHeader has 24
  int64_t bytes_per_token = 1;  // a part of a token counts as one
};

// The records of a RecordIO file (.rec), as MXNet writes it: a magic number and a word with the
// length before each, which is padded to words; those that have the magic number inside come in
// parts. Only lengths are read, whatever the file's size. Errors are those of opening the file, and
// kInvalidArgument, naming the offset, for what is no record; for a record shorter than its header;
// and if all are empty.
absl::StatusOr<SampleLengths> RecordLengths(const std::string& path, const RecordLayout& layout);

}  // namespace cooper

#endif  // COOPER_TOOLS_SAMPLE_LENGTHS_H_
