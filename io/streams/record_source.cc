#include "io/streams/record_source.h"

#include <atomic>
#include <cstdint>
#include <utility>

#include "io/streams/decoding_reader.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

class EncodedRecords : public EncodedReader {
 public:
  explicit EncodedRecords(std::unique_ptr<RecordReader> records) : records_(std::move(records)) {}

  absl::StatusOr<bool> Next(std::string* encoded) override { return records_->Read(encoded); }
  int64_t Position() const override { return records_->Tell(); }
  absl::Status SeekTo(int64_t position) override { return records_->Seek(position); }

 private:
  const std::unique_ptr<RecordReader> records_;
};

class RecordShards : public SampleSource {
 public:
  RecordShards(std::vector<std::string> paths, std::vector<SampleField> fields, DecodeRecord decode,
               const RecordReaderOptions& options)
      : paths_(std::move(paths)),
        fields_(std::move(fields)),
        decode_(std::move(decode)),
        options_(options) {}

  const std::vector<SampleField>& fields() const override { return fields_; }
  int64_t num_shards() const override { return std::ssize(paths_); }
  std::string shard_name(int64_t shard) const override { return paths_[shard]; }
  absl::StatusOr<std::unique_ptr<ShardReader>> Open(int64_t shard) const override {
    const std::string& path = paths_[shard];
    COOPER_ASSIGN_OR_RETURN(auto records, RecordReader::Open(path, options_));
    const auto decode = [path, decode = decode_, num_fields = fields_.size()](
                            absl::string_view record, int64_t position, Sample* sample) {
      sample->Clear(num_fields);
      return AddContext(decode(record, sample), "'", path, "', offset ", position);
    };
    return std::make_unique<DecodingReader>(std::make_unique<EncodedRecords>(std::move(records)),
                                            decode, &decode_seconds_);
  }
  double decode_seconds() const override { return decode_seconds_; }

 private:
  const std::vector<std::string> paths_;
  const std::vector<SampleField> fields_;
  const DecodeRecord decode_;
  const RecordReaderOptions options_;
  mutable std::atomic<double> decode_seconds_ = 0;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const SampleSource>> RecordSource(
    std::vector<std::string> paths, std::vector<SampleField> fields, DecodeRecord decode,
    const RecordReaderOptions& options) {
  if (paths.empty()) return absl::InvalidArgumentError("RecordSource: there are no paths");
  return std::make_shared<RecordShards>(std::move(paths), std::move(fields), std::move(decode),
                                        options);
}

}  // namespace cooper
