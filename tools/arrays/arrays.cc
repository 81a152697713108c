// Lists the arrays of a file, or converts it: MXNet's .params, NumPy's .npy and .npz.
//
// arrays --input=net-0010.params
// arrays --input=net-0010.params --output=net.npz --compress
// arrays --input=data.npz --names=x_train --output=x_train.npy

#include <filesystem>
#include <iostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ndarray/array/named_arrays.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/output_file.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/npy_file.h"
#include "ndarray/files/npy_header.h"
#include "ndarray/files/npz_file.h"
#include "ndarray/files/params_file.h"
#include "tools/program_main.h"

ABSL_FLAG(std::string, input, "", "file to read: .params, .npy or .npz");
ABSL_FLAG(std::string, output, "", "file to write: .params, .npy or .npz; without it, list");
ABSL_FLAG(std::vector<std::string>, names, {}, "arrays to convert, as in a,b; by default all");
ABSL_FLAG(bool, compress, false, "compress an .npz file");

namespace cooper {
namespace {

enum class Format { kParams, kNpy, kNpz };

// Returns the format that the end of the flag's value names.
absl::StatusOr<Format> FormatOf(absl::string_view flag, absl::string_view path) {
  if (absl::EndsWith(path, ".params")) return Format::kParams;
  if (absl::EndsWith(path, ".npy")) return Format::kNpy;
  if (absl::EndsWith(path, ".npz")) return Format::kNpz;
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, "=", path, ": expected a name that ends in .params, .npy or .npz"));
}

// Returns the names in a list of arrays without names, which are those that NumPy gives.
std::string NameOf(const ParamsList& list, size_t i) {
  return list.named ? list.entries[i].name : absl::StrCat("arr_", i);
}

// Returns the name of the array in an .npy file: the file's, without the folder and the end.
std::string StemOf(const std::string& path) { return std::filesystem::path(path).stem().string(); }

void Print(absl::string_view name, absl::string_view description) {
  std::cout << absl::CHexEscape(name) << "  " << description << "\n";
}

std::string Describe(const Shape& shape, DType dtype) {
  return absl::StrCat(shape.ToString(), " ", DTypeName(dtype));
}

absl::Status List(const std::string& path, Format format) {
  if (format == Format::kNpy) {
    COOPER_ASSIGN_OR_RETURN(const NDArray array, LoadNpy(path));
    Print(StemOf(path), Describe(array.shape(), array.dtype()));
    return absl::OkStatus();
  }
  if (format == Format::kNpz) {
    COOPER_ASSIGN_OR_RETURN(const NpzFile file, NpzFile::Open(path));
    for (const std::string& name : file.names()) {
      const absl::StatusOr<NpyHeader> header = file.Describe(name);
      // The other arrays may be of use where one cannot be read.
      Print(name, header.ok() ? Describe(header->shape, header->dtype)
                              : absl::StrCat("cannot be read: ", header.status().message()));
    }
    return absl::OkStatus();
  }
  COOPER_ASSIGN_OR_RETURN(const ParamsList list, ReadParamsFile(path));
  for (size_t i = 0; i < list.entries.size(); ++i) {
    const ParamsEntry& entry = list.entries[i];
    const bool sparse = entry.sparse != nullptr;
    Print(NameOf(list, i),
          entry.array.is_null()
              ? "null"
              : absl::StrCat(Describe(sparse ? entry.sparse->shape : entry.array.shape(),
                                      entry.array.dtype()),
                             sparse ? absl::StrCat(" ", StorageTypeName(entry.sparse->type)) : ""));
  }
  return absl::OkStatus();
}

// Returns the names that the flag selects, of those in the file: all if it is not given.
absl::StatusOr<std::vector<std::string>> Select(const std::vector<std::string>& names) {
  const std::vector<std::string> wanted = absl::GetFlag(FLAGS_names);
  const std::set<std::string> known(names.begin(), names.end());
  for (const std::string& name : wanted) {
    if (known.count(name) > 0) continue;
    return absl::NotFoundError(absl::StrCat("--names: there is no array '", name, "' in ",
                                            absl::GetFlag(FLAGS_input), DidYouMean(name, names)));
  }
  return wanted.empty() ? names : wanted;
}

absl::StatusOr<NamedArrays> Load(const std::string& path, Format format) {
  NamedArrays arrays;
  if (format == Format::kNpy) {
    COOPER_ASSIGN_OR_RETURN(const auto names, Select({StemOf(path)}));
    COOPER_ASSIGN_OR_RETURN(NDArray array, LoadNpy(path));
    for (const std::string& name : names) arrays.emplace_back(name, array);
    return arrays;
  }
  if (format == Format::kNpz) {
    COOPER_ASSIGN_OR_RETURN(const NpzFile file, NpzFile::Open(path));
    COOPER_ASSIGN_OR_RETURN(const auto names, Select(file.names()));
    for (const std::string& name : names) {
      COOPER_ASSIGN_OR_RETURN(NDArray array, file.Load(name));
      arrays.emplace_back(name, std::move(array));
    }
    return arrays;
  }
  COOPER_ASSIGN_OR_RETURN(const ParamsList list, ReadParamsFile(path));
  std::vector<std::string> all;
  for (size_t i = 0; i < list.entries.size(); ++i) all.push_back(NameOf(list, i));
  COOPER_ASSIGN_OR_RETURN(const auto names, Select(all));
  const std::set<std::string> selected(names.begin(), names.end());
  for (size_t i = 0; i < list.entries.size(); ++i) {
    if (selected.count(all[i]) == 0) continue;
    if (list.entries[i].sparse != nullptr) {
      return absl::UnimplementedError(absl::StrCat(
          "'", path, "': '", all[i], "' is sparse, which NumPy's files cannot express; select ",
          "others with --names, or save it in MXNet after .tostype('default')"));
    }
    arrays.emplace_back(all[i], list.entries[i].array);
  }
  return arrays;
}

absl::Status Save(const std::string& path, Format format, const NamedArrays& arrays) {
  if (format == Format::kParams) return SaveNamedArrays(path, arrays);
  if (format == Format::kNpz) {
    return SaveNpz(path, arrays, {.compress = absl::GetFlag(FLAGS_compress)});
  }
  if (arrays.size() == 1) return SaveNpy(path, arrays[0].second);
  return absl::InvalidArgumentError(
      absl::StrCat("--output=", path, ": an .npy file has one array, but there are ", arrays.size(),
                   "; select one with --names, or write an .npz file"));
}

absl::Status Run() {
  const std::string input = absl::GetFlag(FLAGS_input), output = absl::GetFlag(FLAGS_output);
  if (input.empty()) return absl::InvalidArgumentError("--input=FILE is missing");
  COOPER_ASSIGN_OR_RETURN(const Format from, FormatOf("input", input));
  if (output.empty()) {
    COOPER_RETURN_IF_ERROR(List(input, from));
    if (!std::cout.flush()) return absl::DataLossError("standard output cannot be written");
    return absl::OkStatus();
  }
  COOPER_ASSIGN_OR_RETURN(const Format to, FormatOf("output", output));
  if (absl::GetFlag(FLAGS_compress) && to != Format::kNpz) {
    return absl::InvalidArgumentError("--compress is for an --output that ends in .npz");
  }
  COOPER_RETURN_IF_ERROR(CheckOutputFile("--output=", output));
  COOPER_ASSIGN_OR_RETURN(const NamedArrays arrays, Load(input, from));
  return Save(output, to, arrays);
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  return cooper::ProgramMain(
      {.name = "arrays", .summary = "lists and converts files of arrays: .params, .npy, .npz"},
      argc, argv, cooper::Run);
}
