#include "module/pickle/unpickle.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;
constexpr auto kResourceExhausted = absl::StatusCode::kResourceExhausted;

// Returns a literal with its zero bytes.
template <size_t n>
std::string Raw(const char (&literal)[n]) {
  return std::string(literal, n - 1);
}

// Writes a value as Python would show it.
std::string Show(const Pickle& pickle, PickleRef ref) {
  const PickleValue& value = pickle[ref];
  std::string items;
  for (const PickleRef item : value.items) absl::StrAppend(&items, Show(pickle, item), ",");
  switch (value.type) {
    case PickleType::kNone:
      return "None";
    case PickleType::kBool:
      return value.integer != 0 ? "True" : "False";
    case PickleType::kInt:
      return absl::StrCat(value.integer);
    case PickleType::kFloat:
      return absl::StrCat(value.number, "f");
    case PickleType::kText:
      return absl::StrCat("'", std::string(value.text), "'");
    case PickleType::kBytes:
      return absl::StrCat("b'", std::string(value.text), "'");
    case PickleType::kTuple:
      return absl::StrCat("(", items, ")");
    case PickleType::kList:
      return absl::StrCat("[", items, "]");
    case PickleType::kDict:
      return absl::StrCat("{", items, "}");
    case PickleType::kClass:
      return absl::StrCat("<class ", std::string(value.text), ">");
    case PickleType::kObject:
      return absl::StrCat("<", std::string(value.text), " ", items, ">");
  }
  return "invalid";
}

TEST(UnpickleTest, ReadsTheOpcodesOfEachProtocol) {
  const struct {
    const char* what;
    std::string pickle;
    std::string shown;
  } kCases[] = {
      {"None", "N.", "None"},
      {"bools of protocol 0", "I01\n.", "True"},
      {"bools of protocol 2", "\x89.", "False"},
      {"integers in text", "I-12\n.", "-12"},
      {"long integers in text", "L123456789012L\n.", "123456789012"},
      {"one byte", Raw("K\xff."), "255"},
      {"two bytes", Raw("M\x01\x02."), "513"},
      {"four bytes", Raw("J\xfe\xff\xff\xff."), "-2"},
      {"long integers", Raw("\x8a\x02\x00\xff."), "-256"},
      {"no byte of a long integer", Raw("\x8a\x00."), "0"},
      {"floats in text", "F0.25\n.", "0.25f"},
      {"floats", Raw("G?\xd0\x00\x00\x00\x00\x00\x00."), "0.25f"},
      {"strings of Python 2", "S'a\\x41\\n\\''\n.", "'aA\n''"},
      {"strings of Python 2 by length",
       Raw("U\x02"
           "ab."),
       "'ab'"},
      {"texts of protocol 0", "Va\\u0041\xe9\n.", "'aA\xc3\xa9'"},
      {"characters beyond 16 bits", "V\\U0001F600\n.", "'\xf0\x9f\x98\x80'"},
      {"texts",
       Raw("X\x02\x00\x00\x00"
           "ab."),
       "'ab'"},
      {"texts of protocol 4",
       Raw("\x80\x04\x8c\x02"
           "ab\x94."),
       "'ab'"},
      {"bytes",
       Raw("C\x02"
           "ab."),
       "b'ab'"},
      {"tuples", "(K\x01K\x02t.", "(1,2,)"},
      {"tuples by number", "K\x01K\x02K\x03\x87.", "(1,2,3,)"},
      {"lists",
       "](K\x01K\x02"
       "eK\x03"
       "a.",
       "[1,2,3,]"},
      {"lists of protocol 0", "(lp0\nI1\na.", "[1,]"},
      {"dictionaries", "}(K\x01NK\x02Nu.", "{1,None,2,None,}"},
      {"dictionaries of protocol 0", "(dp0\nI1\nNs.", "{1,None,}"},
      {"what the memo has", "(K\x07q\x05h\x05g5\nt.", "(7,7,7,)"},
      {"what memoize counts", Raw("\x80\x04(K\x07\x94K\x08\x94h\x00h\x01t."), "(7,8,7,8,)"},
      {"bytearrays of Python 3",
       Raw("\x80\x03"
           "cbuiltins\nbytearray\nC\x02"
           "ab\x85R."),
       "b'ab'"},
      {"empty bytearrays", "cbuiltins\nbytearray\n)R.", "b''"},
      {"bytearrays of Python 2", "c__builtin__\nbytearray\n(Va\xe9\nS'latin-1'\ntR.", "b'a\xe9'"},
      {"bytes for Python 2", "c_codecs\nencode\n(V\\u0041\nVlatin1\ntR.", "b'A'"},
      {"arrays", "cmxnet.ndarray.ndarray\nNDArray\n(NtR}b.", "<mxnet.ndarray.ndarray.NDArray {},>"},
      {"optimizers", "cmxnet.optimizer.optimizer\nAdam\n)\x81}b.",
       "<mxnet.optimizer.optimizer.Adam {},>"},
      {"optimizers of protocol 0",
       "ccopy_reg\n_reconstructor\n(cmxnet.optimizer\nSGD\nc__builtin__\nobject\nNtR}b.",
       "<mxnet.optimizer.SGD {},>"},
      {"numbers of NumPy",
       Raw("cnumpy.core.multiarray\nscalar\n(cnumpy\ndtype\n(Vf8\nI00\nI01\ntR(I3\nV<\nNNNI-1\nI-"
           "1\nI0"
           "\ntbC\x08\x00\x00\x00\x00\x00\x00\xd0?tR."),
       "0.25f"},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.what);
    COOPER_ASSERT_OK_AND_ASSIGN(const Pickle pickle, Unpickle(c.pickle));
    EXPECT_EQ(Show(pickle, pickle.root), c.shown);
  }
}

