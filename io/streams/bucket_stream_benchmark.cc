// Measures a stream alone, without training: reading, numbering words, bucketing and padding.
//
//   bazelw run //io/streams:bucket_stream_benchmark

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "glog/logging.h"
#include "io/streams/bucket_stream.h"
#include "io/streams/gzip_fixtures.h"
#include "io/streams/text_source.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

constexpr int kShards = 8;
constexpr int kSentences = 25000;  // of a shard
constexpr int kWords = 20000;

// Writes shards of sentences of 1 to 30 words, whose frequencies fall as those of a language.
std::vector<std::string> WriteShards(bool compressed) {
  std::vector<std::string> paths;
  RandomGenerator random(1);
  for (int shard = 0; shard < kShards; ++shard) {
    std::string text;
    for (int i = 0; i < kSentences; ++i) {
      for (uint64_t n = 1 + random.NextBelow(1 + random.NextBelow(30)); n > 0; --n) {
        const uint64_t bound = 1 + random.NextBelow(1 + random.NextBelow(kWords));
        absl::StrAppend(&text, "word", random.NextBelow(bound), n == 1 ? "\n" : " ");
      }
    }
    paths.push_back((std::filesystem::temp_directory_path() /
                     absl::StrCat("bucket_stream_", shard, compressed ? ".txt.gz" : ".txt"))
                        .string());
    CHECK(WriteFileAtomically(paths.back(), compressed ? Gzip(text) : text).ok());
  }
  return paths;
}

void BM_Stream(benchmark::State& state) {
  const std::vector<std::string> paths = WriteShards(state.range(0) == 1);
  Vocabulary vocabulary;
  for (int i = 0; i < kWords; ++i) vocabulary[absl::StrCat("word", i)] = i + 1;
  const auto source = TextSource(paths, vocabulary);
  CHECK(source.ok());
  auto stream = BucketStream::Create(
      *source, NextWordInputs({.invalid_label = 0}),
      {.common = {.max_buckets = 10, .tokens_per_batch = 1024, .sort_batches = 4}});
  CHECK(stream.ok()) << stream.status();
  for (auto _ : state) {
    while (true) {
      const auto batch = (*stream)->Next();
      CHECK(batch.ok()) << batch.status();
      if (!*batch) break;
    }
    CHECK((*stream)->Reset().ok());
  }
  const DataStatistics statistics = (*stream)->statistics();
  const auto per_second = [](int64_t count) {
    return benchmark::Counter(static_cast<double>(count), benchmark::Counter::kIsRate);
  };
  state.counters["samples/s"] = per_second(statistics.samples);
  state.counters["words/s"] = per_second(statistics.tokens);
  state.counters["padding"] = statistics.padding();
  for (const std::string& path : paths) std::filesystem::remove(path);
}
BENCHMARK(BM_Stream)->ArgName("gzip")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cooper
