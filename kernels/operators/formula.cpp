// SPDX-License-Identifier: Apache-2.0
#include "kernels/operators/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <vector>

#include "npu/base/nearest_name.hpp"
#include "npu/base/shortened.hpp"

namespace npu::operators {
namespace {

constexpr const char* kInputNames[] = {"a", "b", "c", "d"};
constexpr const char* kScalarNames[] = {"s", "s1", "s2", "s3"};
constexpr int kDeepestFormula = 200;
constexpr std::string_view kFormulaSigns = " _.+-*/(),<>=!";

struct FormulaFunction {
  std::string_view name;
  unsigned operands;
  bool of_reals;
};
// As kernels/device/vector/functions.hpp and formula.hpp have them. where() is read by itself.
constexpr FormulaFunction kFormulaFunctions[] = {
    {"exp", 1, true},     {"ln", 1, true},     {"sqrt", 1, true},       {"rsqrt", 1, true},
    {"abs", 1, false},    {"relu", 1, false},  {"reciprocal", 1, true}, {"tanh", 1, true},
    {"sigmoid", 1, true}, {"silu", 1, true},   {"gelu", 1, true},       {"mish", 1, true},
    {"erf", 1, true},     {"rint", 1, false},  {"floor", 1, false},     {"ceil", 1, false},
    {"trunc", 1, false},  {"round", 1, false}, {"pow", 2, true},        {"min", 2, false},
    {"max", 2, false}};

// A number of C++, one that the kernel is given, or one of each element.
enum class Operand { kNumber, kScalar, kElements };

class FormulaReader {
 public:
  explicit FormulaReader(const std::string& text) : text_(text) {}

  Result<Formula> read() {
    for (const char c : text_) {
      const bool plain =
          std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 0x80;
      if (plain || kFormulaSigns.find(c) != std::string_view::npos) continue;
      return wrong(fmt::format("found '{}' in '{}'; allowed: letters, digits and{}",
                               shortened(std::string(1, c)), shortened(text_),
                               " spaces, _ . + - * / ( ) , < > = !"));
    }
    const auto all = sum();
    if (!all) return forward_error(all);
    space();
    if (at_ != text_.size()) return forward_error(refuse("its end, or an operator"));
    return formula_;
  }

 private:
  using Read = Result<Operand>;

  static tl::unexpected<Error> wrong(const std::string& what) {
    return fail(ErrorCode::kInvalidArgument, "expression: " + what);
  }
  Read refuse(const std::string& wanted) {
    space();
    if (at_ == text_.size()) return wrong(fmt::format("'{}' ends too early", shortened(text_)));
    return wrong(fmt::format("found '{}'; wanted is {}", shortened(text_.substr(at_)), wanted));
  }
  void space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool skip(std::string_view what) {
    space();
    if (text_.compare(at_, what.size(), what) != 0) return false;
    at_ += what.size();
    return true;
  }

  Read sum() {
    auto left = term();
    while (left && (skip("+") || skip("-"))) {
      formula_.has_arithmetic = true;
      const auto right = term();
      if (!right) return right;
      left = Read(std::max(*left, *right));
    }
    return left;
  }
  Read term() {
    auto left = factor();
    while (left) {
      const bool divides = skip("/");
      if (!divides && !skip("*")) break;
      formula_.has_arithmetic = true;
      const auto right = factor();
      if (!right) return right;
      left = Read(std::max(*left, *right));
      if (divides && *left == Operand::kElements) formula_.needs_reals = true;
    }
    return left;
  }
  Read factor() {
    if (++depth_ > kDeepestFormula) return wrong("it is too deep");
    const bool minus = skip("-");
    const bool plus = !minus && skip("+");
    if (minus) formula_.has_arithmetic = true;
    auto operand = minus || plus ? factor() : primary();
    if (operand && plus && *operand != Operand::kNumber) {
      operand = Read(wrong("'+' before what is no number"));
    }
    --depth_;
    return operand;
  }

  Read primary() {
    if (skip("(")) {
      const auto inside = sum();
      if (!inside || skip(")")) return inside;
      return refuse("')'");
    }
    space();
    const char first = at_ < text_.size() ? text_[at_] : '\0';
    if (std::isdigit(static_cast<unsigned char>(first)) != 0 || first == '.') return number();
    return named();
  }

  std::size_t digits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_ - begin;
  }
  // 3, 0.5, .5, 2., 1e-3, and any of these with an f.
  Read number() {
    const std::size_t begin = at_;
    std::size_t count = digits();
    bool real = false;
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_, real = true;
      count += digits();
    }
    if (count != 0 && at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_, real = true;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (digits() == 0) count = 0;
    }
    if (real && at_ < text_.size() && (text_[at_] == 'f' || text_[at_] == 'F')) ++at_;
    const bool goes_on = at_ < text_.size() && (is_part_of_name(text_[at_]) || text_[at_] == '.');
    if (count != 0 && !goes_on) return Operand::kNumber;
    at_ = begin;
    return refuse("a number");
  }

