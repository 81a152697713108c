#include "tests/cuda_emulator/ptx/declarations.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/cuda_emulator/ptx/lexer.h"
#include "tests/cuda_emulator/ptx/module.h"
#include "tests/cuda_emulator/ptx/syntax.h"
#include "tests/cuda_emulator/ptx/types.h"

namespace cooper::ptx {
namespace {

class DeclarationParser {
 public:
  explicit DeclarationParser(std::string_view text) : lexer_(text) {}

  absl::StatusOr<Declarations> Parse() {
    while (lexer_.Peek().kind != Token::Kind::kEnd) {
      if (absl::Status status = ParseOne(); !status.ok()) return status;
    }
    if (!versioned_) return SyntaxError(lexer_.Peek(), "no .version: this is no PTX");
    return std::move(out_);
  }

 private:
  absl::Status ParseOne() {
    bool is_extern = false;
    for (;;) {
      if (lexer_.Take(".extern")) {
        is_extern = true;
      } else if (!lexer_.Take(".visible") && !lexer_.Take(".weak") && !lexer_.Take(".common")) {
        break;
      }
    }
    const Token token = lexer_.Next();
    if (token.Is(".version")) {
      versioned_ = true;
      lexer_.Next();
      return absl::OkStatus();
    }
    if (token.Is(".target")) {
      do {
        lexer_.Next();
      } while (lexer_.Take(","));
      return absl::OkStatus();
    }
    if (token.Is(".address_size")) {
      if (!lexer_.Take("64")) return SyntaxError(lexer_.Peek(), "expected addresses of 64 bits");
      return absl::OkStatus();
    }
    if (token.Is(".entry") || token.Is(".func")) return ParseFunction(token);
    if (token.Is(".global")) return DeclareVariables(Space::kGlobal, is_extern);
    if (token.Is(".const")) return DeclareVariables(Space::kConst, is_extern);
    if (token.Is(".shared")) return DeclareShared();
    if (token.Is(".alias")) return ParseAlias();
    if (token.Is(".pragma")) {
      return lexer_.SkipPast(";") ? absl::OkStatus() : SyntaxError(lexer_.Peek(), "expected ;");
    }
    return SyntaxError(token, "unknown directive");
  }

  // Parses ".alias name, function;": the name refers to the function.
  absl::Status ParseAlias() {
    const Token name = lexer_.Next();
    if (!lexer_.Take(",")) return SyntaxError(lexer_.Peek(), "expected ,");
    const Token function = lexer_.Next();
    const auto found = out_.names.find(function.text);
    if (found == out_.names.end() || found->second.kind != Symbol::Kind::kFunction) {
      return SyntaxError(function, "expected a function");
    }
    const Symbol symbol = found->second;
    out_.names[name.text] = symbol;
    return lexer_.Take(";") ? absl::OkStatus() : SyntaxError(lexer_.Peek(), "expected ;");
  }

  absl::Status DeclareVariables(Space space, bool is_extern) {
    absl::StatusOr<VariableDeclaration> read = ParseVariable(lexer_);
    if (!read.ok()) return read.status();
    if (!lexer_.Take(";")) return SyntaxError(lexer_.Peek(), "expected ;");
    Symbol symbol{Symbol::Kind::kVariable, static_cast<int>(out_.variables.size()), 0, read->size};
    out_.names[read->name] = symbol;
    Variable& variable = out_.variables.emplace_back();
    variable.name = std::string(read->name);
    variable.space = space;
    variable.size = read->size;
    variable.align = read->align;
    variable.init = std::move(read->init);
    variable.relocations = std::move(read->relocations);
    variable.is_extern = is_extern;
    variable.managed = read->managed;
    return absl::OkStatus();
  }

  absl::Status DeclareShared() {
    absl::StatusOr<VariableDeclaration> read = ParseVariable(lexer_);
    if (!read.ok()) return read.status();
    if (!lexer_.Take(";")) return SyntaxError(lexer_.Peek(), "expected ;");
    const int index = static_cast<int>(out_.shared.size());
    out_.names[read->name] = {Symbol::Kind::kShared, index, 0, read->size};
    out_.shared.push_back({std::string(read->name), read->size, read->align, index});
    return absl::OkStatus();
  }

  // Parses "( .param ... , ... )": assigns offsets in order, each aligned.
  absl::Status ParseParams(std::vector<Param>& params, uint64_t& bytes) {
    if (!lexer_.Take("(")) return absl::OkStatus();
    while (!lexer_.Take(")")) {
      if (lexer_.Take(",")) continue;
      const Token token = lexer_.Next();
      if (token.Is(".reg")) {
        return absl::UnimplementedError("PTX: parameters of a function in registers");
      }
      if (!token.Is(".param")) return SyntaxError(token, "expected .param");
      Param param;
      if (absl::Status status = ParseParam(param); !status.ok()) return status;
      bytes = (bytes + param.align - 1) / param.align * param.align;
      param.offset = bytes;
      bytes += param.size;
      if (bytes > (uint64_t{1} << 20)) return SyntaxError(token, "too many parameters");
      params.push_back(std::move(param));
    }
    return absl::OkStatus();
  }

