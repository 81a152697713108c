#include "tests/cuda_emulator/ptx/body_parser.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/lexer.h"
#include "tests/cuda_emulator/ptx/operand_parser.h"
#include "tests/cuda_emulator/ptx/scopes.h"
#include "tests/cuda_emulator/ptx/types.h"

namespace cooper::ptx {
namespace {

constexpr uint64_t kMaxRegisters = 1 << 20;
constexpr uint64_t kMaxLocalBytes = 512 << 10;  // CUDA's limit for a thread
constexpr int kMaxDepth = 200;

class BodyParser {
 public:
  BodyParser(const Declarations& declarations, int index)
      : declarations_(declarations),
        function_(declarations.functions[static_cast<size_t>(index)]),
        lexer_(declarations.bodies[static_cast<size_t>(index)].text,
               declarations.bodies[static_cast<size_t>(index)].line) {}

  absl::StatusOr<Body> Parse() {
    for (const Param& param : function_.params) {
      const Symbol::Kind kind = function_.entry ? Symbol::Kind::kParam : Symbol::Kind::kLocal;
      scopes_.Add(param.name, {kind, -1, param.offset, param.size});
    }
    const uint64_t results = ResultsOffset(function_);
    for (const Param& param : function_.results) {
      scopes_.Add(param.name, {Symbol::Kind::kLocal, -1, results + param.offset, param.size});
    }
    if (!function_.entry) body_.local_bytes = results + function_.result_bytes;
    if (!lexer_.Take("{")) return SyntaxError(lexer_.Peek(), "expected {");
    scopes_.Enter();
    while (scopes_.depth() > 1) {
      if (absl::Status status = ParseOne(); !status.ok()) return status;
    }
    if (absl::Status status = ResolveLabels(); !status.ok()) return status;
    return std::move(body_);
  }

 private:
  // A branch whose target may be defined later.
  struct Fixup {
    int statement = 0;
    std::string_view label;
    int line = 0;
  };

  absl::Status ParseOne() {
    const Token token = lexer_.Peek();
    if (token.kind == Token::Kind::kEnd) return SyntaxError(token, "expected }");
    if (lexer_.Take("{")) {
      if (scopes_.depth() > kMaxDepth) return SyntaxError(token, "too many nested braces");
      scopes_.Enter();
      return absl::OkStatus();
    }
    if (lexer_.Take("}")) {
      scopes_.Leave();
      return absl::OkStatus();
    }
    if (lexer_.Take(";")) return absl::OkStatus();
    if (token.Is(".reg")) return ParseRegisters();
    if (lexer_.Take(".shared")) return ParseShared();
    if (lexer_.Take(".local") || lexer_.Take(".param")) return ParseLocal(token.Is(".param"));
    if (token.Is(".pragma")) {
      return lexer_.SkipPast(";") ? absl::OkStatus() : SyntaxError(lexer_.Peek(), "expected ;");
    }
    if (token.text[0] == '.') return SyntaxError(token, "unknown directive");
    if (token.kind == Token::Kind::kWord) {
      Lexer ahead = lexer_;
      ahead.Next();
      if (ahead.Peek().Is(":")) return ParseLabel();
    }
    return ParseStatement();
  }

  absl::Status ParseLabel() {
    const Token label = lexer_.Next();
    lexer_.Next();
    if (lexer_.Take(".branchtargets")) {
      const int index = static_cast<int>(target_lists_.size());
      std::vector<std::string_view>& list = target_lists_.emplace_back();
      while (!lexer_.Take(";")) {
        const Token token = lexer_.Next();
        if (token.kind == Token::Kind::kEnd) return SyntaxError(token, "expected ;");
        if (!token.Is(",")) list.push_back(token.text);
      }
      scopes_.Add(label.text, {Symbol::Kind::kTargets, index});
      return absl::OkStatus();
    }
    if (lexer_.Peek().Is(".callprototype") || lexer_.Peek().Is(".calltargets")) {
      scopes_.Add(label.text, {Symbol::Kind::kPrototype});
      return lexer_.SkipPast(";") ? absl::OkStatus() : SyntaxError(lexer_.Peek(), "expected ;");
    }
    if (!labels_.emplace(label.text, static_cast<int>(body_.statements.size())).second) {
      return SyntaxError(label, "a label is defined twice");
    }
    return absl::OkStatus();
  }

