#ifndef COOPER_IO_STREAMS_LINE_WORDS_H_
#define COOPER_IO_STREAMS_LINE_WORDS_H_

// Splits a line into words without copying them.

#include <array>
#include <cstddef>

#include "absl/strings/string_view.h"

namespace cooper {

// Yields the words of a line, which has to outlive the object. The bytes that separate words are
// those of ReadSentences (io/text/text_corpus.h). Allocates nothing, so it serves lines of any
// length.
class LineWords {
 public:
  explicit LineWords(absl::string_view line) : at_(line.data()), end_(at_ + line.size()) {}

  // Sets `word` to the next word. Returns false at the end of the line. `word` is then unchanged. A
  // word is a part of the line and valid as long as the line's bytes.
  bool Next(absl::string_view* word) {
    while (at_ != end_ && IsSpace(*at_)) ++at_;
    if (at_ == end_) return false;
    const char* const begin = at_;
    while (at_ != end_ && !IsSpace(*at_)) ++at_;
    *word = absl::string_view(begin, static_cast<size_t>(at_ - begin));
    return true;
  }

 private:
  static bool IsSpace(char c) {
    static constexpr std::array<bool, 256> kIsSpace = [] {
      std::array<bool, 256> is_space = {};
      for (const char space : {' ', '\t', '\r', '\v', '\f'}) {
        is_space[static_cast<unsigned char>(space)] = true;
      }
      return is_space;
    }();
    return kIsSpace[static_cast<unsigned char>(c)];
  }

  const char* at_;
  const char* const end_;
};

}  // namespace cooper

#endif  // COOPER_IO_STREAMS_LINE_WORDS_H_
