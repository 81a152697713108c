// The C++ of streams.md, run: check_snippets.sh holds them together.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "docs/five_words.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/data_iter.h"
#include "io/batch/iter_fixtures.h"
#include "io/iterators/prefetching_iter.h"
#include "io/records/record_writer.h"
#include "io/streams/bucket_stream.h"
#include "io/streams/record_source.h"
#include "io/streams/sample.h"
#include "io/streams/sample_source.h"
#include "io/streams/shard_vocabulary.h"
#include "io/streams/stream_inputs.h"
#include "io/streams/text_source.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

absl::StatusOr<std::unique_ptr<BucketStream>> TextStream(const std::string& pattern) {
  // Files with a sentence per line, plain or compressed by gzip or zstd.
  COOPER_ASSIGN_OR_RETURN(const std::vector<std::string> paths, GlobPaths(pattern));
  COOPER_ASSIGN_OR_RETURN(
      const Vocabulary words,
      BuildShardVocabulary(paths, {.unknown_token = "<unk>", .max_words = 10000}));
  COOPER_ASSIGN_OR_RETURN(const auto source, TextSource(paths, words, {.unknown_token = "<unk>"}));
  COOPER_ASSIGN_OR_RETURN(
      std::unique_ptr<BucketStream> stream,
      BucketStream::Create(
          source, NextWordInputs(),
          {.batch_size = 32,
           .pool_samples = 16384,
           .common = {.max_buckets = 10, .last_batch = BucketStreamOptions::LastBatch::kPad}}));
  return stream;
}

absl::StatusOr<int64_t> CountAhead(std::unique_ptr<BucketStream> stream) {
  std::vector<std::unique_ptr<DataIter>> iters;
  iters.push_back(std::move(stream));
  COOPER_ASSIGN_OR_RETURN(const auto ahead, PrefetchingIter::Create(std::move(iters)));
  return std::ssize(Epoch(*ahead));
}

TEST(StreamsSnippetsTest, ReadsText) {
  for (int shard = 0; shard < 3; ++shard) {
    std::string text;
    for (int i = 0; i < 100; ++i) absl::StrAppend(&text, i % 3 == 0 ? "a b c\n" : "b c\n");
    COOPER_ASSERT_OK(
        WriteFileAtomically(absl::StrCat(testing::TempDir(), "/snippet-", shard, ".txt"), text));
  }
  const std::string pattern = absl::StrCat(testing::TempDir(), "/snippet-*.txt");
  COOPER_ASSERT_OK_AND_ASSIGN(std::unique_ptr<BucketStream> stream, TextStream(pattern));
  // 102 sentences of three words and 198 of two.
  EXPECT_EQ(Epoch(*stream).size(), 4 + 7);
  EXPECT_EQ(stream->statistics().samples, 300);
  COOPER_ASSERT_OK(stream->Reset());
  EXPECT_THAT(CountAhead(std::move(stream)), IsOkAndHolds(11));
}

absl::StatusOr<std::unique_ptr<BucketStream>> Mixture(std::shared_ptr<const SampleSource> news,
                                                      std::shared_ptr<const SampleSource> books) {
  // Three of four samples are news.
  return BucketStream::Create({{.source = news, .weight = 3}, {.source = books, .weight = 1}},
                              NextWordInputs(), {.buckets = {20, 40}, .epoch_samples = 1000});
}

TEST(StreamsSnippetsTest, MixesSources) {
  const auto source = std::make_shared<FunctionSource>(
      std::vector<SampleField>{SampleField()}, 1,
      [](int64_t, int64_t index, Sample* sample) -> absl::StatusOr<bool> {
        sample->Set<int32_t>(0, {7});
        return index < 3;
      });
  COOPER_ASSERT_OK_AND_ASSIGN(const auto stream, Mixture(source, source));
  EXPECT_EQ(Epoch(*stream).size(), 1000);
}

struct Recording {
  std::vector<float> frames;
  int32_t speaker;
};

absl::StatusOr<std::unique_ptr<BucketStream>> RecordingStream(
    const std::vector<Recording>& recordings) {
  // Frames of 40 features and the class of each recording.
  const auto source = std::make_shared<FunctionSource>(
      std::vector<SampleField>{{.dtype = DType::kFloat32, .step = {40}},
                               {.dtype = DType::kInt32, .step = {}, .is_sequence = false}},
      /*num_shards=*/4,
      [&recordings](int64_t shard, int64_t index, Sample* sample) -> absl::StatusOr<bool> {
        const int64_t i = index * 4 + shard;
        if (i >= std::ssize(recordings)) return false;
        sample->Set<float>(0, recordings[i].frames);
        sample->Set<int32_t>(1, {recordings[i].speaker});
        return true;
      });
  const StreamInputs inputs = {.data = {{.name = "frames", .length_name = "length"}},
                               .label = {{.name = "softmax_label", .field = 1, .pad_value = -1}}};
  return BucketStream::Create(source, inputs, {.batch_size = 2, .buckets = {10, 20}});
}

TEST(StreamsSnippetsTest, ReadsWhatAFunctionGives) {
  const std::vector<Recording> recordings(9, {.frames = std::vector<float>(12 * 40), .speaker = 3});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto stream, RecordingStream(recordings));
  const std::vector<DataBatch> batches = Epoch(*stream);
  ASSERT_EQ(batches.size(), 4);
  EXPECT_EQ(DescsToString(batches[0].provide_data),
            "frames (2, 20, 40) float32 NTC, length (2,) float32 N");
}

