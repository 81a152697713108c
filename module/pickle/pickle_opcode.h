#ifndef COOPER_MODULE_PICKLE_PICKLE_OPCODE_H_
#define COOPER_MODULE_PICKLE_PICKLE_OPCODE_H_

// The opcodes of pickles that optimizer states consist of.

namespace cooper {

// The opcodes, under the names of Python's pickletools; module/pickle/unpickle.cc interprets them.
// Each works on a stack of values. What follows the opcode in the file:
//
//   a line       kInt, kFloat, kLong, kString, kUnicode, kGet, kPut; kGlobal has two: module, name
//   a number     1 byte: kBinint1, kBinget, kBinput, kProto; 2: kBinint2; 4: kBinint, kLongBinget,
//                kLongBinput; 8: kFrame, kBinfloat (a double, big-endian)
//   sized bytes  a length, then as many bytes. The length has 8 bytes in kBinunicode8 and
//                kBinbytes8, 1 in kShort... and kLong1, 4 in kBinstring, kBinunicode, kBinbytes
//   nothing      all others
//
// Numbers are little-endian but for kBinfloat. kMark marks a height of the stack, up to which
// kTuple, kList, kDict, kAppends and kSetitems take values. kPut, kBinput, kLongBinput and kMemoize
// keep the uppermost value, which the kGet opcodes push again. kGlobal and kStackGlobal push a
// class, kReduce calls it, kNewobj makes an object of it and kBuild gives an object its state.
enum class PickleOpcode : unsigned char {
  kMark = '(',
  kStop = '.',
  kFloat = 'F',
  kInt = 'I',
  kBinint = 'J',
  kBinint1 = 'K',
  kLong = 'L',
  kBinint2 = 'M',
  kNone = 'N',
  kReduce = 'R',
  kString = 'S',
  kBinstring = 'T',
  kShortBinstring = 'U',
  kUnicode = 'V',
  kBinunicode = 'X',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kDict = 'd',
  kEmptyDict = '}',
  kAppends = 'e',
  kGet = 'g',
  kBinget = 'h',
  kLongBinget = 'j',
  kList = 'l',
  kEmptyList = ']',
  kPut = 'p',
  kBinput = 'q',
  kLongBinput = 'r',
  kSetitem = 's',
  kTuple = 't',
  kEmptyTuple = ')',
  kSetitems = 'u',
  kBinfloat = 'G',
  kBinbytes = 'B',
  kShortBinbytes = 'C',
  kProto = 0x80,
  kNewobj = 0x81,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewtrue = 0x88,
  kNewfalse = 0x89,
  kLong1 = 0x8a,
  kShortBinunicode = 0x8c,
  kBinunicode8 = 0x8d,
  kBinbytes8 = 0x8e,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
};

}  // namespace cooper

#endif  // COOPER_MODULE_PICKLE_PICKLE_OPCODE_H_
