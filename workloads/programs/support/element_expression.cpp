// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/element_expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>

#include "npu/base/shortened.hpp"

namespace npu::workloads {

struct ElementExpression::Node {
  std::function<Rounded(const ElementInputs& element, const std::vector<Rounded>& operands)> apply;
  std::vector<std::shared_ptr<const Node>> operands;
  bool whole = false;  // an int of C++, whose quotients are

  Rounded of(const ElementInputs& element) const {
    std::vector<Rounded> values;
    values.reserve(operands.size());
    for (const auto& operand : operands) values.push_back(operand->of(element));
    return apply(element, values);
  }
};

namespace {

using Node = ElementExpression::Node;
using NodePointer = std::shared_ptr<const Node>;
using Values = std::vector<Rounded>;

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr double kOfFunction = 8;     // roundings of a function's own
constexpr double kOfActivation = 40;  // of one that is several operations

Rounded rounded(double value, double error, double unit, double roundings = 1) {
  return {value, error + roundings * unit * std::abs(value)};
}

Rounded product(const Rounded& a, const Rounded& b, double unit) {
  const double error =
      std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error;
  return rounded(a.value * b.value, error, unit);
}

Rounded quotient(const Rounded& a, const Rounded& b, double unit) {
  const double value = a.value / b.value, room = std::abs(b.value) - b.error;
  const double error = room > 0 ? (a.error + std::abs(value) * b.error) / room : kUnbounded;
  return rounded(value, error, unit, 2);
}

// `slope`: of the function at most, near its argument.
Rounded function(double value, const Rounded& x, double slope, double unit,
                 double roundings = kOfFunction) {
  const double error = x.error == 0 ? 0 : slope * x.error;
  return rounded(value, error + unit * std::min(std::abs(value), 1.0), unit, roundings);
}

// Of what is not exact the next one is possible as well.
Rounded whole(double value, const Rounded& x) {
  return {value, x.error == 0 ? 0 : x.error + 1};
}

struct FunctionRow {
  std::string_view name;
  Rounded (*of)(const Rounded& x, double unit);
};
constexpr FunctionRow kFunctions[] = {
    {"exp",
     [](const Rounded& x, double unit) {
       // The argument is scaled before: an error that grows with it.
       const double value = std::exp(x.value);
       return function(value, x, std::exp(x.value + x.error), unit,
                       kOfFunction + std::abs(x.value));
     }},
    {"ln",
     [](const Rounded& x, double unit) {
       const double room = x.value - x.error;
       Rounded result = function(std::log(x.value), x, room > 0 ? 1 / room : kUnbounded, unit);
       result.error += kOfFunction * unit;
       return result;
     }},
    {"sqrt",
     [](const Rounded& x, double unit) {
       const double value = std::sqrt(x.value);
       return function(value, x, value > 0 ? 1 / value : kUnbounded, unit);
     }},
    {"rsqrt",
     [](const Rounded& x, double unit) {
       const double value = 1 / std::sqrt(x.value);
       return function(value, x, value * value * value, unit);
     }},
    {"reciprocal",
     [](const Rounded& x, double unit) {
       Rounded result = quotient({1, 0}, x, unit);
       result.error += kOfFunction * unit * std::abs(result.value);
       return result;
     }},
    {"abs",
     [](const Rounded& x, double) {
       return Rounded{std::abs(x.value), x.error};
     }},
    {"relu",
     [](const Rounded& x, double) {
       return Rounded{std::max(x.value, 0.0), x.error};
     }},
    {"rint", [](const Rounded& x, double) { return whole(std::nearbyint(x.value), x); }},
    {"floor", [](const Rounded& x, double) { return whole(std::floor(x.value), x); }},
    {"ceil", [](const Rounded& x, double) { return whole(std::ceil(x.value), x); }},
    {"trunc", [](const Rounded& x, double) { return whole(std::trunc(x.value), x); }},
    {"round", [](const Rounded& x, double) { return whole(std::round(x.value), x); }},
    {"erf", [](const Rounded& x,
               double unit) { return function(std::erf(x.value), x, 1.2, unit, kOfActivation); }},
    {"tanh", [](const Rounded& x,
                double unit) { return function(std::tanh(x.value), x, 1, unit, kOfActivation); }},
    {"sigmoid",
     [](const Rounded& x, double unit) {
       return function(1 / (1 + std::exp(-x.value)), x, 0.25, unit, kOfActivation);
     }},
    {"silu",
     [](const Rounded& x, double unit) {
       return function(x.value / (1 + std::exp(-x.value)), x, 1.2, unit, kOfActivation);
     }},
    {"gelu",
     [](const Rounded& x, double unit) {
       const double inner =
           std::sqrt(8 / M_PI) * (x.value + 0.044715 * x.value * x.value * x.value);
       return function(x.value / (1 + std::exp(-inner)), x, 1.2, unit, kOfActivation);
     }},
    {"mish", [](const Rounded& x, double unit) {
       return function(x.value * std::tanh(std::log1p(std::exp(x.value))), x, 1.2, unit,
                       kOfActivation);
     }}};

struct Comparison {
  std::string_view sign;
  bool (*holds)(double a, double b);
};
// Longer ones first.
constexpr Comparison kComparisons[] = {{"<=", [](double a, double b) { return a <= b; }},
                                       {">=", [](double a, double b) { return a >= b; }},
                                       {"==", [](double a, double b) { return a == b; }},
                                       {"!=", [](double a, double b) { return a != b; }},
                                       {"<", [](double a, double b) { return a < b; }},
                                       {">", [](double a, double b) { return a > b; }}};

class Parser {
 public:
  Parser(const std::string& text, std::array<bool, 4>& uses) : text_(text), uses_(uses) {}

