#ifndef COOPER_IO_STREAMS_SHARD_VOCABULARY_H_
#define COOPER_IO_STREAMS_SHARD_VOCABULARY_H_

// Builds a vocabulary from texts that do not fit in memory.

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/text/encode_sentences.h"
#include "io/text/text_corpus.h"

namespace cooper {

// Returns BuildVocabulary of the words of all files, plain or compressed by gzip. Reads each file
// once and holds only the different words with their counts. kInvalidArgument if no file has a
// word, and the errors of TextSource's readers.
absl::StatusOr<Vocabulary> BuildShardVocabulary(absl::Span<const std::string> paths,
                                                const BuildVocabularyOptions& options = {});

}  // namespace cooper

#endif  // COOPER_IO_STREAMS_SHARD_VOCABULARY_H_