  absl::Status ParseRegisters() {
    lexer_.Next();
    const Token type_token = lexer_.Next();
    const std::optional<Type> type =
        type_token.text.substr(0, 1) == "." ? TypeOfName(type_token.text.substr(1)) : std::nullopt;
    if (type_token.Is(".v2") || type_token.Is(".v4")) {
      return absl::UnimplementedError(
          Concat("PTX line ", type_token.line, ": vector registers are not supported"));
    }
    if (!type) return SyntaxError(type_token, "expected the type of a register");
    do {
      const Token name = lexer_.Next();
      if (name.kind != Token::Kind::kWord) return SyntaxError(name, "expected a register's name");
      const int first = static_cast<int>(body_.registers.size());
      uint64_t count = 1;
      if (lexer_.Take("<")) {
        const Token number = lexer_.Next();
        const std::optional<uint64_t> value = IntegerOf(number.text);
        if (!value || *value > kMaxRegisters) return SyntaxError(number, "expected a count");
        count = *value;
        if (!lexer_.Take(">")) return SyntaxError(lexer_.Peek(), "expected >");
        scopes_.AddRange(name.text, first, static_cast<int>(count));
      } else {
        scopes_.Add(name.text, {Symbol::Kind::kRegister, first});
      }
      if (body_.registers.size() + count > kMaxRegisters) {
        return SyntaxError(name, "too many registers");
      }
      body_.registers.insert(body_.registers.end(), count, *type);
    } while (lexer_.Take(","));
    return lexer_.Take(";") ? absl::OkStatus() : SyntaxError(lexer_.Peek(), "expected ;");
  }

  absl::Status ParseShared() {
    absl::StatusOr<VariableDeclaration> variable = ParseVariable(lexer_);
    if (!variable.ok()) return variable.status();
    scopes_.Add(variable->name,
                {Symbol::Kind::kShared, static_cast<int>(body_.shared.size()), 0, variable->size});
    body_.shared.push_back({std::string(variable->name), variable->size, variable->align});
    return lexer_.Take(";") ? absl::OkStatus() : SyntaxError(lexer_.Peek(), "expected ;");
  }

  // Parses an array of the thread or the parameter space of a call, which are both in local memory.
  absl::Status ParseLocal(bool param) {
    const Token token = lexer_.Peek();
    absl::StatusOr<VariableDeclaration> variable = ParseVariable(lexer_);
    if (!variable.ok()) return variable.status();
    const uint64_t align = std::max<uint64_t>(variable->align, param ? 16 : 1);
    uint64_t& bytes = body_.local_bytes;
    bytes = (bytes + align - 1) / align * align;
    scopes_.Add(variable->name, {Symbol::Kind::kLocal, -1, bytes, variable->size});
    bytes += variable->size;
    if (bytes > kMaxLocalBytes) return SyntaxError(token, "too much local memory");
    return lexer_.Take(";") ? absl::OkStatus() : SyntaxError(lexer_.Peek(), "expected ;");
  }