  Result<NodePointer> whole() {
    auto node = sum();
    if (!node) return node;
    space();
    return at_ == text_.size() ? node : refuse("its end");
  }

 private:
  using Apply = decltype(Node::apply);
  static NodePointer make(Apply apply, std::vector<NodePointer> operands = {}, bool whole = false) {
    return std::make_shared<const Node>(Node{std::move(apply), std::move(operands), whole});
  }
  static bool are_whole(const NodePointer& a, const NodePointer& b) { return a->whole && b->whole; }

  void space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool skip(std::string_view what) {
    space();
    if (text_.compare(at_, what.size(), what) != 0) return false;
    at_ += what.size();
    return true;
  }
  tl::unexpected<Error> refuse(const std::string& wanted) {
    space();
    const auto found = at_ == text_.size() ? "nothing" : "'" + shortened(text_.substr(at_)) + "'";
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("expression: found {}; wanted is {}", found, wanted));
  }

  Result<NodePointer> sum() {
    auto left = term();
    while (left) {
      const double sign = skip("+") ? 1 : skip("-") ? -1 : 0;
      if (sign == 0) break;
      auto right = term();
      if (!right) return right;
      left = make(
          [sign](const ElementInputs& element, const Values& of) {
            return rounded(of[0].value + sign * of[1].value, of[0].error + of[1].error,
                           element.unit);
          },
          {*left, *right}, are_whole(*left, *right));
    }
    return left;
  }

  Result<NodePointer> term() {
    auto left = factor();
    while (left) {
      const bool divides = skip("/");
      if (!divides && !skip("*")) break;
      auto right = factor();
      if (!right) return right;
      const bool whole = are_whole(*left, *right);
      left = make(
          [divides, whole](const ElementInputs& element, const Values& of) {
            if (divides && whole) return Rounded{std::trunc(of[0].value / of[1].value), 0};
            return divides ? quotient(of[0], of[1], element.unit)
                           : product(of[0], of[1], element.unit);
          },
          {*left, *right}, whole);
    }
    return left;
  }

  Result<NodePointer> factor() {
    if (++depth_ > kDeepest) return refuse("an expression that is less deep");
    auto node = skip("-") ? negative() : skip("+") ? factor() : primary();
    --depth_;
    return node;
  }
  Result<NodePointer> negative() {
    auto node = factor();
    if (!node) return node;
    return make(
        [](const ElementInputs&, const Values& of) {
          return Rounded{-of[0].value, of[0].error};
        },
        {*node}, (*node)->whole);
  }

  Result<NodePointer> primary() {
    if (skip("(")) {
      auto node = sum();
      if (!node || skip(")")) return node;
      return refuse("')'");
    }
    space();
    const char first = at_ < text_.size() ? text_[at_] : '\0';
    if (std::isdigit(static_cast<unsigned char>(first)) != 0 || first == '.') return number();
    return named();
  }

  Result<NodePointer> number() {
    std::size_t used = 0;
    double value = 0;
    try {
      value = std::stod(text_.substr(at_), &used);
    } catch (const std::exception&) {
      return refuse("a number");
    }
    const bool whole = text_.find_first_not_of("0123456789", at_) >= at_ + used;
    at_ += used;
    if (at_ < text_.size() && (text_[at_] == 'f' || text_[at_] == 'F')) ++at_;
    return make(
        [value](const ElementInputs&, const Values&) {
          return Rounded{value, 0};
        },
        {}, whole);
  }

