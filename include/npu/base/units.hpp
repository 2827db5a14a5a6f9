// SPDX-License-Identifier: Apache-2.0
// Types of quantities: lengths of time, points in time, sizes in bytes.
#pragma once

#include <cstdint>

namespace npu {

// A length of time. Unit: 1 ps. Range: +/- 106 days. Sums, differences and products saturate.
class Picoseconds {
 public:
  constexpr Picoseconds() = default;
  constexpr explicit Picoseconds(std::int64_t count) : count_(count) {}
  constexpr std::int64_t count() const { return count_; }
  // For reports only: models and driver compute in integers.
  constexpr double ns() const { return static_cast<double>(count_) / 1e3; }
  constexpr double us() const { return static_cast<double>(count_) / 1e6; }
  constexpr double seconds() const { return static_cast<double>(count_) / 1e12; }

  static constexpr Picoseconds max() { return Picoseconds(INT64_MAX); }

  constexpr Picoseconds& operator+=(Picoseconds other) { return *this = *this + other; }
  constexpr Picoseconds& operator-=(Picoseconds other) { return *this = *this - other; }
  friend constexpr Picoseconds operator+(Picoseconds a, Picoseconds b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a.count_, b.count_, &sum)) return limit(a.count_ < 0);
    return Picoseconds(sum);
  }
  friend constexpr Picoseconds operator-(Picoseconds a, Picoseconds b) {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(a.count_, b.count_, &difference)) return limit(a.count_ < 0);
    return Picoseconds(difference);
  }
  friend constexpr Picoseconds operator*(Picoseconds a, std::int64_t n) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a.count_, n, &product)) return limit((a.count_ < 0) != (n < 0));
    return Picoseconds(product);
  }
  friend constexpr Picoseconds operator*(std::int64_t n, Picoseconds a) { return a * n; }
  friend constexpr std::int64_t operator/(Picoseconds a, Picoseconds b) {
    return a.count_ / b.count_;
  }
  friend constexpr Picoseconds operator/(Picoseconds a, std::int64_t n) {
    return Picoseconds(a.count_ / n);
  }
  friend constexpr bool operator==(Picoseconds a, Picoseconds b) { return a.count_ == b.count_; }
  friend constexpr bool operator!=(Picoseconds a, Picoseconds b) { return a.count_ != b.count_; }
  friend constexpr bool operator<(Picoseconds a, Picoseconds b) { return a.count_ < b.count_; }
  friend constexpr bool operator<=(Picoseconds a, Picoseconds b) { return a.count_ <= b.count_; }
  friend constexpr bool operator>(Picoseconds a, Picoseconds b) { return a.count_ > b.count_; }
  friend constexpr bool operator>=(Picoseconds a, Picoseconds b) { return a.count_ >= b.count_; }

 private:
  static constexpr Picoseconds limit(bool lower) {
    return Picoseconds(lower ? INT64_MIN : INT64_MAX);
  }

  std::int64_t count_ = 0;
};

// A point in time of a clock (platform::Clock), as the time since its zero: the power-up of a
// simulated machine. Range as of Picoseconds; a later deadline is never(). There is no implicit
// conversion between the two types: `wait(ticket, policy, 10_ms)` would mean 10 ms after power-up.
class Instant {
 public:
  constexpr Instant() = default;  // power-up
  constexpr explicit Instant(Picoseconds since_power_up) : since_(since_power_up) {}
  constexpr Picoseconds since_power_up() const { return since_; }
  constexpr std::int64_t count() const { return since_.count(); }  // picoseconds
  constexpr double us() const { return since_.us(); }

  static constexpr Instant never() { return Instant(Picoseconds::max()); }

  constexpr Instant& operator+=(Picoseconds time) { return *this = *this + time; }
  constexpr Instant& operator-=(Picoseconds time) { return *this = *this - time; }
  friend constexpr Instant operator+(Instant a, Picoseconds b) { return Instant(a.since_ + b); }
  friend constexpr Instant operator-(Instant a, Picoseconds b) { return Instant(a.since_ - b); }
  friend constexpr Picoseconds operator-(Instant a, Instant b) { return a.since_ - b.since_; }
  friend constexpr bool operator==(Instant a, Instant b) { return a.since_ == b.since_; }
  friend constexpr bool operator!=(Instant a, Instant b) { return a.since_ != b.since_; }
  friend constexpr bool operator<(Instant a, Instant b) { return a.since_ < b.since_; }
  friend constexpr bool operator<=(Instant a, Instant b) { return a.since_ <= b.since_; }
  friend constexpr bool operator>(Instant a, Instant b) { return a.since_ > b.since_; }
  friend constexpr bool operator>=(Instant a, Instant b) { return a.since_ >= b.since_; }

 private:
  Picoseconds since_;
};

// Sizes and device-local offsets. Unit: 1 byte.
using Bytes = std::uint64_t;

inline namespace literals {
constexpr Picoseconds operator""_ps(unsigned long long n) {
  return Picoseconds(static_cast<std::int64_t>(n));
}
constexpr Picoseconds operator""_ns(unsigned long long n) {
  return Picoseconds(static_cast<std::int64_t>(n) * 1'000);
}
constexpr Picoseconds operator""_us(unsigned long long n) {
  return Picoseconds(static_cast<std::int64_t>(n) * 1'000'000);
}
constexpr Picoseconds operator""_ms(unsigned long long n) {
  return Picoseconds(static_cast<std::int64_t>(n) * 1'000'000'000);
}
constexpr Picoseconds operator""_s(unsigned long long n) {
  return Picoseconds(static_cast<std::int64_t>(n) * 1'000'000'000'000);
}
constexpr Bytes operator""_KiB(unsigned long long n) {
  return Bytes{n} << 10;
}
constexpr Bytes operator""_MiB(unsigned long long n) {
  return Bytes{n} << 20;
}
constexpr Bytes operator""_GiB(unsigned long long n) {
  return Bytes{n} << 30;
}
}  // namespace literals

}  // namespace npu
