#include "module/pickle/mxnet_states_writer.h"

#include <limits>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "glog/logging.h"
#include "module/pickle/pickle_opcode.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/params_file.h"

namespace cooper {
namespace {

using Op = PickleOpcode;

std::string Code(Op op) { return std::string(1, static_cast<char>(op)); }

// Returns the low `bytes` bytes of a number, the lowest first.
std::string Number(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i)));
  return text;
}

std::string Text(absl::string_view text) {
  return absl::StrCat(Code(Op::kBinunicode), Number(text.size(), 4), text);
}

std::string Global(absl::string_view module, absl::string_view name) {
  return absl::StrCat(Code(Op::kGlobal), module, "\n", name, "\n");
}

}  // namespace

absl::StatusOr<MxnetStatesWriter> MxnetStatesWriter::Create(const std::string& path,
                                                            bool np_shape) {
  COOPER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  COOPER_RETURN_IF_ERROR(
      file.Append(absl::StrCat(Code(Op::kProto), Number(4, 1), Code(Op::kEmptyDict))));
  return MxnetStatesWriter(std::move(file), np_shape);
}

absl::Status MxnetStatesWriter::EndItem() {
  if (!has_key_) return absl::OkStatus();
  return file_.Append(Code(Op::kSetitem));
}

absl::Status MxnetStatesWriter::Key(const MxnetKey& key) {
  COOPER_RETURN_IF_ERROR(EndItem());
  has_key_ = true;
  if (const auto* name = std::get_if<std::string>(&key)) return file_.Append(Text(*name));
  const int64_t position = std::get<int64_t>(key);
  CHECK(position >= 0 && position <= std::numeric_limits<int32_t>::max()) << position;
  return file_.Append(absl::StrCat(Code(Op::kBinint), Number(static_cast<uint64_t>(position), 4)));
}

absl::Status MxnetStatesWriter::None() { return file_.Append(Code(Op::kNone)); }

absl::Status MxnetStatesWriter::Array(const NDArray& array) {
  if (!format_.np_shape && (array.shape().rank() == 0 || array.size() == 0)) {
    return absl::UnimplementedError(absl::StrCat("MXNet has states of shape ",
                                                 array.shape().ToString(),
                                                 " for networks of NumPy operators only"));
  }
  // A list of one array without a name: 24 bytes before the array, 16 after it.
  COOPER_ASSIGN_OR_RETURN(const std::string list, SerializeNamedArrays({{"", array}}, format_));
  const absl::string_view bytes = absl::string_view(list).substr(24, list.size() - 40);
  // NDArray(None), then __setstate__({"handle": bytearray(bytes)}).
  const std::string call = absl::StrCat(Code(Op::kTuple1), Code(Op::kReduce));
  COOPER_RETURN_IF_ERROR(file_.Append(absl::StrCat(Global("mxnet.ndarray.ndarray", "NDArray"),
                                                   Code(Op::kNone), call, Code(Op::kEmptyDict),
                                                   Text("handle"), Global("builtins", "bytearray"),
                                                   Code(Op::kBinbytes8), Number(bytes.size(), 8))));
  COOPER_RETURN_IF_ERROR(file_.Append(bytes));
  return file_.Append(absl::StrCat(call, Code(Op::kSetitem), Code(Op::kBuild)));
}

absl::Status MxnetStatesWriter::Tuple(int size) {
  CHECK(size >= 1 && size <= 3) << size;
  return file_.Append(Code(size == 1 ? Op::kTuple1 : size == 2 ? Op::kTuple2 : Op::kTuple3));
}

absl::Status MxnetStatesWriter::Commit() {
  COOPER_RETURN_IF_ERROR(EndItem());
  COOPER_RETURN_IF_ERROR(file_.Append(Code(Op::kStop)));
  return file_.Commit();
}

}  // namespace cooper
