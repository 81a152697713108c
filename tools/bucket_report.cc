// Reports on samples of given lengths: their padding in buckets, and the buckets that it
// recommends. Prints the recommendation, and writes everything as JSON for tools/charts.py.
//
// bucket_report --text=train.txt --json=buckets.json: a sentence a line, spaces between words.
// bucket_report --lengths=lengths.txt --json=buckets.json: a length a line, or two for pairs.
// bucket_report --records=train.rec --json=buckets.json: the records' bytes.
// bucket_report ... --cell=lstm --num_hidden=200, --symbol=net-symbol.json --shapes="data:N,T":
// with the memory of each bucket, of the model of lm_train or of another network.
// python3 tools/charts.py buckets.json -o buckets.html: draws the report.

#include <cstdint>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "io/batch/bucket_key.h"
#include "io/buckets/bucket_boundaries.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/output_file.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/symbol.h"
#include "symbol/json/json.h"
#include "tools/bucket_report_json.h"
#include "tools/buckets/bucket_comparison.h"
#include "tools/buckets/bucket_memory.h"
#include "tools/buckets/bucket_snippets.h"
#include "tools/buckets/sample_lengths.h"
#include "tools/lm_train/language_model.h"
#include "tools/program_main.h"

ABSL_FLAG(std::string, text, "", "text, a sentence a line, with spaces between the words");
ABSL_FLAG(std::string, lengths, "", "list in place of a text: a length a line, or two of pairs");
ABSL_FLAG(std::string, records, "",
          "RecordIO file (.rec) in place of a text: the records' lengths");
ABSL_FLAG(int64_t, record_header, 24, "bytes at the beginning of each record that do not count");
ABSL_FLAG(int64_t, bytes_per_token, 1, "bytes of a record that are one token or time step");
ABSL_FLAG(std::string, json, "", "file for the report, which tools/charts.py draws");
ABSL_FLAG(int, max_buckets, 16, "no more buckets than so many, 64 at most");
ABSL_FLAG(double, bucket_cost, -1,
          "padded tokens that one more bucket must save; -1: 1 % of the tokens");
ABSL_FLAG(int64_t, multiple_of, 1, "every bucket is a multiple of it");
ABSL_FLAG(double, step_overhead, 0,
          "a sentence in a bucket of length n costs n + step_overhead; in that of a pair, the sum");
ABSL_FLAG(int64_t, max_length, 0, "no bucket is longer; 0: any length");
ABSL_FLAG(std::string, too_long, "discard",
          "what becomes of longer sentences: discard, truncate, split or error");
ABSL_FLAG(int64_t, batch_size, 32,
          "sentences in a batch: buckets with fewer are not chosen; 0: any number");

ABSL_FLAG(std::string, buckets, "", "those in use, to compare with: 10,20,30");
ABSL_FLAG(std::string, symbol, "",
          "symbol file of a network for any length, to tell the memory of the buckets");
ABSL_FLAG(std::string, shapes, "data:N,T;softmax_label:N,T",
          "of --symbol's inputs: N is the batch size, T the length, U the second one of pairs");
ABSL_FLAG(std::string, cell, "",
          "in place of --symbol: the model of lm_train with lstm, gru, rnn, fused, ...");
ABSL_FLAG(int64_t, vocab, 10000, "words of --cell");
ABSL_FLAG(int, num_layers, 2, "recurrent layers of --cell");
ABSL_FLAG(int, num_hidden, 200, "features of each recurrent layer of --cell");
ABSL_FLAG(int, num_embed, 200, "features of the embedding of --cell");
ABSL_FLAG(bool, training, true, "memory with gradients");

