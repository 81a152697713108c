#ifndef COOPER_SYMBOL_OPS_INDEX_SEQUENCE_PARAM_H_
#define COOPER_SYMBOL_OPS_INDEX_SEQUENCE_PARAM_H_

#include "symbol/schema/param_schema.h"

namespace cooper {

// The inputs of the sequence operators. In the gradient, ograd takes the place of data.
struct SequenceArrays {
  enum Input { kData, kLength };
};

// Parameters of SequenceLast.
struct SequenceParam {
  bool use_sequence_length = false;
  int axis = 0;

  static void Declare(ParamDeclaration<SequenceParam>& d) {
    DeclareFields(d, 1, "the axis of time: 0, or 1 behind that of the batch");
  }
  template <typename P>  // P derives from this
  static void DeclareFields(ParamDeclaration<P>& d, int max_axis, const char* axis_doc) {
    d.template Field<bool>("use_sequence_length", &P::use_sequence_length)
        .Doc("whether the lengths are an input; otherwise all sequences have full length");
    d.template Field<int>("axis", &P::axis).Min(0).Max(max_axis).Doc(axis_doc);
  }
};

struct SequenceReverseParam : SequenceParam {
  static void Declare(ParamDeclaration<SequenceReverseParam>& d) {
    SequenceParam::DeclareFields(d, 0, "the axis of time, which is the first");
  }
};

struct SequenceMaskParam : SequenceParam {
  double value = 0;

  static void Declare(ParamDeclaration<SequenceMaskParam>& d) {
    SequenceParam::DeclareFields(d, 1, "the axis of time: 0, or 1 behind that of the batch");
    d.Field("value", &SequenceMaskParam::value).Doc("what stands behind the end of a sequence");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_INDEX_SEQUENCE_PARAM_H_