  static bool is_part_of_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  }
  Read named() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_part_of_name(text_[at_])) ++at_;
    const std::string name = text_.substr(begin, at_ - begin);
    for (std::size_t i = 0; i < std::size(kInputNames); ++i) {
      if (name == kInputNames[i]) {
        formula_.inputs[i] = true;
        return Operand::kElements;
      }
      if (name == kScalarNames[i]) {
        formula_.scalars[i] = true;
        return Operand::kScalar;
      }
    }
    if (name == "where") return choice();
    const auto* const function =
        std::find_if(std::begin(kFormulaFunctions), std::end(kFormulaFunctions),
                     [&name](const FormulaFunction& each) { return each.name == name; });
    if (function != std::end(kFormulaFunctions)) return call(*function);
    at_ = begin;
    std::vector<std::string> known{"where"};
    for (const auto& each : kFormulaFunctions) known.emplace_back(each.name);
    const auto nearest = nearest_name(name, known);
    if (nearest.empty()) {
      return refuse("a to d, s to s3, a number or a function (docs/writing-an-operator.md)");
    }
    return wrong(fmt::format("no function {}; did you mean {}?", shortened(name), nearest));
  }

  Read call(const FormulaFunction& function) {
    Operand most = Operand::kNumber;
    bool scalars = false;  // among the operands
    for (unsigned i = 0; i < function.operands; ++i) {
      if (!skip(i == 0 ? "(" : ",")) return refuse(i == 0 ? "'('" : "','");
      const auto operand = sum();
      if (!operand) return operand;
      most = std::max(most, *operand);
      scalars = scalars || *operand != Operand::kElements;
    }
    if (!skip(")")) return refuse("')'");
    if (most != Operand::kElements) {
      return wrong(fmt::format("{} of numbers alone; it is of a, b, c or d", function.name));
    }
    formula_.needs_reals = formula_.needs_reals || function.of_reals;
    const bool chooses = function.name == "min" || function.name == "max";
    if (!chooses || scalars) formula_.has_arithmetic = true;
    return Operand::kElements;
  }

  // where(x < y, then, otherwise)
  Read choice() {
    formula_.has_arithmetic = true;
    if (!skip("(")) return refuse("'('");
    const auto left = sum();
    if (!left) return left;
    constexpr std::string_view kSigns[] = {"<=", ">=", "==", "!=", "<", ">"};
    const bool compares = std::any_of(std::begin(kSigns), std::end(kSigns),
                                      [this](std::string_view sign) { return skip(sign); });
    if (!compares) return refuse("a comparison");
    const auto right = sum();
    if (!right) return right;
    if (std::max(*left, *right) != Operand::kElements) {
      return wrong("where compares numbers alone; one side has a, b, c or d");
    }
    for (int i = 0; i < 2; ++i) {
      if (!skip(",")) return refuse("','");
      if (const auto chosen = sum(); !chosen) return chosen;
    }
    if (!skip(")")) return refuse("')'");
    return Operand::kElements;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Formula formula_;
};

}  // namespace

Result<Formula> read_formula(const std::string& text) {
  return FormulaReader(text).read();
}

Status check_formula_type(const Formula& formula, DataType type, const std::string& name) {
  const bool is_int64 = type == DataType::kInt64;
  const bool possible =
      is_real_type(type) ||
      (is_int64 ? !formula.has_arithmetic && !formula.needs_reals : !formula.needs_reals);
  if (possible) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: {} is not possible; allowed: float16, bfloat16, float32{}",
                          type_name(type), name, formula.needs_reals ? "" : ", int8, int32"));
}

Status check_formula(const OperatorCall& call, std::size_t given, const std::string& name) {
  const auto row = find_operator(call.name);
  if (!row) return forward_error(row);
  const bool fixed = !(*row)->expression.empty();
  const std::string& text = fixed ? (*row)->expression : call.expression;
  const bool computes = (*row)->family == Family::kVector || (*row)->family == Family::kBroadcast;
  if (!computes || (text.empty() && !fixed)) return {};
  const auto formula = read_formula(text);
  if (!formula) return forward_error(formula);
  for (std::size_t i = given; i < formula->scalars.size() && !fixed; ++i) {
    if (!formula->scalars[i]) continue;
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("expression: it names a scalar that was not given: {}", kScalarNames[i]));
  }
  const auto type = parse_type(call.dtype);
  // An int64 is moved as two int32 there.
  if (!type || (*row)->name == "where") return {};
  return check_formula_type(*formula, *type, name);
}

}  // namespace npu::operators
