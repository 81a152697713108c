#include "tools/memory_plan_page.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "executor/plan/arena_layout.h"
#include "executor/program/program.h"
#include "symbol/graph/symbol.h"
#include "tools/html_page.h"
#include "tools/number_text.h"
#include "tools/svg_canvas.h"

namespace cooper {
namespace {

using Anchor = SvgCanvas::Anchor;

using Kind = PlacedValue::Kind;

constexpr double kWidth = 800, kPlotHeight = 420, kRight = 12, kTop = 48;
constexpr double kBottom = kTop + kPlotHeight, kBelow = 2 * SvgCanvas::kLineHeight + 6;
constexpr int kMaxMarks = 6;
// Area of the smallest visible box, in square units of the picture.
constexpr double kSmallestBox = 0.02;
constexpr size_t kMaxRows = 25;  // of the list of values at the peak
constexpr double kPale = 0.45;   // opacity of values that are not live at the peak

// The name of a kind and its style in pictures (html_page.h).
struct KindLook {
  Kind kind;
  const char* name;
  const char* style;
};
constexpr KindLook kLooks[] = {{Kind::kActivation, "activation", "bar"},
                               {Kind::kGradient, "gradient", "second"},
                               {Kind::kWorkspace, "workspace", "third"}};
const KindLook& LookOf(const PlacedValue& value) { return kLooks[static_cast<int>(value.kind)]; }

bool IsLive(const PlacedValue& value, int step) {
  return value.first <= step && step <= value.last;
}

// Returns the values live at the peak, the largest first: their order is their number in the
// picture and in the table.
std::vector<const PlacedValue*> LiveAt(const PlacedMemory& memory, int peak) {
  std::vector<const PlacedValue*> live;
  for (const PlacedValue& value : memory.values) {
    if (IsLive(value, peak)) live.push_back(&value);
  }
  std::stable_sort(live.begin(), live.end(),
                   [](const PlacedValue* a, const PlacedValue* b) { return a->bytes > b->bytes; });
  return live;
}

// Draws the kinds that occur, with their colours, starting at x.
void DrawLegend(const PlacedMemory& memory, double x, SvgCanvas& canvas) {
  constexpr double kSample = 12;
  for (const KindLook& look : kLooks) {
    if (std::none_of(memory.values.begin(), memory.values.end(),
                     [&](const PlacedValue& value) { return value.kind == look.kind; })) {
      continue;
    }
    canvas.Rect(x, 2, kSample, kSample, look.style);
    canvas.Label(x + kSample + 5, kSample, Anchor::kStart, look.name);
    x += kSample + 5 + SvgCanvas::TextWidth(look.name) + 18;
  }
}

std::string Picture(const PlacedMemory& memory, int peak,
                    absl::Span<const PlacedValue* const> live) {
  // Uses a unit in which the marks of the offsets are round numbers.
  const double unit = memory.arena_bytes < 10'000'000 ? 1e3 : 1e6;
  const double top = std::max(static_cast<double>(memory.arena_bytes), 1.0) / unit;
  const double step = RoundStep(top, kMaxMarks);
  double widest = 0;
  for (double at = 0; at <= top; at += step) {
    widest = std::max(widest, SvgCanvas::TextWidth(MarkText(at, step)));
  }
  const double left = widest + 8;
  const int steps = std::max(memory.num_steps, 1);
  const auto x = [&](double at) { return left + (kWidth - kRight - left) * at / steps; };
  const auto y = [&](double bytes) { return kBottom - kPlotHeight * bytes / unit / top; };
  SvgCanvas canvas(kWidth, kBottom + kBelow);
  DrawLegend(memory, left, canvas);
  for (const PlacedValue& value : memory.values) {
    const double width = x(value.last + 1) - x(value.first);
    const double height = y(0) - y(static_cast<double>(value.bytes));
    if (width * height < kSmallestBox) continue;
    // Leaves gaps between boxes that are large enough.
    const double gap_x = std::min(0.6, width / 8), gap_y = std::min(0.6, height / 8);
    canvas.Rect(x(value.first) + gap_x / 2,
                y(static_cast<double>(value.offset + value.bytes)) + gap_y / 2, width - gap_x,
                height - gap_y, LookOf(value).style,
                absl::StrCat(value.name, ": ", LookOf(value).name, ", ", BytesText(value.bytes),
                             ", steps ", value.first, " to ", value.last, ", from byte ",
                             CountText(value.offset), " on"),
                IsLive(value, peak) ? 1 : kPale);
  }
  for (double at = 0; at <= top; at += step) {
    canvas.Label(left - 6, y(at * unit) + 4, Anchor::kEnd, MarkText(at, step));
  }
  canvas.Line(left, kBottom, kWidth - kRight, kBottom, "axis");
  canvas.Line(left, kTop, left, kBottom, "axis");
  if (memory.num_forward < memory.num_steps) {
    canvas.Line(x(memory.num_forward), kTop, x(memory.num_forward), kBottom, "axis");
    canvas.Label(x(memory.num_forward), kTop - 8, Anchor::kStart, "gradients");
  }
  canvas.Label(0, kTop - 8, Anchor::kStart, unit < 1e6 ? "KB" : "MB");
  const double step_marks = std::max(RoundStep(steps, 12), 1.0);
  for (double at = 0; at <= steps; at += step_marks) {
    canvas.Label(x(at), kBottom + SvgCanvas::kLineHeight, Anchor::kMiddle,
                 MarkText(at, step_marks));
  }
  canvas.Label((left + kWidth - kRight) / 2, kBottom + 2 * SvgCanvas::kLineHeight, Anchor::kMiddle,
               "step");
  for (size_t i = 0; i < std::min(live.size(), kMaxRows); ++i) {
    const PlacedValue& value = *live[i];
    const std::string number = absl::StrCat(i + 1);
    const double width = x(value.last + 1) - x(value.first);
    const double low = y(static_cast<double>(value.offset));
    const double high = y(static_cast<double>(value.offset + value.bytes));
    if (width < SvgCanvas::TextWidth(number) || low - high < SvgCanvas::kFontSize) continue;
    canvas.Label(x(value.first) + width / 2, (low + high) / 2 + 4, Anchor::kMiddle, number,
                 "inside");
  }
  return canvas.ToString(absl::StrCat("Memory plan of ", memory.values.size(), " values over ",
                                      memory.num_steps, " steps"));
}

std::string Facts(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string html = "<dl class=\"facts\">\n";
  for (const auto& [name, value] : facts) {
    absl::StrAppend(&html, "<div><dt>", EscapeHtml(name), "</dt><dd>", EscapeHtml(value),
                    "</dd></div>\n");
  }
  return html + "</dl>\n";
}

std::string AtPeak(const PlacedMemory& memory, int peak,
                   absl::Span<const PlacedValue* const> live) {
  const int64_t total = memory.BytesAt(peak);
  std::vector<std::vector<std::string>> rows;
  int64_t rest = 0;
  for (size_t i = 0; i < live.size(); ++i) {
    const PlacedValue& value = *live[i];
    if (i >= kMaxRows) {
      rest += value.bytes;
      continue;
    }
    rows.push_back({value.name, absl::StrCat(i + 1), LookOf(value).name, BytesText(value.bytes),
                    PercentText(static_cast<double>(value.bytes) / static_cast<double>(total)),
                    absl::StrCat(value.first, " to ", value.last)});
  }
  if (live.size() > kMaxRows) {
    rows.push_back({NumberText(static_cast<int64_t>(live.size() - kMaxRows), "smaller one"), "", "",
                    BytesText(rest),
                    PercentText(static_cast<double>(rest) / static_cast<double>(total)), ""});
  }
  return HtmlTable({"value", "number", "kind", "size", "share", "steps"}, rows);
}

}  // namespace

int64_t PlacedMemory::BytesAt(int step) const {
  int64_t bytes = 0;
  for (const PlacedValue& value : values) bytes += IsLive(value, step) ? value.bytes : 0;
  return bytes;
}

int PlacedMemory::PeakStep() const {
  std::vector<int64_t> change(num_steps + 1);
  for (const PlacedValue& value : values) {
    change[value.first] += value.bytes;
    change[value.last + 1] -= value.bytes;
  }
  int peak = 0;
  int64_t bytes = 0, most = 0;
  for (int step = 0; step < num_steps; ++step) {
    bytes += change[step];
    if (bytes <= most) continue;
    most = bytes;
    peak = step;
  }
  return peak;
}

PlacedMemory PlacedMemoryOf(const CompiledProgram& compiled) {
  const Program& program = compiled.program();
  const ArenaLayout& layout = compiled.layout();
  const ArenaLayout::Region& region = layout.regions[0];
  PlacedMemory memory{.arena_bytes = region.plan.arena_size,
                      .num_steps = static_cast<int>(program.instructions.size()),
                      .num_forward = compiled.num_forward()};
  for (size_t i = 0; i < region.ranges.size(); ++i) {
    memory.values.push_back({.bytes = region.ranges[i].size,
                             .offset = region.plan.offsets[i],
                             .first = region.ranges[i].first,
                             // Outputs are live for one step longer, for the caller.
                             .last = std::min(region.ranges[i].last, memory.num_steps - 1),
                             .kind = region.ranges[i].first < memory.num_forward
                                         ? Kind::kActivation
                                         : Kind::kGradient});
  }
  // Values share buffers: a buffer has the name of its largest value.
  std::vector<int64_t> largest(region.ranges.size(), -1);
  for (const ProgramValue& value : program.values) {
    if (value.buffer < 0 || program.buffers[value.buffer].context != 0) continue;
    const int range = layout.range_of_buffer[value.buffer];
    if (range < 0 || value.bytes() <= largest[range] || !value.entry) continue;
    largest[range] = value.bytes();
    memory.values[range].name = OutputName(value.entry);
  }
  const auto name_scratch = [&](int context, int range, int instruction) {
    if (context != 0 || range < 0) return;
    memory.values[range].name =
        absl::StrCat("scratch memory of ", Describe(program.instructions[instruction]));
    memory.values[range].kind = Kind::kWorkspace;
  };
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    name_scratch(program.instructions[i].context, layout.range_of_instruction[i],
                 static_cast<int>(i));
  }
  for (size_t i = 0; i < layout.range_of_chain.size(); ++i) {
    const int begin = compiled.tiles().chains[i].begin;
    name_scratch(program.instructions[begin].context, layout.range_of_chain[i], begin);
  }
  return memory;
}

