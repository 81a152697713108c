// Runs io/bucket_sentence_iter.json and io/encode_sentences.json: words as ids, in buckets.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "io/text/encode_sentences.h"
#include "ndarray/base/status_macros.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/io_data.h"

namespace cooper::conformance {
namespace {

using Row = std::vector<float>;

absl::StatusOr<std::unique_ptr<BucketSentenceIter>> MakeIter(const Json& json) {
  const Json& kwargs = json.at("kwargs");
  BucketSentenceIterOptions options;
  for (const auto& [key, value] : kwargs.items()) {
    if (key == "batch_size" || (key == "buckets" && value.is_null())) continue;
    if (key == "buckets") {
      options.buckets = value.get<std::vector<int64_t>>();
    } else if (key == "invalid_label") {
      options.invalid_label = value.get<double>();
    } else if (key == "data_name") {
      options.data_name = value.get<std::string>();
    } else if (key == "label_name") {
      options.label_name = value.get<std::string>();
    } else if (key == "layout") {
      options.layout = value.get<std::string>();
    } else if (key == "dtype") {
      COOPER_ASSIGN_OR_RETURN(options.dtype, DTypeFromName(value.get<std::string>()));
    } else {
      return absl::UnimplementedError(absl::StrCat("BucketSentenceIter: argument ", key));
    }
  }
  return BucketSentenceIter::Create(json.at("sentences").get<std::vector<std::vector<int>>>(),
                                    kwargs.at("batch_size").get<int64_t>(), std::move(options));
}

// Returns the sentences of a batch, one row each, for both layouts.
absl::StatusOr<std::vector<Row>> RowsOf(const NDArray& array, bool time_major) {
  COOPER_ASSIGN_OR_RETURN(std::vector<float> values, array.ToVector<float>());
  if (array.shape().rank() != 2) return absl::UnknownError("a batch is no matrix");
  const int64_t rows = array.shape()[time_major ? 1 : 0];
  const int64_t length = array.shape()[time_major ? 0 : 1];
  std::vector<Row> result(static_cast<size_t>(rows), Row(static_cast<size_t>(length)));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t t = 0; t < length; ++t) {
      result[row][t] = values[time_major ? t * rows + row : row * length + t];
    }
  }
  return result;
}

// Checks an epoch in random order: batches must be full, their rows must be those of the bucket,
// none too often, and labels must be the data shifted by one.
class EpochChecker {
 public:
  EpochChecker(const Json& json, const BucketSentenceIter& iter) : json_(json) {
    batch_size_ = iter.batch_size();
    time_major_ = json.at("kwargs").value("layout", "NT") == "TN";
    invalid_ = json.at("kwargs").value("invalid_label", -1.0f);
    for (const auto& [bucket, rows] : json.at("rows_per_bucket").items()) {
      left_[bucket] = rows.get<std::vector<Row>>();
    }
  }

  absl::Status Check(const DataBatch& batch) {
    if (!batch.bucket_key) return absl::UnknownError("a batch without a bucket key");
    const std::string bucket = batch.bucket_key->ToString();
    if (!left_.contains(bucket)) return absl::UnknownError("unexpected bucket " + bucket);
    COOPER_ASSIGN_OR_RETURN(std::vector<Row> data, RowsOf(batch.data.at(0), time_major_));
    COOPER_ASSIGN_OR_RETURN(std::vector<Row> label, RowsOf(batch.label.at(0), time_major_));
    if (static_cast<int64_t>(data.size()) != batch_size_ || batch.pad != 0) {
      return absl::UnknownError("a batch that is not full");
    }
    for (size_t i = 0; i < data.size(); ++i) {
      std::vector<Row>& left = left_[bucket];
      const auto found = std::find(left.begin(), left.end(), data[i]);
      if (found == left.end()) {
        return absl::UnknownError(
            absl::StrCat("bucket ", bucket, " has no (further) row ", Json(data[i]).dump()));
      }
      left.erase(found);
      Row expected(data[i].begin() + 1, data[i].end());
      expected.push_back(invalid_);
      COOPER_RETURN_IF_ERROR(CompareTexts("label", Json(label[i]).dump(), Json(expected).dump()));
    }
    ++batches_[bucket];
    return absl::OkStatus();
  }

