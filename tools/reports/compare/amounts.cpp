// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/compare/amounts.hpp"

#include <algorithm>

namespace npu::reports {
namespace {

__extension__ using Wide = __int128;

Wide scaled(Number number, unsigned decimals) {
  Wide value = number.value();
  for (unsigned i = number.decimals(); i < decimals; ++i) value *= 10;
  return value;
}

Wide magnitude(Wide value) {
  return value < 0 ? -value : value;
}

std::int64_t clamped(Wide value) {
  return static_cast<std::int64_t>(std::clamp<Wide>(value, INT64_MIN + 1, INT64_MAX));
}

}  // namespace

Number difference(Number from, Number to) {
  unsigned decimals = std::max(from.decimals(), to.decimals());
  Wide apart = scaled(to, decimals) - scaled(from, decimals);
  // Of what is too large for a number the last digits go, not the first.
  for (; decimals > 0 && clamped(apart) != apart; --decimals) apart /= 10;
  return Number::scaled(clamped(apart), decimals);
}

bool exceeds(Number base, Number now, const Tolerance& tolerance) {
  const unsigned amount_decimals = tolerance.percent ? 0 : tolerance.amount.decimals();
  const unsigned decimals = std::max({base.decimals(), now.decimals(), amount_decimals});
  const Wide apart = magnitude(scaled(now, decimals) - scaled(base, decimals));
  if (!tolerance.percent) return apart > scaled(tolerance.amount, decimals);
  Wide hundred = 100;
  for (unsigned i = 0; i < tolerance.amount.decimals(); ++i) hundred *= 10;
  // Below 2^94 * 10^5 and 2^93 * 10^9: parse_threshold() bounds percentages.
  return apart * hundred > magnitude(scaled(base, decimals)) * tolerance.amount.value();
}

std::int64_t share(Number base, Number now) {
  const unsigned decimals = std::max(base.decimals(), now.decimals());
  const Wide from = magnitude(scaled(base, decimals));
  const Wide apart = magnitude(scaled(now, decimals) - scaled(base, decimals));
  if (from == 0) return INT64_MAX;
  return clamped((apart * 10'000 + from / 2) / from);
}

std::string signed_text(Number number) {
  return (number.value() > 0 ? "+" : "") + number.text();
}

}  // namespace npu::reports