std::string MemoryPlanPage(const std::string& title, const PlacedMemory& memory) {
  const int peak = memory.PeakStep();
  const std::vector<const PlacedValue*> live = LiveAt(memory, peak);
  int64_t sum = 0;
  for (const PlacedValue& value : memory.values) sum += value.bytes;
  std::string body = absl::StrCat("<h1>Memory of <bdi>", EscapeHtml(title), "</bdi></h1>\n");
  body += Facts({{"arena", BytesText(memory.arena_bytes)},
                 {"live at the peak", BytesText(memory.BytesAt(peak))},
                 {"without sharing", BytesText(sum)},
                 {"saved", sum == 0 ? "0"
                                    : PercentText(1 - static_cast<double>(memory.arena_bytes) /
                                                          static_cast<double>(sum))},
                 {"values", CountText(static_cast<int64_t>(memory.values.size()))},
                 {"steps", CountText(memory.num_steps)}});
  if (!memory.values.empty()) {
    body += HtmlFigure(
        absl::StrCat("Each box is a value: as wide as the steps that it has to last, as high as "
                     "its bytes, at its place in the arena. What is live at step ",
                     peak,
                     ", when most is, has its full colour, and its number in the table below."),
        Picture(memory, peak, live));
    body += absl::StrCat("<h2>Live at step ", peak, "</h2>\n", AtPeak(memory, peak, live));
  }
  return HtmlPage(absl::StrCat("Memory of ", title), body);
}

}  // namespace cooper