  absl::Status ParseStatement() {
    Statement statement;
    const Token first = lexer_.Peek();
    statement.line = first.line;
    OperandParser operands(lexer_, scopes_, declarations_, body_);
    if (lexer_.Take("@")) {
      statement.guard_negated = lexer_.Take("!");
      const Token name = lexer_.Next();
      const std::optional<Symbol> symbol = scopes_.Find(name.text);
      if (!symbol || symbol->kind != Symbol::Kind::kRegister) {
        return SyntaxError(name, "expected a predicate");
      }
      statement.guard = symbol->index;
    }
    const Token opcode = lexer_.Next();
    if (opcode.kind != Token::Kind::kWord) return SyntaxError(opcode, "expected an instruction");
    statement.opcode = opcode.text;
    const std::string_view base = opcode.text.substr(0, opcode.text.find('.'));
    absl::Status status;
    if (base == "bra") {
      AddTarget(lexer_.Next());
    } else if (base == "brx") {
      status = ParseIndexedBranch(operands, statement);
    } else if (base == "call") {
      status = ParseCall(operands, statement);
    } else {
      while (status.ok() && !lexer_.Peek().Is(";")) {
        status = operands.Parse(statement.operands.emplace_back());
        if (status.ok() && !lexer_.Take(",") && !lexer_.Peek().Is(";")) {
          status = SyntaxError(lexer_.Peek(), "expected , or ;");
        }
      }
    }
    if (!status.ok()) return status;
    const Token last = lexer_.Peek();
    if (!last.Is(";")) return SyntaxError(last, "expected ;");
    statement.text = {first.text.data(), static_cast<size_t>(last.text.data() - first.text.data())};
    lexer_.Next();
    body_.statements.push_back(std::move(statement));
    return absl::OkStatus();
  }

  void AddTarget(const Token& label) {
    fixups_.push_back({static_cast<int>(body_.statements.size()), label.text, label.line});
  }

  absl::Status ParseIndexedBranch(OperandParser& operands, Statement& statement) {
    absl::Status status = operands.Parse(statement.operands.emplace_back());
    if (!status.ok()) return status;
    if (!lexer_.Take(",")) return SyntaxError(lexer_.Peek(), "expected ,");
    const Token name = lexer_.Next();
    const std::optional<Symbol> list = scopes_.Find(name.text);
    if (!list || list->kind != Symbol::Kind::kTargets) {
      return SyntaxError(name, "expected a list of branch targets");
    }
    for (std::string_view label : target_lists_[static_cast<size_t>(list->index)]) {
      AddTarget({Token::Kind::kWord, label, name.line});
    }
    return absl::OkStatus();
  }

  // Parses "call (results), callee, (arguments), prototype;", in which only the callee is required.
  absl::Status ParseCall(OperandParser& operands, Statement& statement) {
    absl::Status status;
    if (lexer_.Take("(")) {
      status = operands.ParseList(")", statement.results);
      if (status.ok() && !lexer_.Take(",")) status = SyntaxError(lexer_.Peek(), "expected ,");
    }
    if (!status.ok()) return status;
    const Token callee = lexer_.Peek();
    if (status = operands.Parse(statement.operands.emplace_back()); !status.ok()) return status;
    const Operand& target = statement.operands[0];
    if (target.kind == Operand::Kind::kSymbol && target.symbol.kind == Symbol::Kind::kFunction) {
      statement.callee = callee.text;
    } else if (target.kind != Operand::Kind::kRegister) {
      return SyntaxError(callee, "expected a function");
    }
    if (lexer_.Take(",") && lexer_.Take("(")) {
      if (status = operands.ParseList(")", statement.arguments); !status.ok()) return status;
      if (lexer_.Take(",")) lexer_.Next();
    } else if (!lexer_.Peek().Is(";")) {
      lexer_.Next();  // a prototype without arguments
    }
    return absl::OkStatus();
  }

  absl::Status ResolveLabels() {
    for (const Fixup& fixup : fixups_) {
      const auto found = labels_.find(fixup.label);
      if (found == labels_.end()) {
        return SyntaxError({Token::Kind::kWord, fixup.label, fixup.line}, "no such label");
      }
      body_.statements[static_cast<size_t>(fixup.statement)].targets.push_back(found->second);
    }
    return absl::OkStatus();
  }

  const Declarations& declarations_;
  const Function& function_;
  Lexer lexer_;
  Scopes scopes_;
  Body body_;
  absl::flat_hash_map<std::string_view, int> labels_;  // index of the statement after the label
  std::vector<std::vector<std::string_view>> target_lists_;
  std::vector<Fixup> fixups_;
};

}  // namespace

uint64_t ResultsOffset(const Function& function) { return (function.param_bytes + 15) / 16 * 16; }

absl::StatusOr<Body> ParseBody(const Declarations& declarations, int index) {
  return BodyParser(declarations, index).Parse();
}

}  // namespace cooper::ptx
