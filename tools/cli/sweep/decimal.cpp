// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/decimal.hpp"

#include <algorithm>

namespace npu::sweep {
namespace {

constexpr std::string_view kDigits = "0123456789";

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos;
}

// Without sign, leading zeros and trailing zeros of the fraction.
struct Magnitude {
  std::string_view whole, fraction;

  explicit Magnitude(std::string_view text) {
    const std::size_t point = std::min(text.find('.'), text.size());
    whole = text.substr(0, point);
    whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size()));
    if (point < text.size()) fraction = text.substr(point + 1);
    const std::size_t last = fraction.find_last_not_of('0');
    fraction = fraction.substr(0, last == std::string_view::npos ? 0 : last + 1);
  }
  bool zero() const { return whole.empty() && fraction.empty(); }
  int compare(const Magnitude& other) const {
    if (whole.size() != other.whole.size()) return whole.size() < other.whole.size() ? -1 : 1;
    if (const int order = whole.compare(other.whole); order != 0) return order;
    return fraction.compare(other.fraction);
  }
};

}  // namespace

bool is_decimal(std::string_view text) {
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return is_digits(text);
  return is_digits(text.substr(0, point)) && is_digits(text.substr(point + 1));
}

int compare_decimals(std::string_view a, std::string_view b) {
  const bool minus_a = a.front() == '-', minus_b = b.front() == '-';
  const Magnitude left(a.substr(minus_a ? 1 : 0)), right(b.substr(minus_b ? 1 : 0));
  const bool below_a = minus_a && !left.zero(), below_b = minus_b && !right.zero();
  if (below_a != below_b) return below_a ? -1 : 1;
  return below_a ? right.compare(left) : left.compare(right);
}

}  // namespace npu::sweep