  absl::Status Finish() const {
    return CompareTexts("batches per bucket", Json(batches_).dump(),
                        json_.at("batches_per_bucket").dump());
  }

 private:
  const Json& json_;
  int64_t batch_size_ = 0;
  bool time_major_ = false;
  float invalid_ = -1;
  std::map<std::string, std::vector<Row>> left_;
  std::map<std::string, int64_t> batches_;
};

absl::Status RunCase(const Json& json) {
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<BucketSentenceIter> iter, MakeIter(json));
  std::vector<std::string> keys;
  for (const BucketKey& key : iter->bucket_keys()) keys.push_back(key.ToString());
  std::vector<std::string> expected_keys;
  for (const Json& key : json.at("buckets")) expected_keys.push_back(key.dump());
  COOPER_RETURN_IF_ERROR(CompareNames("buckets", keys, Json(expected_keys)));
  COOPER_RETURN_IF_ERROR(CompareTexts("default bucket key", iter->default_bucket_key()->ToString(),
                                      json.at("default_bucket_key").dump()));
  COOPER_RETURN_IF_ERROR(CompareProvided(*iter, json));
  COOPER_RETURN_IF_ERROR(CompareTexts("discarded", absl::StrCat(iter->report().discarded),
                                      json.at("discarded").dump()));
  for (int epoch = 0; epoch < 3; ++epoch) {
    if (epoch > 0) COOPER_RETURN_IF_ERROR(iter->Reset());
    EpochChecker checker(json, *iter);
    while (true) {
      COOPER_ASSIGN_OR_RETURN(std::optional<DataBatch> batch, iter->Next());
      if (!batch) break;
      COOPER_RETURN_IF_ERROR(checker.Check(*batch));
    }
    COOPER_RETURN_IF_ERROR(checker.Finish());
  }
  return absl::OkStatus();
}

absl::Status RunEncodeSentences(const Json& json) {
  EncodeSentencesOptions options;
  for (const auto& [key, value] : json.at("kwargs").items()) {
    if (key == "invalid_label") {
      options.invalid_label = value.get<int>();
    } else if (key == "invalid_key") {
      options.invalid_key = value.get<std::string>();
    } else if (key == "start_label") {
      options.start_label = value.get<int>();
    } else if (key == "unknown_token") {
      options.unknown_token = value.get<std::string>();
    } else {
      return absl::UnimplementedError(absl::StrCat("EncodeSentences: argument ", key));
    }
  }
  const auto sentences = json.at("sentences").get<std::vector<Sentence>>();
  absl::StatusOr<EncodedSentences> got;
  if (json.contains("vocab_in")) {
    const auto given = json.at("vocab_in").get<std::map<std::string, int>>();
    got = EncodeSentences(sentences, Vocabulary(given.begin(), given.end()), options);
  } else {
    got = EncodeSentences(sentences, options);
  }
  if (json.value("expect", "ok") == "error") {
    return got.ok() ? absl::UnknownError("encoded, expected an error") : absl::OkStatus();
  }
  COOPER_RETURN_IF_ERROR(got.status());
  COOPER_RETURN_IF_ERROR(
      CompareTexts("sentences", Json(got->sentences).dump(), json.at("encoded").dump()));
  const std::map<std::string, int> vocabulary(got->vocabulary.begin(), got->vocabulary.end());
  return CompareTexts("vocabulary", Json(vocabulary).dump(), json.at("vocab").dump());
}

void RunSentences(CaseRunner& runner) {
  const auto run_list = [&](const char* name, absl::Status (*run)(const Json&)) {
    const std::string folder = absl::StrCat("io/", name);
    const Json file = ReadJson(absl::StrCat(runner.root(), "/", folder, ".json"));
    runner.RunList(folder, file.at("cases"), run);
  };
  run_list("bucket_sentence_iter", RunCase);
  run_list("encode_sentences", RunEncodeSentences);
}

const CategoryRegistrar registered("io", RunSentences);

}  // namespace
}  // namespace cooper::conformance
