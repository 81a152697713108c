#include "io/streams/shard_vocabulary.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "io/streams/line_reader.h"
#include "io/streams/line_words.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::StatusOr<Vocabulary> BuildShardVocabulary(absl::Span<const std::string> paths,
                                                const BuildVocabularyOptions& options) {
  WordCounts counts;
  for (const std::string& path : paths) {
    COOPER_ASSIGN_OR_RETURN(LineReader lines, LineReader::Open(path, kMaxLineBytes));
    while (true) {
      absl::string_view line, word;
      COOPER_ASSIGN_OR_RETURN(const bool more, lines.Next(&line));
      if (!more) break;
      LineWords words(line);
      while (words.Next(&word)) {
        const auto found = counts.find(word);
        if (found != counts.end()) {
          ++found->second;
        } else {
          counts.emplace(word, 1);
        }
      }
    }
  }
  if (counts.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("none of ", paths.size(), " files has a word"));
  }
  return BuildVocabulary(counts, options);
}

}  // namespace cooper
