// SPDX-License-Identifier: Apache-2.0
#include "workloads/task_graph/expression.hpp"

#include <array>
#include <optional>

#include "workloads/task_graph/expression_arithmetic.hpp"

namespace npu::workloads {
namespace {

using Code = Expression::Code;
using Step = Expression::Step;

constexpr std::size_t kLongest = 400;  // characters
constexpr unsigned kDeepest = 24;      // parentheses and signs inside each other
constexpr std::size_t kStack = 2 * kDeepest + 8;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

struct Operator {
  std::string_view text;
  Code code;
};
// The longer ones first.
constexpr Operator kComparisons[] = {{"==", Code::kEqual},     {"!=", Code::kNotEqual},
                                     {"<=", Code::kLessEqual}, {">=", Code::kGreaterEqual},
                                     {"<", Code::kLess},       {">", Code::kGreater}};
constexpr Operator kSums[] = {{"+", Code::kAdd}, {"-", Code::kSub}};
constexpr Operator kProducts[] = {{"*", Code::kMul}, {"/", Code::kDiv}, {"%", Code::kMod}};

class Parser {
 public:
  Parser(std::string_view text, const std::vector<std::string>& names)
      : text_(text), names_(names) {}

  tl::expected<std::vector<Step>, ExpressionError> run() {
    if (text_.size() > kLongest) {
      refuse(0, "longer than " + std::to_string(kLongest) + " characters");
    }
    if (!error_) comparison();
    skip_blanks();
    if (!error_ && at_ != text_.size()) refuse(at_, "an operator is expected here");
    if (error_) return tl::unexpected(*error_);
    return std::move(steps_);
  }

 private:
  void refuse(std::size_t offset, std::string problem) {
    if (!error_) error_ = ExpressionError{offset, std::move(problem)};
  }
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  template <std::size_t N>
  std::optional<Step> take(const Operator (&operators)[N]) {
    skip_blanks();
    for (const auto& candidate : operators) {
      if (text_.substr(at_, candidate.text.size()) != candidate.text) continue;
      const Step step{candidate.code, 0, at_};
      at_ += candidate.text.size();
      return step;
    }
    return std::nullopt;
  }

  void comparison() {
    sum();
    while (!error_) {
      const auto step = take(kComparisons);
      if (!step) return;
      sum();
      steps_.push_back(*step);
    }
  }
  void sum() {
    product();
    while (!error_) {
      const auto step = take(kSums);
      if (!step) return;
      product();
      steps_.push_back(*step);
    }
  }
  void product() {
    operand();
    while (!error_) {
      const auto step = take(kProducts);
      if (!step) return;
      operand();
      steps_.push_back(*step);
    }
  }
  void operand() {
    skip_blanks();
    const std::size_t begin = at_;
    if (at_ == text_.size()) return refuse(at_, "a number or a name is expected here");
    const char c = text_[at_];
    if (is_digit(c)) return number();
    if (is_letter(c)) return name();
    if (c != '-' && c != '(') return refuse(at_, "a number or a name is expected here");
    if (++depth_ > kDeepest) return refuse(at_, "too many parentheses inside each other");
    ++at_;
    if (c == '-') {
      operand();
      steps_.push_back({Code::kNegate, 0, begin});
    } else {
      comparison();
      skip_blanks();
      if (!error_ && (at_ == text_.size() || text_[at_] != ')')) refuse(begin, "is never closed");
      ++at_;
    }
    --depth_;
  }
  void number() {
    const std::size_t begin = at_;
    std::int64_t value = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, text_[at_] - '0', &value)) {
        return refuse(begin, "the number is too large");
      }
    }
    if (at_ < text_.size() && is_letter(text_[at_])) return refuse(begin, "is no number");
    steps_.push_back({Code::kNumber, value, begin});
  }
  void name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const auto found = text_.substr(begin, at_ - begin);
    for (std::size_t i = names_.size(); i-- > 0;) {
      if (names_[i] != found) continue;
      steps_.push_back({Code::kName, static_cast<std::int64_t>(i), begin});
      return;
    }
    refuse(begin, "nothing is called '" + std::string(found) + "' here");
  }

  std::string_view text_;
  const std::vector<std::string>& names_;
  std::size_t at_ = 0;
  unsigned depth_ = 0;
  std::vector<Step> steps_;
  std::optional<ExpressionError> error_;
};

}  // namespace

Expression::Expression(std::int64_t constant) : steps_{{Code::kNumber, constant, 0}} {}

tl::expected<Expression, ExpressionError> Expression::parse(std::string_view text,
                                                            const std::vector<std::string>& names) {
  auto steps = Parser(text, names).run();
  if (!steps) return tl::unexpected(steps.error());
  Expression expression;
  expression.steps_ = std::move(*steps);
  return expression;
}

tl::expected<std::int64_t, ExpressionError> Expression::evaluate(
    const std::vector<std::int64_t>& values) const {
  // Left-associative operators hold one value each; a level of parentheses adds three at most.
  std::array<std::int64_t, 2 * kStack> stack{};
  std::size_t top = 0;
  for (const Step& step : steps_) {
    if (step.code == Code::kNumber) {
      stack[top++] = step.value;
    } else if (step.code == Code::kName) {
      stack[top++] = values[static_cast<std::size_t>(step.value)];
    } else if (step.code == Code::kNegate) {
      std::int64_t& operand = stack[top - 1];
      if (__builtin_sub_overflow(std::int64_t{0}, operand, &operand)) {
        return tl::unexpected(ExpressionError{step.offset, "the result is too large"});
      }
    } else {
      const std::int64_t b = stack[--top];
      if (b == 0 && (step.code == Code::kDiv || step.code == Code::kMod)) {
        return tl::unexpected(ExpressionError{step.offset, "division by zero"});
      }
      if (compute(step.code, stack[top - 1], b, stack[top - 1])) {
        return tl::unexpected(ExpressionError{step.offset, "the result is too large"});
      }
    }
  }
  return stack[0];
}

}  // namespace npu::workloads
