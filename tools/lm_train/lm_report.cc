#include "tools/lm_train/lm_report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/html_page.h"
#include "tools/number_text.h"
#include "tools/svg_bars.h"
#include "tools/svg_lines.h"

namespace cooper {
namespace {

using Style = LineChart::Series::Style;

double PaddingOf(int64_t real, int64_t padded) {
  return padded == 0 ? 0 : 1 - static_cast<double>(real) / static_cast<double>(padded);
}

double PerSecond(int64_t count, double seconds) {
  return seconds <= 0 ? 0 : static_cast<double>(count) / seconds;
}

double MillisecondsOf(const LmBucket& bucket) {
  return bucket.batches == 0 ? 0 : 1e3 * bucket.seconds / static_cast<double>(bucket.batches);
}

std::string Heading(absl::string_view text) { return absl::StrCat("<h2>", text, "</h2>\n"); }

LmBucket Total(const LmRun& run) {
  LmBucket all{.key = "all", .planned_bytes = run.arena_bytes};
  for (const LmBucket& bucket : run.buckets) {
    all.batches += bucket.batches;
    all.real_tokens += bucket.real_tokens;
    all.padded_tokens += bucket.padded_tokens;
    all.seconds += bucket.seconds;
  }
  return all;
}

std::string Facts(const LmRun& run) {
  const LmEpoch& last = run.epochs.back();
  const LmBucket all = Total(run);
  std::vector<std::pair<std::string, std::string>> facts = {
      {"epochs", absl::StrCat(last.number)},
      {"train perplexity", absl::StrFormat("%.2f", last.train_perplexity)}};
  if (last.valid_perplexity.has_value()) {
    facts.emplace_back("validation perplexity", absl::StrFormat("%.2f", *last.valid_perplexity));
  }
  if (run.perplexity_floor.has_value()) {
    facts.emplace_back("no model is below", absl::StrFormat("%.2f", *run.perplexity_floor));
  }
  facts.emplace_back(
      "real tokens/s",
      CountText(static_cast<int64_t>(std::llround(PerSecond(all.real_tokens, all.seconds)))));
  facts.emplace_back("padding", PercentText(PaddingOf(all.real_tokens, all.padded_tokens)));
  facts.emplace_back("arena", BytesText(run.arena_bytes));
  std::string html = "<dl class=\"facts\">\n";
  for (const auto& [name, value] : facts) {
    absl::StrAppend(&html, "<div><dt>", EscapeHtml(name), "</dt><dd>", EscapeHtml(value),
                    "</dd></div>\n");
  }
  return html + "</dl>\n";
}

// Sets a horizontal axis of epochs.
template <typename Chart>
void PutEpochs(const LmRun& run, double margin, Chart& chart) {
  chart.axis_title = "epoch";
  const double first = run.epochs.front().number, last = run.epochs.back().number;
  chart.from = first - margin;
  chart.to = std::max(last, first + 1) + margin;
  const double step = std::max(RoundStep(last - first, 16), 1.0);
  for (double at = std::ceil(first / step) * step; at <= last; at += step) {
    chart.marks.push_back({at, MarkText(at, step)});
  }
}

std::string Curves(const LmRun& run, absl::string_view description, absl::string_view caption,
                   bool log_y, const std::function<double(double perplexity)>& value) {
  LineChart chart{.description = absl::StrCat(description), .log_y = log_y};
  // Leaves space for the label of the first epoch beside those of the other axis.
  PutEpochs(run, 0.02 * static_cast<double>(run.epochs.back().number), chart);
  LineChart::Series train{.name = "training"};
  LineChart::Series valid{.name = "validation", .style = Style::kSecond};
  const auto add = [&](LineChart::Series& series, int epoch, double perplexity) {
    const double y = value(perplexity);
    if (!std::isfinite(y)) return;
    series.points.push_back(
        {.x = static_cast<double>(epoch),
         .y = y,
         .tooltip = absl::StrFormat("epoch %d, %s: %.4g", epoch, series.name, y)});
  };
  for (const LmEpoch& epoch : run.epochs) {
    add(train, epoch.number, epoch.train_perplexity);
    if (epoch.valid_perplexity.has_value()) add(valid, epoch.number, *epoch.valid_perplexity);
  }
  chart.series.push_back(std::move(train));
  if (!valid.points.empty()) chart.series.push_back(std::move(valid));
  if (run.perplexity_floor.has_value()) {
    chart.series.push_back({.name = "no model can be below",
                            .points = {{.y = value(*run.perplexity_floor)}},
                            .style = Style::kLevel});
  }
  return HtmlFigure(caption, SvgLines(chart));
}

std::string SpeedByEpoch(const LmRun& run) {
  BarChart chart{.description = "Real tokens per second by epoch"};
  PutEpochs(run, 0.5, chart);
  chart.to = std::max(chart.to, chart.from + 8);  // a few bars are not as wide as the page
  for (const LmEpoch& epoch : run.epochs) {
    const double speed = PerSecond(epoch.real_tokens, epoch.seconds);
    chart.bars.push_back(
        {.from = epoch.number - 0.4,
         .to = epoch.number + 0.4,
         .value = speed,
         .label = CountText(static_cast<int64_t>(std::llround(speed))),
         .tooltip = absl::StrFormat("epoch %d: %.0f real tokens/s, %.0f with padding, %.1f s",
                                    epoch.number, speed,
                                    PerSecond(epoch.padded_tokens, epoch.seconds), epoch.seconds)});
  }
  return HtmlFigure("Real tokens per second of training. Padding is computed too and not counted.",
                    SvgBars(chart));
}

// Returns a chart with a bar for each bucket.
std::string ByBucket(const LmRun& run, absl::string_view caption, absl::string_view description,
                     absl::string_view unit, int digits,
                     const std::function<double(const LmBucket&)>& value) {
  BarChart chart{.description = absl::StrCat(description),
                 .from = 0.5,
                 .to = std::max(static_cast<double>(run.buckets.size()), 8.0) + 0.5,
                 .axis_title = "bucket",
                 .unit = absl::StrCat(unit)};
  for (size_t i = 0; i < run.buckets.size(); ++i) {
    const LmBucket& bucket = run.buckets[i];
    const double at = static_cast<double>(i + 1), height = value(bucket);
    const std::string label = absl::StrFormat("%.*f", digits, height);
    chart.bars.push_back({.from = at - 0.4,
                          .to = at + 0.4,
                          .value = height,
                          .label = label,
                          .tooltip = absl::StrCat("bucket ", bucket.key, ": ", label, unit)});
    chart.marks.push_back({at, bucket.key});
  }
  return HtmlFigure(caption, SvgBars(chart));
}

std::string Buckets(const LmRun& run) {
  const LmBucket all = Total(run);
  if (all.batches == 0) return "";
  std::string html = ByBucket(
      run, "Padding: the share of what is computed that is no real token.", "Padding by bucket",
      " %", 1, [](const LmBucket& b) { return 100 * PaddingOf(b.real_tokens, b.padded_tokens); });
  html += ByBucket(run, "The share of the training time that each bucket took.",
                   "Share of time by bucket", " %", 1, [&all](const LmBucket& b) {
                     return all.seconds <= 0 ? 0 : 100 * b.seconds / all.seconds;
                   });
  // Tiny networks take microseconds.
  double longest = 0;
  for (const LmBucket& bucket : run.buckets) longest = std::max(longest, MillisecondsOf(bucket));
  const int digits = longest < 1 ? 3 : 1;
  html += ByBucket(run, "Milliseconds of a training step.", "Milliseconds per batch by bucket",
                   " ms", digits, MillisecondsOf);
  const bool large = run.arena_bytes >= 1'000'000;
  html += ByBucket(run,
                   absl::StrCat("Memory of the training plan. All buckets share one arena of ",
                                BytesText(run.arena_bytes), "."),
                   "Planned memory by bucket", large ? " MB" : " KB", large ? 2 : 1,
                   [large](const LmBucket& b) {
                     return static_cast<double>(b.planned_bytes) / (large ? 1e6 : 1e3);
                   });
  const auto cells = [digits](const LmBucket& b) -> std::vector<std::string> {
    return {b.key,
            CountText(b.batches),
            CountText(b.real_tokens),
            CountText(b.padded_tokens - b.real_tokens),
            PercentText(PaddingOf(b.real_tokens, b.padded_tokens)),
            b.batches == 0 ? "" : absl::StrFormat("%.*f", digits, MillisecondsOf(b)),
            CountText(static_cast<int64_t>(std::llround(PerSecond(b.real_tokens, b.seconds)))),
            b.planned_bytes == 0 ? "" : BytesText(b.planned_bytes),
            b.evaluation_bytes == 0 ? "" : BytesText(b.evaluation_bytes)};
  };
  std::vector<std::vector<std::string>> rows;
  for (const LmBucket& bucket : run.buckets) rows.push_back(cells(bucket));
  rows.push_back(cells(all));
  return html + HtmlTable({"bucket", "batches", "real tokens", "padding tokens", "padding",
                           "ms per batch", "real tokens/s", "training plan", "validation plan"},
                          rows);
}

}  // namespace

std::string LmReportPage(const LmRun& run) {
  std::string body = "<h1>Training of a language model</h1>\n";
  if (run.epochs.empty()) {
    body += "<p>No epoch has ended.</p>\n";
  } else {
    body += Facts(run) + Heading("What it has learnt");
    body += Curves(run, "Perplexity by epoch",
                   "Perplexity: among so many words a model that knew as much would have to guess. "
                   "The scale is logarithmic.",
                   /*log_y=*/true, [](double perplexity) { return perplexity; });
    body += Curves(run, "Loss by epoch", "Loss of a word: the logarithm of the perplexity.",
                   /*log_y=*/false, [](double perplexity) { return std::log(perplexity); });
    body += Heading("Speed") + SpeedByEpoch(run);
    if (!run.buckets.empty()) body += Heading("Buckets") + Buckets(run);
  }
  std::string command = "lm_train";
  for (const std::string& argument : run.arguments) absl::StrAppend(&command, " ", argument);
  body += Heading("Made by") + HtmlCode(command);
  return HtmlPage("Training of a language model", body);
}

}  // namespace cooper
