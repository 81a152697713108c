#include "io/streams/record_source.h"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/data_statistics.h"
#include "io/batch/iter_fixtures.h"
#include "io/records/record_writer.h"
#include "io/streams/bucket_stream.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "ndarray/random/random_cases.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

int64_t Draw(RandomGenerator& random, int64_t least, int64_t most) {
  return least + static_cast<int64_t>(random.NextBelow(static_cast<uint64_t>(most - least + 1)));
}

// A record of shard `shard`: its number, `index % 7 + 1` times.
std::string RecordOf(int64_t shard, int64_t index) {
  const std::vector<int32_t> values(index % 7 + 1, static_cast<int32_t>(1000 * shard + index));
  return std::string(reinterpret_cast<const char*>(values.data()), 4 * values.size());
}

absl::Status Decode(absl::string_view record, Sample* sample) {
  if (record.size() % 4 != 0) return absl::InvalidArgumentError("no integers");
  std::vector<int32_t> values(record.size() / 4);
  std::memcpy(values.data(), record.data(), record.size());
  sample->Set<int32_t>(0, values);
  return absl::OkStatus();
}

std::vector<std::string> WriteShards(const std::string& name, const std::vector<int64_t>& counts) {
  std::vector<std::string> paths;
  for (int64_t shard = 0; shard < std::ssize(counts); ++shard) {
    paths.push_back(absl::StrCat(testing::TempDir(), "/", name, shard, ".rec"));
    const auto writer = RecordWriter::Create(paths.back());
    for (int64_t i = 0; i < counts[shard]; ++i) {
      COOPER_EXPECT_OK((*writer)->Write(RecordOf(shard, i)));
    }
    COOPER_EXPECT_OK((*writer)->Close());
  }
  return paths;
}

int32_t FirstValue(const Sample& sample) {
  int32_t value = -1;
  if (!sample.bytes(0).empty()) std::memcpy(&value, sample.bytes(0).data(), sizeof(value));
  return value;
}

TEST(RecordSourceTest, ReturnsToAnyPosition) {
  const std::vector<std::string> paths = WriteShards("positions", {1500});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto source, RecordSource(paths, {SampleField()}, Decode));
  ForRandomCases(20, [&](RandomGenerator& random) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto reader, source->Open(0));
    std::vector<int64_t> positions;
    int64_t at = 0;
    Sample sample;
    for (int step = 0; step < 6; ++step) {
      for (int64_t n = Draw(random, 0, 600); n > 0; --n) {
        if (at == std::ssize(positions)) positions.push_back(reader->Position());
        EXPECT_EQ(reader->Position(), positions[at]);
        COOPER_ASSERT_OK_AND_ASSIGN(const bool more, reader->Next(&sample));
        ASSERT_EQ(more, at < 1500);
        if (!more) break;
        ASSERT_EQ(FirstValue(sample), at++);
      }
      if (positions.empty()) continue;
      at = Draw(random, 0, std::ssize(positions) - 1);
      COOPER_ASSERT_OK(reader->SeekTo(positions[at]));
    }
  });
}

TEST(RecordSourceTest, AStreamOfRecordsGoesOnBitForBit) {
  const std::vector<std::string> paths = WriteShards("stream", {40, 0, 310, 25});
  const auto create = [&] {
    const auto source = RecordSource(paths, {SampleField()}, Decode);
    return *BucketStream::Create(*source, NextWordInputs(),
                                 {.batch_size = 3, .buckets = {4, 7}, .pool_samples = 50});
  };
  const std::vector<int64_t> rows = FirstRows(*create());
  std::unique_ptr<BucketStream> stream = create();
  std::vector<int64_t> broken;
  for (int i = 0; i < 60; ++i) {
    COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, stream->SaveState());
    stream = create();
    COOPER_ASSERT_OK(stream->LoadState(state));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto batch, stream->Next());
    broken.push_back(batch->index[0]);
  }
  for (const int64_t row : FirstRows(*stream)) broken.push_back(row);
  EXPECT_EQ(broken, rows);
}

TEST(RecordSourceTest, AStreamTellsDecodingFromReading) {
  const auto source = RecordSource(WriteShards("slow", {20}), {SampleField()},
                                   [](absl::string_view record, Sample* sample) {
                                     std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                     return Decode(record, sample);
                                   });
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto stream,
      BucketStream::Create(*source, NextWordInputs(), {.batch_size = 2, .buckets = {7}}));
  EXPECT_EQ(FirstRows(*stream).size(), 10u);
  const DataStatistics seconds = stream->statistics();
  EXPECT_GE(seconds.decode_seconds, 0.001);
  EXPECT_GT(seconds.read_seconds, 0);
  EXPECT_GE(seconds.wait_seconds + 1e-9, seconds.read_seconds + seconds.decode_seconds);
}

TEST(RecordSourceTest, NamesTheRecordThatCannotBeRead) {
  const std::string path = absl::StrCat(testing::TempDir(), "/bad.rec");
  COOPER_ASSERT_OK_AND_ASSIGN(const auto writer, RecordWriter::Create(path));
  for (const std::string& record : {RecordOf(0, 0), std::string("abc"), RecordOf(0, 2)}) {
    COOPER_ASSERT_OK(writer->Write(record));
  }
  COOPER_ASSERT_OK(writer->Close());
  COOPER_ASSERT_OK_AND_ASSIGN(std::string bytes, ReadFile(path));
  const auto read = [&](const RecordReaderOptions& options) -> absl::Status {
    const auto source = RecordSource({path}, {SampleField()}, Decode, options);
    auto reader = (*source)->Open(0);
    if (!reader.ok()) return reader.status();
    Sample sample;
    while (true) {
      const absl::StatusOr<bool> more = (*reader)->Next(&sample);
      if (!more.ok() || !*more) return more.status();
    }
  };
  EXPECT_THAT(read({}), StatusIs(absl::StatusCode::kInvalidArgument,
                                 absl::StrCat("'", path, "', offset 12: no integers")));
  bytes[12] ^= 1;  // in the head of the second record
  COOPER_ASSERT_OK(WriteFileAtomically(path, bytes));
  EXPECT_THAT(read({}), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("offset 12")));
  COOPER_EXPECT_OK(read({.skip_corrupted = true}));
  EXPECT_THAT(RecordSource({}, {SampleField()}, Decode),
              StatusIs(absl::StatusCode::kInvalidArgument, "RecordSource: there are no paths"));
}

}  // namespace
}  // namespace cooper
