#ifndef COOPER_TOOLS_BUCKETS_SAMPLE_LENGTHS_H_
#define COOPER_TOOLS_BUCKETS_SAMPLE_LENGTHS_H_

// Reads the lengths of samples, from which buckets are chosen: counts them in a text or in a file
// of records, or reads them from a list.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace cooper {

// The greatest length in a list.
inline constexpr int64_t kMaxSampleLength = 1000000000;

// The lengths of samples, or of pairs.
struct SampleLengths {
  std::vector<int64_t> first;   // by sample, in the order of the file
  std::vector<int64_t> second;  // of pairs; else empty
  int64_t empty = 0;            // samples of length 0, which are in neither
  std::string noun = "sample";  // the name of a sample: "sentence"

  bool pairs() const { return !second.empty(); }
  // Returns the total length of all samples, both elements of pairs: at most 10^15.
  int64_t tokens() const;
};

// Counts the words in each line of a text, as ReadSentences (io/text/text_corpus.h) splits them,
// without storing words. Fails with the errors of ReadFile (ndarray/base/atomic_file.h), and with
// kInvalidArgument if no line has a word. The file may have up to 4 GiB.
absl::StatusOr<SampleLengths> CountWords(const std::string& path);

// Reads one length per line, or two separated by spaces, tabs or a comma. Empty lines are skipped.
// Fails with the errors of ReadFile, and with kInvalidArgument, naming the line, for other lines
// and for lengths above kMaxSampleLength.
absl::StatusOr<SampleLengths> ReadLengths(const std::string& path);

// How RecordLengths converts bytes to tokens.
struct RecordLayout {
  int64_t header_bytes = 24;    // in each record, not counted: MXNet's IRHeader has 24
  int64_t bytes_per_token = 1;  // rounded up
};

// Reads the lengths of the records of a RecordIO file (.rec) as MXNet writes it: each record has a
// magic number and a word with the length before it and is padded to words; records that contain
// the magic number are split into parts. Reads only lengths, so the file may have any size. Fails
// with the errors of RecordReader (io/records/record_reader.h), and with kInvalidArgument, naming
// the offset, for a record shorter than its header, and if all records are empty.
absl::StatusOr<SampleLengths> RecordLengths(const std::string& path, const RecordLayout& layout);

}  // namespace cooper

#endif  // COOPER_TOOLS_BUCKETS_SAMPLE_LENGTHS_H_
