#include "third_party/cuda/emulator/runtime/counters.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "third_party/cuda/emulator/ptx/run.h"
#include "third_party/cuda/emulator/runtime/settings.h"

namespace cooper::cuda_emulator {
namespace {

struct Row {
  int64_t launches = 0;
  ptx::Counters counters;
};

using Table = std::map<std::string, Row>;

void PrintRow(const char* name, const Row& row) {
  const ptx::Counters& c = row.counters;
  std::fprintf(stderr, "%9lld %14lld %12lld %13lld %13lld %10lld %8lld  %s\n",
               static_cast<long long>(row.launches), static_cast<long long>(c.instructions),
               static_cast<long long>(c.flops), static_cast<long long>(c.global_read_bytes),
               static_cast<long long>(c.global_written_bytes),
               static_cast<long long>(c.shared_bank_conflicts), static_cast<long long>(c.barriers),
               name);
}

// Those that ran the most instructions come first.
void Print(const Table& table) {
  std::vector<std::pair<std::string, Row>> rows(table.begin(), table.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second.counters.instructions > b.second.counters.instructions;
  });
  std::fprintf(stderr, "cuda emulator: what kernels did\n%9s %14s %12s %13s %13s %10s %8s  %s\n",
               "launches", "instructions", "flops", "bytes read", "bytes written", "conflicts",
               "barriers", "kernel");
  Row sum;
  for (const auto& [name, row] : rows) {
    PrintRow(name.c_str(), row);
    sum.launches += row.launches;
    sum.counters += row.counters;
  }
  PrintRow("all", sum);
}

Table& TheTable() {
  static auto* table = [] {
    if (GetSettings().counters) std::atexit([] { Print(TheTable()); });
    return new Table;
  }();
  return *table;
}

}  // namespace

void CountLaunch(const std::string& kernel, const ptx::Counters& counters) {
  Row& row = TheTable()[kernel];
  ++row.launches;
  row.counters += counters;
}

}  // namespace cooper::cuda_emulator
