#include "io/streams/text_source.h"

#include <glob.h>

#include <atomic>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "io/streams/decoding_reader.h"
#include "io/streams/line_words.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// The vocabulary and options that all readers of a source share.
struct Words {
  Vocabulary ids;
  std::optional<int> unknown;
  std::optional<int> end;
  int64_t max_line_bytes = 0;
};

// The lines of a file that have words.
class TextLines : public EncodedReader {
 public:
  explicit TextLines(LineReader lines) : lines_(std::move(lines)) {}

  absl::StatusOr<bool> Next(std::string* encoded) override {
    absl::string_view line, word;
    do {
      COOPER_ASSIGN_OR_RETURN(const bool more, lines_.Next(&line));
      if (!more) return false;
    } while (!LineWords(line).Next(&word));
    encoded->assign(line.data(), line.size());
    return true;
  }

  int64_t Position() const override { return lines_.offset(); }
  absl::Status SeekTo(int64_t position) override { return lines_.SeekTo(position); }

 private:
  LineReader lines_;
};

absl::Status NumberWords(const Words& words, const std::string& path, absl::string_view line,
                         int64_t offset, Sample* sample) {
  absl::InlinedVector<int32_t, 64> ids;
  LineWords in_line(line);
  absl::string_view word;
  while (in_line.Next(&word)) {
    const auto found = words.ids.find(word);
    if (found != words.ids.end()) {
      ids.push_back(found->second);
    } else if (words.unknown.has_value()) {
      ids.push_back(*words.unknown);
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("'", path, "': the word '", word.substr(0, 80), "' of the line at byte ",
                       offset, " is not in the vocabulary of ", words.ids.size(),
                       " words, and there is no unknown_token"));
    }
  }
  if (words.end.has_value()) ids.push_back(*words.end);
  sample->Clear(1);
  sample->Set<int32_t>(0, ids);
  return absl::OkStatus();
}

class TextShards : public SampleSource {
 public:
  TextShards(std::vector<std::string> paths, std::shared_ptr<const Words> words)
      : paths_(std::move(paths)), words_(std::move(words)) {}

  const std::vector<SampleField>& fields() const override { return fields_; }
  int64_t num_shards() const override { return std::ssize(paths_); }
  std::string shard_name(int64_t shard) const override { return paths_[shard]; }
  absl::StatusOr<std::unique_ptr<ShardReader>> Open(int64_t shard) const override {
    const std::string& path = paths_[shard];
    COOPER_ASSIGN_OR_RETURN(LineReader lines, LineReader::Open(path, words_->max_line_bytes));
    return std::make_unique<DecodingReader>(
        std::make_unique<TextLines>(std::move(lines)),
        [path, words = words_](absl::string_view line, int64_t offset, Sample* sample) {
          return NumberWords(*words, path, line, offset, sample);
        },
        &decode_seconds_);
  }
  double decode_seconds() const override { return decode_seconds_; }

 private:
  const std::vector<std::string> paths_;
  const std::shared_ptr<const Words> words_;
  const std::vector<SampleField> fields_ = {SampleField()};
  mutable std::atomic<double> decode_seconds_ = 0;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const SampleSource>> TextSource(std::vector<std::string> paths,
                                                               const Vocabulary& vocabulary,
                                                               TextSourceOptions options) {
  if (paths.empty()) return absl::InvalidArgumentError("TextSource: there are no paths");
  auto words = std::make_shared<Words>();
  words->ids = vocabulary;
  words->max_line_bytes = options.max_line_bytes;
  const std::pair<const char*, const std::string*> tokens[] = {
      {"unknown_token", &options.unknown_token}, {"end_token", &options.end_token}};
  for (const auto& [name, token] : tokens) {
    if (token->empty()) continue;
    const auto found = vocabulary.find(*token);
    if (found == vocabulary.end()) {
      return absl::InvalidArgumentError(absl::StrCat("TextSource: ", name, " '", *token,
                                                     "' is not in the vocabulary of ",
                                                     vocabulary.size(), " words"));
    }
    (token == &options.unknown_token ? words->unknown : words->end) = found->second;
  }
  return std::make_shared<TextShards>(std::move(paths), std::move(words));
}

absl::StatusOr<std::vector<std::string>> GlobPaths(const std::string& patterns) {
  std::vector<std::string> paths;
  for (const absl::string_view part : absl::StrSplit(patterns, ',', absl::SkipEmpty())) {
    const std::string pattern(part);
    glob_t found = {};
    const int result = glob(pattern.c_str(), /*flags=*/0, nullptr, &found);
    for (const char* path : absl::MakeSpan(found.gl_pathv, found.gl_pathc))
      paths.emplace_back(path);
    globfree(&found);
    if (result == GLOB_NOMATCH) {
      return absl::NotFoundError(absl::StrCat("no file matches '", pattern, "'"));
    }
    if (result != 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("there is no memory for the files that match '", pattern, "'"));
    }
  }
  if (paths.empty()) return absl::NotFoundError("no path is given");
  return paths;
}

}  // namespace cooper
