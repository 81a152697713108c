#include "tools/ops/mxnet_table.h"

#include <map>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

constexpr char kBackward[] =
    "a step of a backward pass: cooper makes its own, and MXNet writes none into files";
constexpr char kProgram[] = "made by a running program, such as Python's callbacks: in no file";
constexpr char kArrays[] = "a function of arrays outside of networks";
constexpr char kImages[] = "reads or changes images before a network";
constexpr char kInt8[] = "int8 networks";
constexpr char kGraphs[] = "samples graphs that are sparse matrices";
constexpr char kNumPy[] = "a NumPy name that files rarely hold";
constexpr char kUpdates[] =
    "an update of parameters outside of networks; optimizers have their own";
constexpr char kSparse[] = "works on sparse arrays";
constexpr char kGpuOnly[] = "on GPUs only in MXNet";
constexpr char kRare[] = "rare: in no public file that is known";

// The kinds of operators that cooper may lack: the first rule whose text begins the name (or, with
// a $ at its end, is the name) gives the reason. Rules of operators that cooper has do not matter.
constexpr struct {
  absl::string_view name;
  const char* reason;
} kRules[] = {
    {"_CachedOp", kProgram},
    {"_CustomFunction$", kProgram},
    {"_NDArray$", kProgram},
    {"_Native$", kProgram},
    {"_NoGradient$", kProgram},
    {"_CrossDeviceCopy$", kProgram},
    {"_copyto$", kArrays},
    {"_onehot_encode$", kArrays},
    {"_set_value$", kArrays},
    {"fill_element_0index$", kArrays},
    {"_cv", kImages},
    {"_imdecode$", kImages},
    {"_image_", kImages},
    {"_contrib_quantize", kInt8},
    {"_contrib_dequantize$", kInt8},
    {"_contrib_requantize$", kInt8},
    {"_contrib_calibrate_entropy$", kInt8},
    {"_contrib_dgl_", kGraphs},
    {"_contrib_edge_id$", kGraphs},
    {"_contrib_getnnz$", kGraphs},
    {"_np_", kNumPy},
    {"_npi_", kNumPy},
    {"_npx_", kNumPy},
    {"_multi_", kUpdates},
    {"_sparse_adagrad_update$", kUpdates},
    {"_contrib_group_adagrad_update$", kUpdates},
    {"_sparse_retain$", kSparse},
    {"_square_sum$", kSparse},
    {"cast_storage$", kSparse},
    {"_contrib_SparseEmbedding$", kSparse},
    {"_contrib_fft$", kGpuOnly},
    {"_contrib_ifft$", kGpuOnly},
    {"_contrib_count_sketch$", kGpuOnly},
    {"_contrib_", kRare},
    {"_histogram$", kRare},
    {"_linalg_", kRare},
    {"_random_pdf_", kRare},
    {"_sample_", kRare},
    {"_shuffle$", kRare},
    {"_zeros_without_dtype$", kRare},
};

bool Matches(absl::string_view rule, absl::string_view name) {
  return absl::EndsWith(rule, "$") ? name == rule.substr(0, rule.size() - 1)
                                   : absl::StartsWith(name, rule);
}

std::string ReasonFor(absl::string_view name) {
  for (const auto& rule : kRules) {
    if (Matches(rule.name, name)) return rule.reason;
  }
  return "";
}

std::string StatusText(const MxnetName& name) {
  const std::string alias =
      name.is_alias() ? absl::StrCat("alias of `", name.canonical, "`") : std::string();
  if (name.is_there) return alias.empty() ? "there" : absl::StrCat(alias, ", there");
  return absl::StrCat(alias, alias.empty() ? "" : "; ", "not there: ", name.reason);
}

}  // namespace

absl::StatusOr<std::vector<MxnetName>> ReadMxnetNames(absl::string_view text) {
  std::vector<MxnetName> names;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words.size() > 2 || words.front().empty() || words.back().empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", line, "' is not a name, or an alias and a name"));
    }
    MxnetName& name =
        names.emplace_back(MxnetName{.name = words.front(), .canonical = words.back()});
    // cooper's own backward operators may have the same names, but no file may hold one.
    const bool is_backward = absl::StrContains(name.canonical, "backward");
    name.is_there = !is_backward && FindOp(name.canonical).ok();
    if (!name.is_there) name.reason = is_backward ? kBackward : ReasonFor(name.canonical);
  }
  return names;
}

std::string MxnetNamesPage(const std::vector<MxnetName>& names) {
  int there = 0, aliases = 0;
  std::map<std::string, int> missing;
  for (const MxnetName& name : names) {
    if (name.is_alias()) {
      ++aliases;
    } else if (name.is_there) {
      ++there;
    } else {
      ++missing[name.reason];
    }
  }
  std::string page = absl::StrCat(
      "<!-- Generated: bazel run //tools/ops -- --mxnet > docs/mxnet_operators.md -->\n\n"
      "# The operators of MXNet 1.9.1\n\n"
      "You can look up whether a network with an operator loads. MXNet's registry has ",
      names.size(), " names: ", names.size() - aliases, " operators, and ", aliases,
      " aliases, which MXNet never writes into a file.\n\n"
      "| operators | number |\n| --- | --- |\n| there | ",
      there, " |\n");
  for (const auto& [reason, count] : missing) {
    absl::StrAppend(&page, "| ", reason, " | ", count, " |\n");
  }
  absl::StrAppend(&page, "\n| name | in cooper |\n| --- | --- |\n");
  for (const MxnetName& name : names) {
    absl::StrAppend(&page, "| `", name.name, "` | ", StatusText(name), " |\n");
  }
  return page;
}

}  // namespace cooper