  Result<NodePointer> named() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    const std::string name = text_.substr(begin, at_ - begin);
    constexpr std::array<std::string_view, 4> kInputs{"a", "b", "c", "d"};
    constexpr std::array<std::string_view, 4> kScalars{"s", "s1", "s2", "s3"};
    for (std::size_t i = 0; i < kInputs.size(); ++i) {
      if (name == kInputs[i]) {
        uses_[i] = true;
        return make([i](const ElementInputs& element, const Values&) {
          return Rounded{element.inputs[i], 0};
        });
      }
      if (name == kScalars[i]) {
        return make([i](const ElementInputs& element, const Values&) {
          return Rounded{element.scalars[i], 0};
        });
      }
    }
    if (name == "where") return choice();
    if (name == "min" || name == "max") return extreme(name == "max");
    if (name == "pow") return power();
    for (const auto& row : kFunctions) {
      if (name != row.name) continue;
      auto operand = arguments(1);
      if (!operand) return forward_error(operand);
      return make([of = row.of](const ElementInputs& element,
                                const Values& x) { return of(x[0], element.unit); },
                  std::move(*operand));
    }
    at_ = begin;
    return refuse("a to d, s to s3, a number or a function (docs/writing-an-operator.md)");
  }

  // "(x, y)"
  Result<std::vector<NodePointer>> arguments(std::size_t count) {
    std::vector<NodePointer> all;
    for (std::size_t i = 0; i < count; ++i) {
      if (!skip(i == 0 ? "(" : ",")) return refuse(i == 0 ? "'('" : "','");
      auto node = sum();
      if (!node) return forward_error(node);
      all.push_back(std::move(*node));
    }
    if (!skip(")")) return refuse("')'");
    return all;
  }

  Result<NodePointer> extreme(bool largest) {
    auto operands = arguments(2);
    if (!operands) return forward_error(operands);
    return make(
        [largest](const ElementInputs&, const Values& of) {
          if (std::isnan(of[0].value) || std::isnan(of[1].value)) {
            return Rounded{std::numeric_limits<double>::quiet_NaN(), kUnbounded};
          }
          const double value =
              largest ? std::max(of[0].value, of[1].value) : std::min(of[0].value, of[1].value);
          return Rounded{value, std::max(of[0].error, of[1].error)};
        },
        std::move(*operands));
  }

  // By a logarithm and an exponential, of exact operands.
  Result<NodePointer> power() {
    auto operands = arguments(2);
    if (!operands) return forward_error(operands);
    return make(
        [](const ElementInputs& element, const Values& of) {
          const double value = std::pow(of[0].value, of[1].value);
          if (of[0].error != 0 || of[1].error != 0) return Rounded{value, kUnbounded};
          const double power = std::abs(of[1].value * std::log(std::abs(of[0].value)));
          return rounded(value, 0, element.unit, kOfActivation + (value == 0 ? 0 : power));
        },
        std::move(*operands));
  }

  Result<NodePointer> choice() {
    if (!skip("(")) return refuse("'('");
    auto left = sum();
    if (!left) return left;
    const auto* const comparison = std::find_if(std::begin(kComparisons), std::end(kComparisons),
                                                [&](const auto& row) { return skip(row.sign); });
    if (comparison == std::end(kComparisons)) return refuse("a comparison");
    std::vector<NodePointer> operands{*left};
    for (const char* before : {"", ",", ","}) {
      if (!skip(before)) return refuse("','");
      auto node = sum();
      if (!node) return node;
      operands.push_back(std::move(*node));
    }
    if (!skip(")")) return refuse("')'");
    return make(
        [holds = comparison->holds](const ElementInputs&, const Values& of) {
          const double doubt = of[0].error + of[1].error;
          const bool sure = doubt == 0 || std::abs(of[0].value - of[1].value) > doubt;
          Rounded chosen = holds(of[0].value, of[1].value) ? of[2] : of[3];
          if (!sure && !(std::isfinite(of[2].value) && std::isfinite(of[3].value))) {
            return Rounded{0, kUnbounded};
          }
          if (!sure) {
            chosen.error = std::max(of[2].error, of[3].error) + std::abs(of[2].value - of[3].value);
          }
          return chosen;
        },
        std::move(operands));
  }

  static constexpr int kDeepest = 200;
  const std::string& text_;
  std::array<bool, 4>& uses_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<ElementExpression> ElementExpression::parse(const std::string& text) {
  ElementExpression expression;
  auto root = Parser(text, expression.uses_).whole();
  if (!root) return forward_error(root);
  expression.root_ = std::move(*root);
  return expression;
}

Rounded ElementExpression::of(const ElementInputs& element) const {
  return root_->of(element);
}

}  // namespace npu::workloads
