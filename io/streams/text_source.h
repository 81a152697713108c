#ifndef COOPER_IO_STREAMS_TEXT_SOURCE_H_
#define COOPER_IO_STREAMS_TEXT_SOURCE_H_

// A source of sentences: text files, plain or compressed by gzip, with a sentence per line and
// spaces between words.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "io/streams/line_reader.h"
#include "io/streams/sample_source.h"
#include "io/text/encode_sentences.h"

namespace cooper {

// Options of TextSource. Lines without words are not samples.
struct TextSourceOptions {
  // Replaces words that the vocabulary lacks, and must be in it. If empty, an unknown word is an
  // error, with path, offset and word.
  std::string unknown_token;
  // Appended to each sentence, such as "<eos>"; must be in the vocabulary. Empty: nothing is
  // appended.
  std::string end_token;
  // A longer line is an error: a damaged file may have no line breaks.
  int64_t max_line_bytes = kMaxLineBytes;
};

// Creates a source with one shard per path and one field, the words' ids (int32). Lines without
// words are skipped. The position of a reader is an offset in the (decompressed) file: a plain file
// is read on from there, a compressed one is decompressed up to there. kInvalidArgument if there is
// no path, or the vocabulary lacks a token. Files are opened when they are read.
absl::StatusOr<std::shared_ptr<const SampleSource>> TextSource(std::vector<std::string> paths,
                                                               const Vocabulary& vocabulary,
                                                               TextSourceOptions options = {});

// Returns the paths that match the patterns, which have commas between them, in the order of the
// patterns and sorted for each: "data/shard-*.txt.gz,more.txt". kNotFound, with the pattern, if one
// matches no file.
absl::StatusOr<std::vector<std::string>> GlobPaths(const std::string& patterns);

}  // namespace cooper

#endif  // COOPER_IO_STREAMS_TEXT_SOURCE_H_
