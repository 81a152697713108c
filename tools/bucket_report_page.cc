#include "tools/bucket_report_page.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/bucket_charts.h"
#include "tools/buckets/bucket_snippets.h"
#include "tools/html_page.h"
#include "tools/number_text.h"

namespace cooper {
namespace {

std::string Heading(absl::string_view text) { return absl::StrCat("<h2>", text, "</h2>\n"); }
std::string Paragraph(absl::string_view text, absl::string_view style = "") {
  return absl::StrCat("<p", style.empty() ? "" : absl::StrCat(" class=\"", style, "\""), ">",
                      EscapeHtml(text), "</p>\n");
}

class Page {
 public:
  explicit Page(const BucketReportInput& report)
      : report_(report), comparison_(report.comparison), options_(report.options) {}

  std::string Draw() const {
    return HtmlPage(
        absl::StrCat("Buckets for ", report_.source),
        absl::StrCat("<h1>Buckets for <bdi>", EscapeHtml(report_.source), "</bdi></h1>\n", Facts(),
                     Heading("Recommendation"), Recommendation(), Heading("Lengths"),
                     LengthsFigure(report_.lengths, comparison_), Heading("Number of buckets"),
                     ByNumber(), Heading("Recommended buckets"), Table(), Memory(),
                     Heading("What is left out"), LeftOut(), Settings()));
  }

 private:
  std::string Facts() const {
    std::string mean = MeanText(report_.lengths.first);
    std::string longest = CountText(MaxOf(report_.lengths.first));
    if (report_.lengths.pairs()) {
      absl::StrAppend(&mean, ", ", MeanText(report_.lengths.second));
      absl::StrAppend(&longest, ", ", CountText(MaxOf(report_.lengths.second)));
    }
    const std::pair<std::string, std::string> facts[] = {
        {absl::StrCat(report_.lengths.noun, "s"),
         CountText(static_cast<int64_t>(report_.lengths.first.size()))},
        {"tokens", CountText(report_.lengths.tokens())},
        {"mean length", mean},
        {"longest", longest},
        {"recommended", NumberText(comparison_.recommended, "bucket")},
        {"padding", PercentText(comparison_.Padding(comparison_.best()))}};
    std::string html = "<dl class=\"facts\">\n";
    for (const auto& [name, value] : facts) {
      absl::StrAppend(&html, "<div><dt>", EscapeHtml(name), "</dt><dd>", EscapeHtml(value),
                      "</dd></div>\n");
    }
    return html + "</dl>\n";
  }

  std::string Recommendation() const {
    const int best = comparison_.recommended;
    std::string text =
        absl::StrCat(NumberText(best, "bucket"), best == 1 ? " leaves " : " leave ",
                     PercentText(comparison_.Padding(comparison_.best())), " padding");
    if (best > 1) {
      absl::StrAppend(&text, "; a single one would leave ",
                      PercentText(comparison_.Padding(comparison_.by_number[0])));
    }
    absl::StrAppend(&text, ". ");
    if (best < static_cast<int>(comparison_.by_number.size())) {
      absl::StrAppend(&text, "One more would save ",
                      CostText(comparison_.best().cost - comparison_.by_number[best].cost),
                      " padded tokens, less than a bucket is worth (bucket_cost, ",
                      CostText(comparison_.bucket_cost), ").");
    } else if (best < options_.max_buckets) {
      absl::StrAppend(&text, "More buckets would save nothing.");
    } else {
      absl::StrAppend(&text, "More are not allowed (max_buckets).");
    }
    if (const int64_t left_over = LeftOver(); left_over > 0) {
      absl::StrAppend(&text, " ", NumberText(left_over, report_.lengths.noun),
                      left_over == 1 ? " fills" : " fill", " no batch of ",
                      CountText(options_.batch_size), ".");
    }
    std::string html = Paragraph(text);
    if (best > 1 && !report_.lengths.pairs()) html += LongestBucket();
    if (!comparison_.rows_in_use.empty()) html += InUse();
    const std::string flags = BucketFlags(comparison_, options_);
    if (!flags.empty()) {
      absl::StrAppend(&html, Paragraph("Flags of //tools/lm_train:", "quiet"), HtmlCode(flags));
    }
    return absl::StrCat(html, Paragraph("C++:", "quiet"),
                        HtmlCode(BucketCode(comparison_, options_)));
  }

