// SPDX-License-Identifier: Apache-2.0
// The AICPU program `tensors`: TensorWork on as many AICPUs as it is launched on, each of which
// takes a part of the elements.
#include <algorithm>

#include "firmware/program.hpp"
#include "firmware/tensors/numbers.hpp"
#include "npu/platform/aicpu_port.hpp"

namespace npu::firmware {
namespace {

using abi::TensorOperation;
using abi::TensorWork;
using platform::AicpuPort;

// Three-way: -1, 0, 1; 2: one of them is no number.
int order_of(const Number& a, const Number& b) {
  switch (a.form) {
    case Number::Form::kSigned:
      return a.whole < b.whole ? -1 : a.whole > b.whole;
    case Number::Form::kUnsigned:
      return a.natural < b.natural ? -1 : a.natural > b.natural;
    default:
      if (std::isnan(a.real) || std::isnan(b.real)) return 2;
      return a.real < b.real ? -1 : a.real > b.real;
  }
}

// Of a / b towards 0, or `floored`.
Number remainder(const Number& a, const Number& b, bool floored) {
  switch (a.form) {
    case Number::Form::kUnsigned:
      return Number::of(b.natural == 0 ? std::uint64_t{0} : a.natural % b.natural);
    case Number::Form::kSigned: {
      if (b.whole == 0 || b.whole == -1) return Number::of(std::int64_t{0});
      const std::int64_t rest = a.whole % b.whole;
      const bool other_sign = rest != 0 && (rest < 0) != (b.whole < 0);
      return Number::of(floored && other_sign ? rest + b.whole : rest);
    }
    default: {
      const double rest = std::fmod(a.real, b.real);
      const bool other_sign = rest != 0 && (rest < 0) != (b.real < 0);
      return Number::of(floored && other_sign ? rest + b.real : rest);
    }
  }
}

// By squares, counting around.
std::uint64_t whole_power(std::uint64_t base, std::uint64_t power, bool is_signed) {
  if (is_signed && static_cast<std::int64_t>(power) < 0) {
    if (base == 1) return 1;
    if (base == ~std::uint64_t{0}) return power % 2 == 0 ? 1 : base;
    return 0;
  }
  std::uint64_t result = 1;
  for (; power != 0; power /= 2) {
    if (power % 2 != 0) result *= base;
    base *= base;
  }
  return result;
}

double function_of(TensorOperation operation, double x) {
  switch (operation) {
    case TensorOperation::kExponential:
      return std::exp(x);
    case TensorOperation::kLogarithm:
      return std::log(x);
    case TensorOperation::kSquareRoot:
      return std::sqrt(x);
    case TensorOperation::kSine:
      return std::sin(x);
    case TensorOperation::kCosine:
      return std::cos(x);
    case TensorOperation::kTangent:
      return std::tan(x);
    case TensorOperation::kArcSine:
      return std::asin(x);
    case TensorOperation::kArcCosine:
      return std::acos(x);
    case TensorOperation::kArcTangent:
      return std::atan(x);
    case TensorOperation::kHyperbolicSine:
      return std::sinh(x);
    case TensorOperation::kHyperbolicCosine:
      return std::cosh(x);
    case TensorOperation::kHyperbolicTangent:
      return std::tanh(x);
    case TensorOperation::kArcHyperbolicSine:
      return std::asinh(x);
    case TensorOperation::kArcHyperbolicCosine:
      return std::acosh(x);
    default:
      return std::atanh(x);
  }
}

// Integers count around.
Number computed(TensorOperation operation, const Number& a, const Number& b) {
  const bool is_real = a.form == Number::Form::kReal;
  const bool is_signed = a.form == Number::Form::kSigned;
  const auto x = is_signed ? static_cast<std::uint64_t>(a.whole) : a.natural;
  const auto y = is_signed ? static_cast<std::uint64_t>(b.whole) : b.natural;
  const auto integer = [is_signed](std::uint64_t bits) {
    return is_signed ? Number::of(static_cast<std::int64_t>(bits)) : Number::of(bits);
  };
  switch (operation) {
    case TensorOperation::kAdd:
      return is_real ? Number::of(a.real + b.real) : integer(x + y);
    case TensorOperation::kSubtract:
      return is_real ? Number::of(a.real - b.real) : integer(x - y);
    case TensorOperation::kMultiply:
      return is_real ? Number::of(a.real * b.real) : integer(x * y);
    case TensorOperation::kDivide:
      if (is_real) return Number::of(a.real / b.real);
      if (y == 0) return integer(0);
      if (!is_signed) return integer(x / y);
      return y == ~std::uint64_t{0} ? integer(0 - x) : Number::of(std::int64_t{a.whole / b.whole});
    case TensorOperation::kMaximum:
    case TensorOperation::kMinimum: {
      const int order = order_of(a, b);
      if (order == 2) return std::isnan(a.real) ? a : b;
      return (order < 0) == (operation == TensorOperation::kMinimum) ? a : b;
    }
    case TensorOperation::kEqual:
      return Number::of(std::uint64_t{order_of(a, b) == 0});
    case TensorOperation::kGreater:
      return Number::of(std::uint64_t{order_of(a, b) == 1});
    case TensorOperation::kGreaterOrEqual:
      return Number::of(std::uint64_t{order_of(a, b) == 0 || order_of(a, b) == 1});
    case TensorOperation::kModulo:
    case TensorOperation::kRemainder:
      return remainder(a, b, operation == TensorOperation::kModulo);
    case TensorOperation::kPower:
      return is_real ? Number::of(std::pow(a.real, b.real)) : integer(whole_power(x, y, is_signed));
    case TensorOperation::kShiftLeft:
      return integer(y < 64 ? x << y : 0);
    case TensorOperation::kShiftRight:
      return integer(y < 64 ? x >> y : 0);
    default:
      return Number::of(function_of(operation, a.real));
  }
}

bool is_sound(const TensorWork& work) {
  const auto operation = static_cast<TensorOperation>(work.operation);
  const bool is_integer = !is_real(static_cast<TensorNumber>(work.operand));
  if (operation >= TensorOperation::kExponential && is_integer) return false;
  return operation <= TensorOperation::kArcHyperbolicTangent &&
         work.operand <= static_cast<std::uint8_t>(TensorNumber::kBool) &&
         work.into <= static_cast<std::uint8_t>(TensorNumber::kBool) &&
         work.axes <= abi::kTensorAxes;
}

class Elements {
 public:
  Elements(AicpuPort& port, const TensorWork& work)
      : port_(port),
        work_(work),
        operand_(static_cast<TensorNumber>(work.operand)),
        into_(static_cast<TensorNumber>(work.into)) {}