namespace cooper {
namespace {

absl::StatusOr<std::vector<int64_t>> BucketsFromFlag() {
  const std::string text = absl::GetFlag(FLAGS_buckets);
  std::vector<int64_t> buckets;
  for (const absl::string_view field : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    if (!absl::SimpleAtoi(field, &buckets.emplace_back())) {
      return absl::InvalidArgumentError(
          absl::StrCat("--buckets=", text, ": expected lengths such as 10,20,30"));
    }
  }
  return buckets;
}

absl::StatusOr<BucketBoundariesOptions::TooLong> TooLongFromFlag() {
  using TooLong = BucketBoundariesOptions::TooLong;
  const std::string name = absl::GetFlag(FLAGS_too_long);
  if (name == "discard") return TooLong::kDiscard;
  if (name == "truncate") return TooLong::kTruncate;
  if (name == "split") return TooLong::kSplit;
  if (name == "error") return TooLong::kError;
  return absl::InvalidArgumentError(
      absl::StrCat("--too_long=", name, ": expected discard, truncate, split or error"));
}

absl::Status InputFileError() {
  return absl::InvalidArgumentError("expected --text=FILE or --lengths=FILE or --records=FILE");
}

// Returns the input file, which exactly one of three flags sets.
absl::StatusOr<std::string> InputFile() {
  std::string input;
  for (const auto* flag : {&FLAGS_text, &FLAGS_lengths, &FLAGS_records}) {
    const std::string path = absl::GetFlag(*flag);
    if (path.empty()) continue;
    if (!input.empty()) return InputFileError();
    input = path;
  }
  if (input.empty()) return InputFileError();
  return input;
}

absl::StatusOr<SampleLengths> ReadInput(const std::string& path) {
  if (!absl::GetFlag(FLAGS_text).empty()) return CountWords(path);
  if (!absl::GetFlag(FLAGS_lengths).empty()) return ReadLengths(path);
  return RecordLengths(path, {.header_bytes = absl::GetFlag(FLAGS_record_header),
                              .bytes_per_token = absl::GetFlag(FLAGS_bytes_per_token)});
}

absl::Status CheckFiles(const std::string& input, const std::string& output) {
  std::error_code error;
  if (std::filesystem::equivalent(input, output, error) && !error) {
    return absl::InvalidArgumentError(absl::StrCat("--json=", output, " is the file that is read"));
  }
  return CheckOutputFile("--json=", output);
}

// Returns the memory of the network of --symbol or --cell; absent without either.
absl::StatusOr<std::optional<BucketMemory>> MemoryFromFlags(const BucketReportInput& report) {
  const std::string path = absl::GetFlag(FLAGS_symbol), cell = absl::GetFlag(FLAGS_cell);
  if (path.empty() && cell.empty()) return std::nullopt;
  if (!path.empty() && !cell.empty()) {
    return absl::InvalidArgumentError("expected --symbol=FILE or --cell=CELL, not both");
  }
  if (report.options.batch_size < 1) {
    return absl::InvalidArgumentError("the memory of --symbol or --cell needs a --batch_size");
  }
  BucketMemoryOptions options = {.shapes = absl::GetFlag(FLAGS_shapes),
                                 .batch_size = report.options.batch_size,
                                 .training = absl::GetFlag(FLAGS_training)};
  std::string network = path;
  if (!path.empty()) {
    COOPER_ASSIGN_OR_RETURN(Symbol symbol, LoadSymbol(path));
    options.sym_gen = [symbol = std::move(symbol)](const BucketKey&) { return symbol; };
  } else {
    if (report.lengths.pairs()) {
      return absl::InvalidArgumentError("--cell: the language model has one length, not pairs");
    }
    const LanguageModelOptions model = {.vocab = absl::GetFlag(FLAGS_vocab),
                                        .num_embed = absl::GetFlag(FLAGS_num_embed),
                                        .num_hidden = absl::GetFlag(FLAGS_num_hidden),
                                        .num_layers = absl::GetFlag(FLAGS_num_layers),
                                        .cell = cell,
                                        .use_ignore = true};
    COOPER_ASSIGN_OR_RETURN(options.sym_gen, MakeLanguageModel(model));
    options.shapes = "data:N,T;softmax_label:N,T";
    network = absl::StrCat("a language model (", cell, ", ", model.num_layers, " layers of ",
                           model.num_hidden, ", ", model.vocab, " words)");
  }
  std::vector<BucketKey::Tuple> buckets;
  for (const BucketRow& row : report.comparison.rows) buckets.push_back(row.bucket);
  COOPER_ASSIGN_OR_RETURN(BucketMemory memory, PlanBucketMemory(options, buckets));
  memory.network = std::move(network);
  return memory;
}

absl::Status Run() {
  BucketReportInput report;
  COOPER_ASSIGN_OR_RETURN(report.source, InputFile());
  const std::string output = absl::GetFlag(FLAGS_json);
  COOPER_RETURN_IF_ERROR(CheckFiles(report.source, output));
  report.options = {.max_buckets = absl::GetFlag(FLAGS_max_buckets),
                    .bucket_cost = absl::GetFlag(FLAGS_bucket_cost),
                    .multiple_of = absl::GetFlag(FLAGS_multiple_of),
                    .step_overhead = absl::GetFlag(FLAGS_step_overhead),
                    .max_length = absl::GetFlag(FLAGS_max_length),
                    .batch_size = absl::GetFlag(FLAGS_batch_size)};
  COOPER_ASSIGN_OR_RETURN(report.options.too_long, TooLongFromFlag());
  COOPER_ASSIGN_OR_RETURN(report.options.in_use, BucketsFromFlag());
  COOPER_ASSIGN_OR_RETURN(report.lengths, ReadInput(report.source));
  COOPER_ASSIGN_OR_RETURN(report.comparison, CompareBuckets(report.lengths, report.options));
  COOPER_ASSIGN_OR_RETURN(report.memory, MemoryFromFlags(report));
  if (!output.empty()) {
    COOPER_RETURN_IF_ERROR(WriteFileAtomically(output, BucketReportJson(report)));
  }
  const BucketComparison& comparison = report.comparison;
  const std::string flags = BucketFlags(comparison, report.options);
  std::cout << comparison.recommended << (comparison.recommended == 1 ? " bucket, " : " buckets, ")
            << absl::StrFormat("%.1f %% padding\n", 100 * comparison.Padding(comparison.best()))
            << (flags.empty() ? BucketCode(comparison, report.options) : flags) << "\n";
  if (!std::cout.flush()) return absl::DataLossError("standard output cannot be written");
  return absl::OkStatus();
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  return cooper::ProgramMain(
      {.name = "bucket_report", .summary = "shows what buckets do to samples of given lengths"},
      argc, argv, cooper::Run);
}
