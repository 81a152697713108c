#include "tools/bucket_charts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "tools/buckets/bucket_snippets.h"
#include "tools/html_page.h"
#include "tools/length_axis.h"
#include "tools/number_text.h"
#include "tools/svg_bars.h"
#include "tools/svg_pair_map.h"

namespace cooper {
namespace {

constexpr int kMaxBins = 120;    // of the histogram
constexpr int kMaxMapBins = 60;  // of each axis of a map of pairs
constexpr int kMaxMarks = 14;    // of the lengths
constexpr int kMaxNumbers = 20;  // of buckets, below their bars

std::string PairMap(const SampleLengths& lengths, const BucketComparison& comparison) {
  const LengthAxis first = MakeLengthAxis(lengths.first, kMaxMapBins);
  const LengthAxis second = MakeLengthAxis(lengths.second, kMaxMapBins);
  std::vector<std::pair<int64_t, int64_t>> buckets;
  for (const BucketRow& row : comparison.rows) buckets.emplace_back(row.bucket[0], row.bucket[1]);
  std::string caption =
      "Pairs by their two lengths, with more colour where there are more of them. Each bucket is a "
      "box, with its number in the table below at its corner.";
  const auto add_beyond = [&caption](const LengthAxis& axis, absl::string_view which) {
    if (axis.beyond == 0) return;
    absl::StrAppend(&caption, " Not shown: ", CountText(axis.beyond), " with a ", which,
                    " length of ", CountText(axis.end() + 1), " or more.");
  };
  add_beyond(first, "first");
  add_beyond(second, "second");
  return HtmlFigure(caption, SvgPairMap(lengths.first, first, lengths.second, second, buckets));
}

std::string Histogram(const SampleLengths& lengths, const BucketComparison& comparison) {
  const LengthAxis axis = MakeLengthAxis(lengths.first, kMaxBins);
  const std::vector<int64_t> counts = CountByBin(axis, lengths.first);
  BarChart chart{
      .description = absl::StrCat("Histogram of ",
                                  NumberText(static_cast<int64_t>(lengths.first.size()), "length"),
                                  " with the boundaries of the buckets"),
      .from = 0.5,
      .to = static_cast<double>(axis.end()) + 0.5,
      .axis_title = "length"};
  for (size_t i = 0; i < counts.size(); ++i) {
    const int64_t from = static_cast<int64_t>(i) * axis.bin_width + 1;
    const int64_t to = from + axis.bin_width - 1;
    chart.bars.push_back(
        {.from = static_cast<double>(from) - 0.5,
         .to = static_cast<double>(to) + 0.5,
         .value = static_cast<double>(counts[i]),
         .tooltip = absl::StrCat("length ", CountText(from),
                                 to > from ? absl::StrCat(" to ", CountText(to)) : "", ": ",
                                 NumberText(counts[i], lengths.noun))});
  }
  const double step = std::max(RoundStep(static_cast<double>(axis.end()), kMaxMarks), 1.0);
  for (double at = step; at <= static_cast<double>(axis.end()); at += step) {
    chart.marks.push_back({at, MarkText(at, step)});
  }
  std::vector<std::string> beyond;
  for (const BucketRow& row : comparison.rows) {
    if (row.bucket[0] <= axis.end()) {
      chart.boundaries.push_back(
          {static_cast<double>(row.bucket[0]) + 0.5, CountText(row.bucket[0])});
    } else {
      beyond.push_back(CountText(row.bucket[0]));
    }
  }
  std::string caption = absl::StrCat(
      "Number of ", lengths.noun, "s by length",
      axis.bin_width > 1 ? absl::StrCat(", ", CountText(axis.bin_width), " lengths in a bar") : "",
      ". The lines are the recommended boundaries: what is left of a line is padded up to it.");
  if (axis.beyond > 0) {
    absl::StrAppend(&caption, " Not shown: ", NumberText(axis.beyond, lengths.noun), " of ",
                    CountText(axis.end() + 1), " to ", CountText(axis.longest), ".");
  }
  if (!beyond.empty()) {
    absl::StrAppend(&caption, " Boundaries beyond the chart: ", absl::StrJoin(beyond, ", "), ".");
  }
  return HtmlFigure(caption, SvgBars(chart));
}

// Returns a chart with a bar for each number of buckets; the recommended number is highlighted.
template <typename Value>
std::string NumberChart(const BucketComparison& comparison, absl::string_view description,
                        absl::string_view unit, int digits, Value value) {
  BarChart chart{.description = absl::StrCat(description),
                 .from = 0.5,
                 .to = static_cast<double>(comparison.by_number.size()) + 0.5,
                 .axis_title = "buckets",
                 .unit = absl::StrCat(unit)};
  // With few buckets the bars do not fill the width of the page.
  chart.to = std::max(chart.to, 8.5);
  const auto step = static_cast<size_t>(std::max(RoundStep(chart.to, 20), 1.0));
  for (size_t i = 0; i < comparison.by_number.size(); ++i) {
    const auto number = static_cast<double>(i + 1);
    const double height = value(comparison.by_number[i]);
    const std::string label = absl::StrFormat("%.*f", digits, height);
    chart.bars.push_back({.from = number - 0.4,
                          .to = number + 0.4,
                          .value = height,
                          .label = label,
                          .tooltip = absl::StrCat(NumberText(static_cast<int64_t>(i) + 1, "bucket"),
                                                  ": ", label, unit),
                          .marked = static_cast<int>(i) + 1 == comparison.recommended});
    if ((i + 1) % step == 0) chart.marks.push_back({number, absl::StrCat(i + 1)});
  }
  return SvgBars(chart);
}

}  // namespace

std::string LengthsFigure(const SampleLengths& lengths, const BucketComparison& comparison) {
  return lengths.pairs() ? PairMap(lengths, comparison) : Histogram(lengths, comparison);
}

std::string PaddingFigure(const BucketComparison& comparison) {
  return HtmlFigure(
      "Padding: the share of what is computed that is no real token, for the best choice of so "
      "many buckets. The recommended number is marked.",
      NumberChart(comparison, "Padding by number of buckets", " %", 1,
                  [&](const BucketSet& set) { return 100 * comparison.Padding(set); }));
}

std::string SpeedFigure(const BucketComparison& comparison, double step_overhead) {
  const double one = comparison.by_number[0].cost;
  const std::string cost =
      step_overhead > 0 ? absl::StrCat("its length + ", CostText(step_overhead), " (step_overhead)")
                        : "its length";
  return HtmlFigure(
      absl::StrFormat("Expected real tokens per second, those of one bucket being 1, if a step "
                      "costs %s: %.2f without any padding.",
                      cost, one / comparison.min_cost),
      NumberChart(comparison, "Real tokens per second by number of buckets", "\u00d7", 2,
                  [&](const BucketSet& set) { return one / set.cost; }));
}

std::string MemoryFigure(const BucketComparison& comparison, const BucketMemory& memory) {
  const bool pairs = !comparison.rows.empty() && comparison.rows[0].bucket.size() > 1;
  const bool large = memory.arena >= 1'000'000;
  const auto count = static_cast<double>(comparison.rows.size());
  BarChart chart{.description = "Planned memory by bucket",
                 .from = 0.5,
                 .to = std::max(count, 8.0) + 0.5,  // a few bars are not as wide as the page
                 .axis_title = pairs ? "number of the bucket" : "bucket",
                 .unit = large ? " MB" : " KB"};
  const auto step = static_cast<size_t>(std::max(RoundStep(count, kMaxNumbers), 1.0));
  for (size_t i = 0; i < comparison.rows.size(); ++i) {
    const BucketKey::Tuple& bucket = comparison.rows[i].bucket;
    const double at = static_cast<double>(i + 1);
    const double height = static_cast<double>(memory.planned[i]) / (large ? 1e6 : 1e3);
    chart.bars.push_back(
        {.from = at - 0.4,
         .to = at + 0.4,
         .value = height,
         .label = absl::StrFormat("%.*f",
                                  height < 10    ? 2
                                  : height < 100 ? 1
                                                 : 0,
                                  height),
         .tooltip = absl::StrCat("bucket ", BucketText(bucket), ": ", BytesText(memory.planned[i])),
         .marked = memory.planned[i] == memory.arena});
    if ((i + 1) % step != 0) continue;
    chart.marks.push_back({at, pairs ? absl::StrCat(i + 1) : CountText(bucket[0])});
  }
  return HtmlFigure(
      absl::StrCat("Memory that is planned for a batch of ", CountText(memory.batch_size),
                   memory.training ? ", with gradients" : ", without gradients",
                   ". All buckets share one arena, as large as the largest, which is marked."),
      SvgBars(chart));
}

}  // namespace cooper