using Pair = std::pair<std::vector<int32_t>, std::vector<int32_t>>;

absl::StatusOr<std::unique_ptr<BucketStream>> PairStream(const std::vector<Pair>& pairs) {
  // Pairs of sentences. pad_to: the second length of a bucket is the target's.
  const auto source = std::make_shared<FunctionSource>(
      std::vector<SampleField>{SampleField(), {.pad_to = 1}}, /*num_shards=*/1,
      [&pairs](int64_t /*shard*/, int64_t index, Sample* sample) -> absl::StatusOr<bool> {
        if (index >= std::ssize(pairs)) return false;
        sample->Set<int32_t>(0, pairs[index].first);
        sample->Set<int32_t>(1, pairs[index].second);
        return true;
      });
  return BucketStream::Create(
      source,
      {.data = {{.name = "source"}, {.name = "target", .field = 1}},
       .label = {{.name = "softmax_label", .field = 1, .pad_value = -1, .shift = 1}}},
      {.batch_size = 2, .buckets = {{10, 12}, {20, 24}}});
}

TEST(StreamsSnippetsTest, HasTwoLengths) {
  const std::vector<Pair> pairs(4, {std::vector<int32_t>(7, 1), std::vector<int32_t>(15, 2)});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto stream, PairStream(pairs));
  const std::vector<DataBatch> batches = Epoch(*stream);
  ASSERT_EQ(batches.size(), 2);
  EXPECT_EQ(batches[0].bucket_key, BucketKey({20, 24}));
}

// Stands for a KVStore of one of two processes, of which the other has nothing.
struct Store {
  static int rank() { return 0; }
  static int num_workers() { return 2; }
  static absl::StatusOr<std::vector<std::string>> AllGather(const std::string& text) {
    return std::vector<std::string>{text, "1,0"};
  }
};

TEST(StreamsSnippetsTest, IsOneOfSeveralParts) {
  const Store own;
  const Store* const store = &own;
  BucketStreamOptions options = {.batch_size = 2, .buckets = {1}};
  options.common.part_index = store->rank();
  options.common.num_parts = store->num_workers();
  options.common.last_batch = BucketStreamOptions::LastBatch::kPad;
  options.all_gather = [store](const std::string& text) { return store->AllGather(text); };
  const auto source = std::make_shared<FunctionSource>(
      std::vector<SampleField>{SampleField()}, 2,
      [](int64_t, int64_t index, Sample* sample) -> absl::StatusOr<bool> {
        sample->Set<int32_t>(0, {7});
        return index < 3;
      });
  COOPER_ASSERT_OK_AND_ASSIGN(const auto stream,
                              BucketStream::Create(source, NextWordInputs(), options));
  EXPECT_EQ(Epoch(*stream).size(), 2);
}

absl::StatusOr<std::shared_ptr<const SampleSource>> CharactersOf(std::vector<std::string> paths) {
  return RecordSource(paths, {SampleField()},
                      [](absl::string_view record, Sample* sample) -> absl::Status {
                        std::vector<int32_t> ids;
                        for (const char byte : record) ids.push_back(byte);
                        sample->Set<int32_t>(0, ids);
                        return absl::OkStatus();
                      });
}

TEST(StreamsSnippetsTest, RecordsAreSamples) {
  const std::string path = absl::StrCat(testing::TempDir(), "/characters.rec");
  COOPER_ASSERT_OK_AND_ASSIGN(const auto writer, RecordWriter::Create(path));
  for (const char* text : {"ab", "c"}) COOPER_ASSERT_OK(writer->Write(text));
  COOPER_ASSERT_OK(writer->Close());
  COOPER_ASSERT_OK_AND_ASSIGN(const auto source, CharactersOf({path}));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto stream,
                              BucketStream::Create(source, NextWordInputs(), {.buckets = {2}}));
  EXPECT_EQ(Epoch(*stream).size(), 2);
}

TEST(StreamsSnippetsTest, FitTrainsOnAStream) {
  const std::vector<std::vector<int>> sentences = SentencesOfFiveWords();
  const auto source = std::make_shared<FunctionSource>(
      std::vector<SampleField>{SampleField()}, 5,
      [&sentences](int64_t shard, int64_t index, Sample* sample) -> absl::StatusOr<bool> {
        if (index == 20) return false;
        sample->Set<int32_t>(0, sentences[shard * 20 + index]);
        return true;
      });
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto stream,
      BucketStream::Create(source, NextWordInputs({.invalid_label = 0}),
                           {.batch_size = 4, .buckets = {4, 8, 12}, .pool_samples = 30}));
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto model, BucketingModule::Create({.sym_gen = NextOfFive, .default_bucket_key = 12}));
  const auto metric = Perplexity({.ignore_label = 0});
  COOPER_ASSERT_OK(model->Fit(
      *stream,
      {.eval_metric = metric.get(), .params = {.initializer = init::Xavier()}, .num_epoch = 2}));
  EXPECT_LT(metric->GetNameValue()[0].second, 6);  // words are drawn: 5 is the best
  EXPECT_EQ(model->Report().size(), 3);
}

}  // namespace
}  // namespace cooper