  void run() {
    std::uint64_t count = 1;
    for (unsigned i = 0; i < work_.axes; ++i) count *= work_.sides[i];
    const std::uint64_t part = (count + port_.threads() - 1) / port_.threads();
    const std::uint64_t begin = std::min(count, port_.thread() * part);
    const std::uint64_t end = std::min(count, begin + part);
    for (std::uint64_t i = begin; i < end; ++i) element(i);
  }

 private:
  void element(std::uint64_t index) {
    std::uint64_t a = 0, b = 0, rest = index;
    for (unsigned i = work_.axes; i-- > 0;) {
      const std::uint64_t at = rest % work_.sides[i];
      rest /= work_.sides[i];
      a += at * work_.a_strides[i];
      b += at * work_.b_strides[i];
    }
    const auto operation = static_cast<TensorOperation>(work_.operation);
    const Number left = load(work_.a, a);
    const Number result =
        operation == TensorOperation::kCast ? left : computed(operation, left, load(work_.b, b));
    const unsigned bytes = bytes_of(into_);
    port_.store(work_.result + index * bytes, bytes, bits_of(into_, result));
  }
  Number load(std::uint64_t address, std::uint64_t index) {
    const unsigned bytes = bytes_of(operand_);
    return number_of(operand_, port_.load(address + index * bytes, bytes));
  }

  AicpuPort& port_;
  const TensorWork& work_;
  const TensorNumber operand_, into_;
};

}  // namespace
}  // namespace npu::firmware

NPU_PROGRAM_ENTRY int npu_aicpu_main(npu::platform::AicpuPort& port) {
  using namespace npu::firmware;
  TensorWork work;
  port.read(port.arguments(), &work, sizeof work);
  if (!is_sound(work)) return 1;
  Elements(port, work).run();
  port.barrier();
  return 0;
}
