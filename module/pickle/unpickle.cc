#include "module/pickle/unpickle.h"

#include <bit>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "module/pickle/pickle_builder.h"
#include "module/pickle/pickle_opcode.h"
#include "module/pickle/pickle_stack.h"
#include "module/pickle/pickle_text.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// The decoded texts of a pickle may take this many bytes for each byte of the file: in protocols 0
// to 2 the bytes of an array are a text of Latin-1, which takes up to two bytes for each of UTF-8.
constexpr int64_t kDecodedPerByte = 4;

class Unpickler {
 public:
  explicit Unpickler(absl::string_view bytes)
      : bytes_(bytes),
        builder_(kMaxPickleValues, kDecodedPerByte * static_cast<int64_t>(bytes.size())) {}

  absl::StatusOr<Pickle> Run() {
    for (;;) {
      const size_t offset = at_;
      absl::StatusOr<PickleOpcode> opcode = Opcode();
      if (opcode.ok() && *opcode == PickleOpcode::kStop) {
        COOPER_ASSIGN_OR_RETURN(const PickleRef root,
                                AddContext(stack_.Pop(), "pickle, byte ", offset));
        if (at_ == bytes_.size()) return std::move(builder_).Finish(root);
        return absl::InvalidArgumentError(
            absl::StrCat("pickle: ", bytes_.size() - at_, " bytes follow its end at byte ", at_));
      }
      const absl::Status status = opcode.ok() ? Step(*opcode) : opcode.status();
      if (!status.ok()) return AddContext(status, "pickle, byte ", offset);
    }
  }

 private:
  using Type = PickleType;
  using enum PickleOpcode;

  // --- The file.

  absl::StatusOr<absl::string_view> Take(uint64_t count) {
    if (count > bytes_.size() - at_) {
      return absl::InvalidArgumentError(absl::StrCat("a value takes ", count, " bytes, but only ",
                                                     bytes_.size() - at_, " are left in the file"));
    }
    const absl::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }

  // Reads an unsigned little-endian number.
  absl::StatusOr<uint64_t> Number(size_t count) {
    COOPER_ASSIGN_OR_RETURN(const absl::string_view raw, Take(count));
    uint64_t number = 0;
    std::memcpy(&number, raw.data(), raw.size());
    return number;
  }

  absl::StatusOr<PickleOpcode> Opcode() {
    COOPER_ASSIGN_OR_RETURN(const uint64_t opcode, Number(1));
    return static_cast<PickleOpcode>(opcode);
  }

  // Reads the bytes whose length is the number of `count` bytes before them.
  absl::StatusOr<absl::string_view> Counted(size_t count) {
    COOPER_ASSIGN_OR_RETURN(const uint64_t length, Number(count));
    return Take(length);
  }

  absl::StatusOr<absl::string_view> Line() {
    const size_t end = bytes_.find('\n', at_);
    if (end == absl::string_view::npos) {
      return absl::InvalidArgumentError("a line does not end");
    }
    const absl::string_view line = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return line;
  }

  // --- Values.

  absl::Status Push(absl::StatusOr<PickleRef> ref) {
    COOPER_RETURN_IF_ERROR(ref.status());
    stack_.Push(*ref);
    return absl::OkStatus();
  }

  absl::Status PushValue(PickleValue value) { return Push(builder_.Add(std::move(value))); }

  absl::Status PushText(Type type, absl::StatusOr<absl::string_view> text) {
    COOPER_RETURN_IF_ERROR(text.status());
    return PushValue({.type = type, .text = *text});
  }

  absl::Status PushItems(Type type, absl::StatusOr<std::vector<PickleRef>> items) {
    COOPER_RETURN_IF_ERROR(items.status());
    if (type == Type::kDict && items->size() % 2 != 0) {
      return absl::InvalidArgumentError("a dictionary has a key without a value");
    }
    return PushValue({.type = type, .items = *std::move(items)});
  }

  // Appends to the list or dictionary at the top of the stack.
  absl::Status Extend(Type type, absl::StatusOr<std::vector<PickleRef>> items) {
    COOPER_RETURN_IF_ERROR(items.status());
    COOPER_ASSIGN_OR_RETURN(const PickleRef top, stack_.Top());
    PickleValue& container = builder_.at(top);
    if (container.type != type || (type == Type::kDict && items->size() % 2 != 0)) {
      return absl::InvalidArgumentError(type == Type::kDict ? "no pairs for a dictionary"
                                                            : "no elements for a list");
    }
    container.items.insert(container.items.end(), items->begin(), items->end());
    return absl::OkStatus();
  }

