// SPDX-License-Identifier: Apache-2.0
// Double precision that knows how far fp32 may be from it: each operation adds its rounding to what
// its operands' errors make of it.
#pragma once

#include <cmath>

namespace npu::test {

struct Bounded {
  double value = 0, error = 0;
  Bounded(double exact) : value(exact) {}  // NOLINT: numbers are exact
  Bounded(double v, double propagated, double roundings) : value(v) {
    constexpr double kUnit = 0x1p-24, kSmallest = 0x1p-150;
    error = propagated + roundings * (kUnit * (std::fabs(v) + propagated) + kSmallest);
    if (!std::isfinite(v)) error = 0;
  }
};

inline Bounded operator+(const Bounded& a, const Bounded& b) {
  return {a.value + b.value, a.error + b.error, 1};
}
inline Bounded operator-(const Bounded& a, const Bounded& b) {
  return {a.value - b.value, a.error + b.error, 1};
}
inline Bounded operator-(const Bounded& a) {
  return {-a.value, a.error, 0};
}
inline Bounded operator*(const Bounded& a, const Bounded& b) {
  return {a.value * b.value,
          std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error, 1};
}
inline Bounded operator/(const Bounded& a, const Bounded& b) {
  const double quotient = a.value / b.value;
  return {quotient, (a.error + std::fabs(quotient) * b.error) / (std::fabs(b.value) - b.error), 1};
}
// Functions err by two units at most.
inline Bounded exp(const Bounded& a) {
  return {std::exp(a.value), std::exp(a.value) * std::expm1(a.error), 2};
}
inline Bounded ln(const Bounded& a) {
  return {std::log(a.value), a.error / (a.value - a.error), 2};
}
inline Bounded sqrt(const Bounded& a) {
  return {std::sqrt(a.value), a.value == 0 ? 0 : a.error / std::sqrt(a.value), 2};
}
inline Bounded reciprocal(const Bounded& a) {
  return Bounded(1) / a;
}
inline Bounded rsqrt(const Bounded& a) {
  return Bounded(1) / sqrt(a);
}
inline Bounded abs(const Bounded& a) {
  return {std::fabs(a.value), a.error, 0};
}
inline Bounded max(const Bounded& a, const Bounded& b) {
  const bool none = std::isnan(a.value) || std::isnan(b.value);
  return {none ? std::nan("") : std::fmax(a.value, b.value), std::fmax(a.error, b.error), 0};
}
inline Bounded min(const Bounded& a, const Bounded& b) {
  return -max(-a, -b);
}
inline Bounded relu(const Bounded& a) {
  return std::isnan(a.value) ? a : max(a, 0.0);
}
inline Bounded sigmoid(const Bounded& a) {
  return Bounded(1) / (exp(-a) + 1.0);
}
inline Bounded silu(const Bounded& a) {
  return a / (exp(-a) + 1.0);
}

}  // namespace npu::test
