#ifndef COOPER_DOCS_SCALED_CUBE_SCALED_CUBE_PARAM_H_
#define COOPER_DOCS_SCALED_CUBE_SCALED_CUBE_PARAM_H_

#include "symbol/param_schema.h"

namespace cooper {

struct ScaledCubeParam {
  double scale = 1;

  static void Declare(ParamDeclaration<ScaledCubeParam>& d) {
    d.Field("scale", &ScaledCubeParam::scale).Min(0).Doc("factor of the cube");
  }
};

}  // namespace cooper

#endif  // COOPER_DOCS_SCALED_CUBE_SCALED_CUBE_PARAM_H_
