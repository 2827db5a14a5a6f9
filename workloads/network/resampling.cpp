// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/resampling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace npu::network {
namespace {

// Of a new element, in the old axis.
std::optional<double> place_of(const Resampling& how, const ResampledAxis& axis, double at) {
  // What the standard calls the length is not rounded.
  const auto from = static_cast<double>(axis.from), to = axis.scale * from;
  const double middle = (at + 0.5) / axis.scale - 0.5;
  if (how.place == "half_pixel") return middle;
  if (how.place == "pytorch_half_pixel") return to > 1 ? middle : 0;
  if (how.place == "asymmetric") return at / axis.scale;
  if (how.place == "align_corners") return to == 1 ? 0 : at * (from - 1) / (to - 1);
  if (how.place == "tf_half_pixel_for_nn") return (at + 0.5) / axis.scale;
  if (how.place == "half_pixel_symmetric") {
    return from / 2 * (1 - static_cast<double>(axis.to) / to) + middle;
  }
  if (how.place != "tf_crop_and_resize") return {};
  if (to <= 1) return 0.5 * (axis.begin + axis.end) * (from - 1);
  return axis.begin * (from - 1) + at * (axis.end - axis.begin) * (from - 1) / (to - 1);
}

std::optional<double> nearest_to(const std::string& how, double place) {
  if (how == "round_prefer_floor") return std::ceil(place - 0.5);
  if (how == "round_prefer_ceil") return std::floor(place + 0.5);
  if (how == "floor") return std::floor(place);
  if (how == "ceil") return std::ceil(place);
  return {};
}

// Of the elements before, at, and behind a place that is `rest` behind one.
std::array<double, 4> cubic(double rest, double a) {
  const auto far = [a](double t) { return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a; };
  const auto near = [a](double t) { return ((a + 2) * t - (a + 3)) * t * t + 1; };
  return {far(rest + 1), near(rest), near(1 - rest), far(2 - rest)};
}

tl::unexpected<Error> no_mode(const Resampling& how) {
  return fail(ErrorCode::kUnsupported,
              "a size by " + how.mode + ", " + how.place + ", " + how.nearest);
}

}  // namespace

Result<std::vector<std::int64_t>> nearest_of(const Resampling& how, const ResampledAxis& axis) {
  std::vector<std::int64_t> all;
  for (std::uint64_t i = 0; i < axis.to; ++i) {
    const auto place = place_of(how, axis, static_cast<double>(i));
    const auto near = place ? nearest_to(how.nearest, *place) : place;
    if (!near) return no_mode(how);
    all.push_back(std::clamp<std::int64_t>(static_cast<std::int64_t>(*near), 0,
                                           static_cast<std::int64_t>(axis.from) - 1));
  }
  return all;
}

Result<Resampled> resample(const Resampling& how, const ResampledAxis& axis) {
  const bool is_linear = how.mode == "linear", is_cubic = how.mode == "cubic";
  Resampled made;
  made.weights.resize(axis.from * axis.to);
  const auto last = static_cast<std::int64_t>(axis.from) - 1;
  for (std::uint64_t i = 0; i < axis.to; ++i) {
    const auto place = place_of(how, axis, static_cast<double>(i));
    if (!place || (!is_linear && !is_cubic)) return no_mode(how);
    made.inside.push_back(*place >= 0 && *place <= static_cast<double>(last));
    const double whole = std::floor(*place), rest = *place - whole;
    const auto parts =
        is_cubic ? cubic(rest, how.cubic_a) : std::array<double, 4>{0, 1 - rest, rest, 0};
    double sum = 0;
    for (std::int64_t j = 0; j < 4; ++j) {
      const std::int64_t at = static_cast<std::int64_t>(whole) - 1 + j;
      if (!how.exclude_outside || (at >= 0 && at <= last))
        sum += parts[static_cast<std::size_t>(j)];
    }
    for (std::int64_t j = 0; j < 4; ++j) {
      const std::int64_t at = static_cast<std::int64_t>(whole) - 1 + j;
      if (how.exclude_outside && (at < 0 || at > last)) continue;
      const auto kept = static_cast<std::uint64_t>(std::clamp<std::int64_t>(at, 0, last));
      made.weights[i * axis.from + kept] +=
          static_cast<float>(parts[static_cast<std::size_t>(j)] / sum);
    }
  }
  return made;
}

}  // namespace npu::network