  // Returns a note if a few very long samples cause much of the padding.
  std::string LongestBucket() const {
    const BucketRow& last = comparison_.rows.back();
    const double samples =
        static_cast<double>(last.samples) / static_cast<double>(comparison_.samples);
    const double padding = static_cast<double>(last.padded_tokens - last.tokens) /
                           static_cast<double>(std::max<int64_t>(
                               comparison_.best().padded_tokens - comparison_.tokens, 1));
    if (padding < 0.1 || padding < 10 * samples) return "";
    const int64_t next = comparison_.rows[comparison_.rows.size() - 2].bucket[0];
    return Paragraph(absl::StrCat(
        "The longest bucket has ", PercentText(samples), " of the ", report_.lengths.noun, "s and ",
        PercentText(padding), " of the padding; all others together have ",
        PercentText(PaddingShare(comparison_.tokens - last.tokens,
                                 comparison_.best().padded_tokens - last.padded_tokens)),
        " padding. A max_length of ", CountText(next), " chooses buckets without it."));
  }

  std::string InUse() const {
    std::string buckets;
    BucketRow all;
    for (const BucketRow& row : comparison_.rows_in_use) {
      absl::StrAppend(&buckets, buckets.empty() ? "" : ", ", row.bucket[0]);
      all.samples += row.samples;
      all.tokens += row.tokens;
      all.padded_tokens += row.padded_tokens;
    }
    const int64_t left_out = static_cast<int64_t>(report_.lengths.first.size()) - all.samples;
    const size_t number = comparison_.rows_in_use.size();
    std::string text =
        absl::StrCat("The buckets in use, ", buckets, ", leave ", PercentText(all.padding()),
                     " padding, and leave out ", NumberText(left_out, report_.lengths.noun), ".");
    if (number <= comparison_.by_number.size()) {
      absl::StrAppend(&text, " The best ", number, " leave ",
                      PercentText(comparison_.Padding(comparison_.by_number[number - 1])),
                      " padding, and leave out ",
                      NumberText(comparison_.discarded, report_.lengths.noun), ".");
    }
    return Paragraph(text);
  }

  std::string ByNumber() const {
    if (comparison_.by_number.size() == 1) return Paragraph("There is nothing to choose from.");
    return PaddingFigure(comparison_) + SpeedFigure(comparison_, options_.step_overhead);
  }

  std::string Table() const {
    const bool pairs = report_.lengths.pairs();
    const int64_t batch_size = options_.batch_size;
    std::vector<std::string> header = {"bucket",  absl::StrCat(report_.lengths.noun, "s"),
                                       "share",   "real tokens",
                                       "padding", "share of padding"};
    if (pairs) header.insert(header.begin(), "number");
    if (batch_size > 0) {
      header.push_back(absl::StrCat("batches of ", CountText(batch_size)));
      header.push_back("fill no batch");
    }
    if (report_.memory.has_value()) header.emplace_back("planned memory");
    std::vector<std::vector<std::string>> rows;
    BucketRow total;
    int64_t batches = 0;
    for (const BucketRow& row : comparison_.rows) {
      rows.push_back(Cells(row, pairs ? BucketText(row.bucket) : CountText(row.bucket[0])));
      if (pairs) rows.back().insert(rows.back().begin(), absl::StrCat(rows.size()));
      if (batch_size > 0) {
        rows.back().push_back(CountText(row.samples / batch_size));
        rows.back().push_back(CountText(row.samples % batch_size));
        batches += row.samples / batch_size;
      }
      if (report_.memory.has_value()) {
        rows.back().push_back(BytesText(report_.memory->planned[rows.size() - 1]));
      }
      total.samples += row.samples;
      total.tokens += row.tokens;
      total.padded_tokens += row.padded_tokens;
    }
    rows.push_back(Cells(total, pairs ? "" : "all"));
    if (pairs) rows.back().insert(rows.back().begin(), "all");
    if (batch_size > 0) {
      rows.back().push_back(CountText(batches));
      rows.back().push_back(CountText(LeftOver()));
    }
    if (report_.memory.has_value()) rows.back().push_back(BytesText(report_.memory->arena));
    return HtmlTable(header, rows);
  }