TEST(UnpickleTest, AListThatContainsItselfIsRead) {
  const std::string bytes =
      "]q\x01h\x01"
      "a.";
  COOPER_ASSERT_OK_AND_ASSIGN(const Pickle pickle, Unpickle(bytes));
  ASSERT_EQ(pickle[pickle.root].items.size(), 1);
  EXPECT_EQ(pickle[pickle.root].items[0], pickle.root);
}

TEST(UnpickleTest, RefusesEverythingElse) {
  const struct {
    std::string pickle;
    const char* message;
  } kCases[] = {
      {"cos\nsystem\n(S'id'\ntR.", "pickle, byte 0: the class 'os.system' is not one of optimizer"},
      {Raw("\x80\x04\x8c\x02os\x8c\x06system\x93."), "pickle, byte 14: the class 'os.system' is"},
      {"cmxnet.optimizer.optimizer\nMine\n.", "the class 'mxnet.optimizer.optimizer.Mine' is not"},
      {"cbuiltins\neval\n.", "nothing of a pickle is executed"},
      {Raw("\x80\x05."), "pickle, byte 0: protocol 5; expected 0 to 4"},
      {"Pid\n.", "pickle, byte 0: opcode 0x50 is none of those"},
      {"\x82\x01.", "opcode 0x82 is none"},
      {"", "pickle, byte 0: a value takes 1 bytes, but only 0 are left in the file"},
      {"N", "pickle, byte 1: a value takes 1 bytes"},
      {".", "pickle, byte 0: the opcode takes more values than there are"},
      {"(.", "the opcode takes more values than there are"},
      {"N(.", "the opcode takes more values than there are"},
      {"N.N", "pickle: 1 bytes follow its end at byte 2"},
      {"t.", "there is no mark"},
      {"K\x01\x86.", "the opcode takes more values than there are"},
      {"g5\n.", "the memo has no value 5"},
      {"q\x01.", "the opcode takes more values than there are"},
      {Raw("X\xff\xff\xff\x7f"
           "ab."),
       "a value takes 2147483647 bytes, but only 3 are left"},
      {Raw("\x8d\xff\xff\xff\xff\xff\xff\xff\xff."), "a value takes 18446744073709551615 bytes"},
      {"I12", "a line does not end"},
      {"Ix\n.", "a line is not an integer of 64 bits"},
      {"L99999999999999999999L\n.", "a line is not an integer of 64 bits"},
      {Raw("\x8a\x09"
           "123456789."),
       "an integer has more than 64 bits"},
      {"Fx\n.", "a line is not a number"},
      {"Sab\n.", "a string is not in quotes"},
      {"S'\\q'\n.", "a text has the invalid escape \\q"},
      {"S'a\\'\n.", "a string ends within an escape"},
      {"V\\u00g0\n.", "a text has the invalid escape \\u"},
      {"V\\UFFFFFFFF\n.", "a text has the invalid escape \\U"},
      {"(K\x01"
       "d.",
       "a dictionary has a key without a value"},
      {"](K\x01u.", "no pairs for a dictionary"},
      {"}K\x01"
       "a.",
       "no elements for a list"},
      {"K\x01)R.", "a value that is no class is called"},
      {"K\x01)\x81.", "an object is made of a value that is no class"},
      {"NNb.", "a value that is no object gets a state"},
      {"cmxnet.ndarray\nNDArray\n)R.", "the arguments of mxnet.ndarray.NDArray are not those"},
      {"cmxnet.optimizer\nSGD\n(K\x01tR.", "the arguments of mxnet.optimizer.SGD are not those"},
      {"cmxnet.optimizer\nSGD\n)\x81Nb.", "the state of mxnet.optimizer.SGD is not a dictionary"},
      {"cbuiltins\nbytearray\n(K\x05tR.", "the arguments of builtins.bytearray are not those"},
      {"cbuiltins\nbytearray\n(V\\u0100\nVlatin-1\ntR.", "a character that is not in Latin-1"},
      {"cbuiltins\nbytearray\n(Va\nVutf-8\ntR.", "the arguments of builtins.bytearray"},
      {"cnumpy\ndtype\n(Vf8\ntR(I3\nV>\ntb.", "a dtype of NumPy is not little-endian"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(Unpickle(c.pickle), StatusIs(kInvalidArgument, HasSubstr(c.message)))
        << absl::CHexEscape(c.pickle);
  }
}

TEST(UnpickleTest, ASmallFileDoesNotAskForMuchMemory) {
  const std::string many(static_cast<size_t>(kMaxPickleValues) + 1, 'N');
  EXPECT_THAT(Unpickle(many), StatusIs(kResourceExhausted, HasSubstr("more than 1048576 values")));
  std::string memo = "N";
  memo.append(static_cast<size_t>(kMaxPickleValues) + 1, '\x94');
  EXPECT_THAT(Unpickle(memo), StatusIs(kResourceExhausted, HasSubstr("the memo of the pickle")));
  // The bytes of one text, made again and again.
  std::string copies =
      "cbuiltins\nbytearray\nq\x01V" + std::string(10000, 'a') + "\nq\x02Vlatin-1\nq\x03";
  for (int i = 0; i < 1000; ++i) copies += "h\x01h\x02h\x03\x86R";
  EXPECT_THAT(Unpickle(copies), StatusIs(kResourceExhausted, HasSubstr("many times the bytes")));
}

}  // namespace
}  // namespace cooper
