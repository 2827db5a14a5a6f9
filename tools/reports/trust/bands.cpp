// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/trust/bands.hpp"

#include <algorithm>
#include <cmath>

namespace npu::reports {
namespace {

constexpr double kDraw = 2;         // rows that the wider kind counts for
constexpr double kLeast = 0.02;     // of a spread: no kind is surer than 2 %
constexpr double kNormal = 1.4826;  // from the median of distances to a standard deviation
constexpr double kHeld = 0.9;
constexpr int kUnknown = -1;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

Bands::Bands(const std::vector<KnownError>& errors) {
  for (const auto& error : errors) {
    skus_[error.sku].push_back(
        {number_of(error.operation), number_of(error.bound), error.log_ratio, error.use == "fit"});
  }
}

int Bands::number_of(const std::string& name) {
  return names_.emplace(name, static_cast<int>(names_.size())).first->second;
}

int Bands::number_of(const std::string& name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? kUnknown : found->second;
}

Bands::Estimate Bands::estimate(const Rows& rows, int operation, int bound) {
  std::vector<double> all;
  for (const auto& row : rows) all.push_back(row.ratio);
  const double centre = median(all);
  for (auto& each : all) each = std::abs(each - centre);
  Estimate result{centre, std::max(kNormal * median(all), kLeast)};
  const auto narrow = [&](auto&& belongs) {
    double count = 0, sum = 0, squares = 0;
    for (const auto& row : rows) {
      if (!belongs(row)) continue;
      ++count;
      sum += row.ratio;
      squares += row.ratio * row.ratio;
    }
    if (count == 0) return;
    const double about_mean = std::max(squares - sum * sum / count, 0.0);
    const double variance =
        (about_mean + kDraw * result.spread * result.spread) / (count - 1 + kDraw);
    result = {(sum + kDraw * result.centre) / (count + kDraw),
              std::max(std::sqrt(variance), kLeast)};
  };
  narrow([&](const Row& row) { return row.bound == bound; });
  narrow([&](const Row& row) { return row.operation == operation; });
  narrow([&](const Row& row) { return row.operation == operation && row.bound == bound; });
  return result;
}

// How many spreads a row is from where others expect it.
double Bands::score(const Rows& rows, const Row& row) {
  const auto expected = estimate(rows, row.operation, row.bound);
  return std::abs(row.ratio - expected.centre) / expected.spread;
}

Bands::Rows Bands::without(const Rows& rows, std::size_t row, LeftOut what) {
  Rows left;
  left.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool out = what == LeftOut::kRow ? i == row : rows[i].operation == rows[row].operation;
    if (!out) left.push_back(rows[i]);
  }
  return left;
}

// Spreads within which nine tenths of the rows lie, each left out in turn.
double Bands::width(const Rows& rows, LeftOut what) {
  std::vector<double> scores;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto others = without(rows, i, what);
    if (!others.empty()) scores.push_back(score(others, rows[i]));
  }
  if (scores.empty()) return 0;
  std::sort(scores.begin(), scores.end());
  const auto place = std::ceil(static_cast<double>(scores.size() + 1) * kHeld);
  return scores[std::min(static_cast<std::size_t>(place), scores.size()) - 1];
}

std::size_t Bands::rows(const std::string& sku) const {
  const auto found = skus_.find(sku);
  return found == skus_.end() ? 0 : found->second.size();
}

std::optional<Band> Bands::of(const std::string& sku, const std::string& operation,
                              const std::string& bound) const {
  if (this->rows(sku) < kFewest) return std::nullopt;
  const auto& rows = skus_.at(sku);
  const int op = number_of(operation), by = number_of(bound);
  Band band;
  std::size_t fits_of_bound = 0;
  for (const auto& row : rows) {
    const bool same = row.operation == op, alike = row.bound == by;
    band.of_operator += same ? 1 : 0;
    band.of_bound += alike ? 1 : 0;
    band.alike += same && alike ? 1 : 0;
    band.fits += same && row.fit ? 1 : 0;
    fits_of_bound += alike && row.fit ? 1 : 0;
  }
  if (band.of_operator == 0) band.fits = fits_of_bound;
  const auto expected = estimate(rows, op, by);
  const double half =
      expected.spread * width(rows, band.of_operator == 0 ? LeftOut::kOperator : LeftOut::kRow);
  band.low = std::exp(-expected.centre - half);
  band.high = std::exp(-expected.centre + half);
  return band;
}

std::map<std::string, Coverage> Bands::coverage(LeftOut what) const {
  std::map<std::string, Coverage> all;
  for (const auto& [sku, rows] : skus_) {
    if (rows.size() < kFewest) continue;
    auto& coverage = all[sku];
    std::map<int, double> widths;  // of an operator that is left out
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto others = without(rows, i, what);
      if (others.empty()) continue;
      double most = 0;
      if (what == LeftOut::kRow) {
        most = width(others, what);
      } else {
        const auto [known, is_new] = widths.try_emplace(rows[i].operation, 0);
        if (is_new) known->second = width(others, what);
        most = known->second;
      }
      ++coverage.rows;
      coverage.held += score(others, rows[i]) <= most ? 1 : 0;
    }
  }
  return all;
}

}  // namespace npu::reports