  absl::Status Put(absl::StatusOr<uint64_t> key) {
    COOPER_RETURN_IF_ERROR(key.status());
    return stack_.Put(*key);
  }

  absl::Status Get(absl::StatusOr<uint64_t> key) {
    COOPER_RETURN_IF_ERROR(key.status());
    return stack_.Get(*key);
  }

  absl::StatusOr<uint64_t> NumberLine() {
    COOPER_ASSIGN_OR_RETURN(const absl::string_view line, Line());
    uint64_t number = 0;
    if (absl::SimpleAtoi(line, &number)) return number;
    return absl::InvalidArgumentError("a line is not a number");
  }

  // --- Opcodes.

  absl::Status PushInt(int64_t integer) {
    return PushValue({.type = Type::kInt, .integer = integer});
  }
  absl::Status PushBool(bool value) {
    return PushValue({.type = Type::kBool, .integer = value ? 1 : 0});
  }

  absl::Status StepIntLine(bool is_long) {
    COOPER_ASSIGN_OR_RETURN(absl::string_view line, Line());
    if (!is_long && (line == "00" || line == "01")) return PushBool(line == "01");
    if (is_long) absl::ConsumeSuffix(&line, "L");
    int64_t integer = 0;
    if (absl::SimpleAtoi(line, &integer)) return PushInt(integer);
    return absl::InvalidArgumentError("a line is not an integer of 64 bits");
  }

  absl::Status StepLong1() {
    COOPER_ASSIGN_OR_RETURN(const absl::string_view raw, Counted(1));
    if (raw.size() > sizeof(int64_t)) {
      return absl::InvalidArgumentError("an integer has more than 64 bits");
    }
    if (raw.empty()) return PushInt(0);
    int64_t integer = (raw.back() & 0x80) != 0 ? -1 : 0;
    std::memcpy(&integer, raw.data(), raw.size());
    return PushInt(integer);
  }

  absl::Status StepFloatLine() {
    COOPER_ASSIGN_OR_RETURN(const absl::string_view line, Line());
    double number = 0;
    if (!absl::SimpleAtod(line, &number)) {
      return absl::InvalidArgumentError("a line is not a number");
    }
    return PushValue({.type = Type::kFloat, .number = number});
  }

  absl::Status StepBinfloat() {
    COOPER_ASSIGN_OR_RETURN(const uint64_t big_endian, Number(8));
    return PushValue(
        {.type = Type::kFloat, .number = std::bit_cast<double>(__builtin_bswap64(big_endian))});
  }

  absl::Status StepTextLine(absl::StatusOr<std::string> (*decode)(absl::string_view)) {
    COOPER_ASSIGN_OR_RETURN(const absl::string_view line, Line());
    COOPER_ASSIGN_OR_RETURN(std::string text, decode(line));
    return Push(builder_.AddDecoded(Type::kText, std::move(text)));
  }

  absl::Status StepGlobal() {
    COOPER_ASSIGN_OR_RETURN(const absl::string_view module, Line());
    COOPER_ASSIGN_OR_RETURN(const absl::string_view name, Line());
    return Push(builder_.AddClass(module, name));
  }

  absl::Status StepStackGlobal() {
    COOPER_ASSIGN_OR_RETURN(const std::vector<PickleRef> names, stack_.PopLast(2));
    const PickleValue &module = builder_.at(names[0]), &name = builder_.at(names[1]);
    if (module.type != Type::kText || name.type != Type::kText) {
      return absl::InvalidArgumentError("the name of a class is not a text");
    }
    return Push(builder_.AddClass(module.text, name.text));
  }