  // Returns the section about memory, if there is a network.
  std::string Memory() const {
    if (!report_.memory.has_value()) return "";
    const BucketMemory& memory = *report_.memory;
    return absl::StrCat(
        Heading("Memory"), MemoryFigure(comparison_, memory),
        Paragraph(absl::StrCat("Of ", memory.network, ": ", BytesText(memory.arena),
                               " of the arena, ", BytesText(memory.parameters), " of parameters",
                               memory.training ? " with their gradients" : "", ", ",
                               BytesText(memory.inputs), " of one batch.",
                               memory.training ? " What an optimizer keeps comes on top." : "")));
  }

  std::vector<std::string> Cells(const BucketRow& row, std::string name) const {
    return {
        std::move(name),
        CountText(row.samples),
        PercentText(static_cast<double>(row.samples) / static_cast<double>(comparison_.samples)),
        CountText(row.tokens),
        CountText(row.padded_tokens - row.tokens),
        PercentText(row.padding())};
  }

  std::string LeftOut() const {
    const std::string& noun = report_.lengths.noun;
    std::vector<std::string> lines;
    const auto add = [&lines](int64_t count, absl::string_view what, absl::string_view text) {
      if (count > 0) lines.push_back(absl::StrCat(NumberText(count, what), " ", text));
    };
    const std::string longer =
        absl::StrCat("longer than ", CountText(options_.max_length), " (max_length)");
    add(report_.lengths.empty, absl::StrCat("empty ", noun), "without a token: nothing to learn.");
    add(comparison_.discarded, noun, absl::StrCat(longer, ": left out."));
    add(comparison_.truncated, noun, absl::StrCat(longer, ": the end is cut off."));
    add(comparison_.split, noun, absl::StrCat(longer, ": split, and each piece counted."));
    add(comparison_.lost_tokens, "token",
        absl::StrCat("lost so, ",
                     PercentText(static_cast<double>(comparison_.lost_tokens) /
                                 static_cast<double>(report_.lengths.tokens())),
                     " of all."));
    if (options_.batch_size > 0) {
      add(LeftOver(), noun,
          "that fill no batch wait for another epoch's order; with last_batch = kPad they come in "
          "batches with rows of padding.");
      for (const BucketRow& row : comparison_.rows) {
        if (row.samples >= options_.batch_size) continue;
        lines.push_back(absl::StrCat("Bucket ", BucketText(row.bucket),
                                     " fills no batch: without kPad it is never served."));
      }
    }
    if (lines.empty()) return Paragraph("Nothing.");
    std::string html = "<ul>\n";
    for (const std::string& line : lines)
      absl::StrAppend(&html, "<li>", EscapeHtml(line), "</li>\n");
    return html + "</ul>\n";
  }

  std::string Settings() const {
    constexpr const char* kTooLong[] = {"discard", "truncate", "split", "error"};
    return Paragraph(
        absl::StrCat("Made by //tools:bucket_report with max_buckets ", options_.max_buckets,
                     ", bucket_cost ", CostText(comparison_.bucket_cost), ", multiple_of ",
                     options_.multiple_of, ", step_overhead ", options_.step_overhead,
                     ", max_length ", options_.max_length, ", too_long ",
                     kTooLong[static_cast<int>(options_.too_long)], ", batch_size ",
                     options_.batch_size, "."),
        "quiet");
  }

  // Returns the number of samples that do not fill a batch; 0 if the batch size is unknown.
  int64_t LeftOver() const {
    int64_t left_over = 0;
    if (options_.batch_size <= 0) return left_over;
    for (const BucketRow& row : comparison_.rows) left_over += row.samples % options_.batch_size;
    return left_over;
  }

  static int64_t MaxOf(const std::vector<int64_t>& lengths) {
    return *std::max_element(lengths.begin(), lengths.end());
  }

  static std::string MeanText(const std::vector<int64_t>& lengths) {
    const int64_t sum = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
    const double mean = static_cast<double>(sum) / static_cast<double>(lengths.size());
    return mean < 1000 ? absl::StrFormat("%.1f", mean) : CountText(std::llround(mean));
  }

  const BucketReportInput& report_;
  const BucketComparison& comparison_;
  const BucketComparisonOptions& options_;
};

}  // namespace

std::string BucketReportPage(const BucketReportInput& report) { return Page(report).Draw(); }

}  // namespace cooper
