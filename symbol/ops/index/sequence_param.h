#ifndef COOPER_SYMBOL_OPS_INDEX_SEQUENCE_PARAM_H_
#define COOPER_SYMBOL_OPS_INDEX_SEQUENCE_PARAM_H_

#include "symbol/param_schema.h"

namespace cooper {

// The gradient has ograd in data's place.
struct SequenceArrays {
  enum Input { kData, kLength };
};

// Of SequenceLast and SequenceReverse.
struct SequenceParam {
  bool use_sequence_length = false;
  int axis = 0;

  static void Declare(ParamDeclaration<SequenceParam>& d) { DeclareFields(d); }
  template <typename P>  // P derives from this
  static void DeclareFields(ParamDeclaration<P>& d) {
    d.template Field<bool>("use_sequence_length", &P::use_sequence_length)
        .Doc("whether the lengths are an input; otherwise all sequences have full length");
    d.template Field<int>("axis", &P::axis)
        .Doc("the axis of time: 0, or 1 behind that of the batch");
  }
};

struct SequenceMaskParam : SequenceParam {
  double value = 0;

  static void Declare(ParamDeclaration<SequenceMaskParam>& d) {
    SequenceParam::DeclareFields(d);
    d.Field("value", &SequenceMaskParam::value).Doc("what stands behind the end of a sequence");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_INDEX_SEQUENCE_PARAM_H_
