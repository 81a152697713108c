#include "symbol/rnn/cell_ops.h"

#include "symbol/schema/param_text.h"

namespace cooper {

std::string PythonFloat(double value) {
  std::string text = PrintParamText(value);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

}  // namespace cooper