  // Parses "[.align N] .type [.ptr [.space] [.align N]] name [size]".
  absl::Status ParseParam(Param& param) {
    std::optional<Type> type;
    bool pointer = false;
    for (;;) {
      const Token token = lexer_.Peek();
      if (token.Is(".align")) {
        lexer_.Next();
        const std::optional<uint64_t> align = IntegerOf(lexer_.Peek().text);
        if (!align || *align == 0 || *align > 4096 || (*align & (*align - 1)) != 0) {
          return SyntaxError(lexer_.Peek(), "expected an alignment");
        }
        if (!pointer) param.align = *align;  // else it is the alignment of the pointer's target
      } else if (token.Is(".ptr")) {
        pointer = true;
      } else if (token.text.substr(0, 1) == "." && TypeOfName(token.text.substr(1))) {
        type = TypeOfName(token.text.substr(1));
      } else if (!token.Is(".global") && !token.Is(".shared") && !token.Is(".const") &&
                 !token.Is(".local")) {
        break;
      }
      lexer_.Next();
    }
    const Token name = lexer_.Next();
    if (!type || name.kind != Token::Kind::kWord) return SyntaxError(name, "expected a parameter");
    param.name = std::string(name.text);
    param.size = static_cast<uint64_t>(SizeOf(*type));
    param.align = std::max(param.align, param.size);
    if (lexer_.Take("[")) {
      const Token number = lexer_.Next();
      const std::optional<uint64_t> count = IntegerOf(number.text);
      if (!count || *count > (1 << 20)) return SyntaxError(number, "expected a size");
      param.size *= *count;
      if (!lexer_.Take("]")) return SyntaxError(lexer_.Peek(), "expected ]");
    }
    return absl::OkStatus();
  }

  // Parses ".maxntid 256, 1, 1" to the product.
  absl::Status ParseThreads(Function& function) {
    uint64_t product = 1;
    do {
      const std::optional<uint64_t> extent = IntegerOf(lexer_.Peek().text);
      if (!extent) return SyntaxError(lexer_.Peek(), "expected a number of threads");
      lexer_.Next();
      product *= *extent;
      if (product > (1 << 20)) return SyntaxError(lexer_.Peek(), "too many threads");
    } while (lexer_.Take(","));
    function.max_threads = static_cast<int>(product);
    return absl::OkStatus();
  }

  absl::Status ParseFunction(const Token& keyword) {
    Function function;
    function.entry = keyword.Is(".entry");
    function.line = keyword.line;
    if (!function.entry) {
      absl::Status status = ParseParams(function.results, function.result_bytes);
      if (!status.ok()) return status;
    }
    const Token name = lexer_.Next();
    if (name.kind != Token::Kind::kWord) return SyntaxError(name, "expected a function's name");
    function.name = std::string(name.text);
    absl::Status status = ParseParams(function.params, function.param_bytes);
    if (!status.ok()) return status;
    BodyText body;
    for (;;) {  // .maxntid, .minnctapersm, .noreturn and others
      if (lexer_.Take(";")) break;
      if (lexer_.Peek().Is("{")) {
        body.line = lexer_.Peek().line;
        const std::optional<std::string_view> text = lexer_.SkipBraces();
        if (!text) return SyntaxError(name, "the body has no end");
        body.text = *text;
        function.defined = true;
        break;
      }
      const Token token = lexer_.Next();
      if (token.kind == Token::Kind::kEnd) return SyntaxError(token, "expected a body or ;");
      if (token.Is(".maxntid") || token.Is(".reqntid")) {
        if (status = ParseThreads(function); !status.ok()) return status;
      }
    }
    AddFunction(name.text, std::move(function), body);
    return absl::OkStatus();
  }

  // A definition replaces the declaration before it.
  void AddFunction(std::string_view name, Function function, const BodyText& body) {
    const auto found = out_.names.find(name);
    if (found != out_.names.end() && found->second.kind == Symbol::Kind::kFunction) {
      const size_t index = static_cast<size_t>(found->second.index);
      if (!out_.functions[index].defined) {
        out_.functions[index] = std::move(function);
        out_.bodies[index] = body;
      }
      return;
    }
    out_.names[name] = {Symbol::Kind::kFunction, static_cast<int>(out_.functions.size())};
    out_.functions.push_back(std::move(function));
    out_.bodies.push_back(body);
  }

  Lexer lexer_;
  bool versioned_ = false;
  Declarations out_;
};

}  // namespace

absl::StatusOr<Declarations> ParseDeclarations(std::string_view text) {
  return DeclarationParser(text).Parse();
}

}  // namespace cooper::ptx