  absl::Status StepProto() {
    COOPER_ASSIGN_OR_RETURN(const uint64_t protocol, Number(1));
    if (protocol <= 4) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("protocol ", protocol, "; expected 0 to 4, which pickle.dumps writes"));
  }

  absl::Status Step(PickleOpcode opcode) {
    switch (opcode) {
      case kProto:
        return StepProto();
      case kFrame:  // the length of the opcodes that follow, which are read one by one
        return Number(8).status();
      case kMark:
        stack_.Mark();
        return absl::OkStatus();
      case kNone:
        return PushValue({});
      case kNewtrue:
      case kNewfalse:
        return PushBool(opcode == kNewtrue);
      case kBinfloat:
        return StepBinfloat();
      case kFloat:
        return StepFloatLine();
      case kInt:
      case kLong:
        return StepIntLine(opcode == kLong);
      case kLong1:
        return StepLong1();
      case kBinint:
      case kBinint1:
      case kBinint2: {
        const size_t size = opcode == kBinint ? 4 : opcode == kBinint2 ? 2 : 1;
        COOPER_ASSIGN_OR_RETURN(const uint64_t number, Number(size));
        return PushInt(size == 4 ? static_cast<int32_t>(number) : static_cast<int64_t>(number));
      }
      case kString:
        return StepTextLine(DecodeStringLiteral);
      case kUnicode:
        return StepTextLine(DecodeRawUnicodeEscape);
      case kShortBinstring:
      case kShortBinunicode:
        return PushText(Type::kText, Counted(1));
      case kBinstring:
      case kBinunicode:
        return PushText(Type::kText, Counted(4));
      case kBinunicode8:
        return PushText(Type::kText, Counted(8));
      case kShortBinbytes:
        return PushText(Type::kBytes, Counted(1));
      case kBinbytes:
        return PushText(Type::kBytes, Counted(4));
      case kBinbytes8:
        return PushText(Type::kBytes, Counted(8));
      default:
        return StepStructure(opcode);
    }
  }

  // Opcodes that combine the values on the stack.
  absl::Status StepStructure(PickleOpcode opcode) {
    switch (opcode) {
      case kEmptyTuple:
        return PushItems(Type::kTuple, std::vector<PickleRef>());
      case kTuple1:
      case kTuple2:
      case kTuple3:
        return PushItems(Type::kTuple, stack_.PopLast(static_cast<size_t>(opcode) -
                                                      static_cast<size_t>(kTuple1) + 1));
      case kTuple:
        return PushItems(Type::kTuple, stack_.PopToMark());
      case kEmptyList:
        return PushItems(Type::kList, std::vector<PickleRef>());
      case kList:
        return PushItems(Type::kList, stack_.PopToMark());
      case kAppend:
        return Extend(Type::kList, stack_.PopLast(1));
      case kAppends:
        return Extend(Type::kList, stack_.PopToMark());
      case kEmptyDict:
        return PushItems(Type::kDict, std::vector<PickleRef>());
      case kDict:
        return PushItems(Type::kDict, stack_.PopToMark());
      case kSetitem:
        return Extend(Type::kDict, stack_.PopLast(2));
      case kSetitems:
        return Extend(Type::kDict, stack_.PopToMark());
      case kPut:
        return Put(NumberLine());
      case kBinput:
        return Put(Number(1));
      case kLongBinput:
        return Put(Number(4));
      case kMemoize:
        return stack_.Memoize();
      case kGet:
        return Get(NumberLine());
      case kBinget:
        return Get(Number(1));
      case kLongBinget:
        return Get(Number(4));
      case kGlobal:
        return StepGlobal();
      case kStackGlobal:
        return StepStackGlobal();
      case kReduce:
      case kNewobj: {
        COOPER_ASSIGN_OR_RETURN(const std::vector<PickleRef> call, stack_.PopLast(2));
        return Push(opcode == kReduce ? builder_.Call(call[0], call[1])
                                      : builder_.NewObject(call[0], call[1]));
      }
      case kBuild: {
        COOPER_ASSIGN_OR_RETURN(const PickleRef state, stack_.Pop());
        COOPER_ASSIGN_OR_RETURN(const PickleRef object, stack_.Top());
        return builder_.SetState(object, state);
      }
      default:
        return absl::InvalidArgumentError(
            absl::StrCat("opcode 0x", absl::Hex(static_cast<unsigned>(opcode), absl::kZeroPad2),
                         " is none of those with which optimizer states are written"));
    }
  }

  const absl::string_view bytes_;
  size_t at_ = 0;
  PickleBuilder builder_;
  PickleStack stack_{kMaxPickleValues};
};

}  // namespace

absl::StatusOr<Pickle> Unpickle(absl::string_view bytes) { return Unpickler(bytes).Run(); }

}  // namespace cooper
