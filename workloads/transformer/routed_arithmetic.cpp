// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "workloads/programs/support/elements.hpp"
#include "workloads/transformer/arithmetic.hpp"

namespace npu::workloads::transformer {
namespace {

// Roundings of its type that a logit may be off by, of the row's largest one, and behind how many
// layers. Those of layers in front add up like steps of a random walk.
constexpr double kLogitRoundings = 8, kFewLayers = 2;

double roundings_behind(std::uint64_t layers) {
  return kLogitRoundings * std::sqrt(std::max(1.0, static_cast<double>(layers) / kFewLayers));
}

// A row's experts.
class Router {
 public:
  // `error`: of a logit, of the largest one.
  Router(const Experts& experts, const double* logits, const Numbers& bias, double error)
      : experts_(experts), scores_(logits, logits + experts.count) {
    double largest = 0;
    for (const double each : scores_) largest = std::max(largest, std::abs(each));
    // Sigmoids and softmax are at least four times as flat as what they are made of.
    slack_ = error * largest / 4;
    if (experts.sigmoid) {
      for (double& each : scores_) each = 1 / (1 + std::exp(-each));
    } else {
      const double most = *std::max_element(scores_.begin(), scores_.end());
      double sum = 0;
      for (double& each : scores_) sum += each = std::exp(each - most);
      for (double& each : scores_) each /= sum;
      // Of a share of a softmax the error is in proportion to it.
      relative_ = 4 * slack_;
    }
    keys_ = scores_;
    for (std::uint64_t i = 0; i < bias.size(); ++i) keys_[i] += bias[i];
    weigh_groups();
  }

  Choices choose() const {
    Numbers keys = keys_;
    if (experts_.kept < experts_.groups) {
      const auto best = largest(worths_, experts_.kept);
      for (std::uint64_t i = 0; i < keys.size(); ++i) {
        if (!has(best, group_of(i))) keys[i] = -1e30;
      }
    }
    return largest(keys, experts_.chosen);
  }

  // Why they cannot be; empty: they can.
  std::string refusal(const Choices& chosen) const {
    std::vector<std::uint32_t> groups;
    double least = 1e30;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i] >= experts_.count) return fmt::format("expert {} is none", chosen[i]);
      if (std::count(chosen.begin(), chosen.end(), chosen[i]) > 1) {
        return fmt::format("expert {} is there twice", chosen[i]);
      }
      const auto group = group_of(chosen[i]);
      if (!has(groups, group)) groups.push_back(group);
      least = std::min(least, keys_[chosen[i]]);
    }
    if (groups.size() > experts_.kept) return fmt::format("{} groups are too many", groups.size());
    Numbers ordered = worths_;
    std::sort(ordered.begin(), ordered.end(), std::greater<>());
    const bool cut = experts_.kept < experts_.groups;
    const double border = ordered[experts_.kept - 1];
    for (const auto group : groups) {
      if (worths_[group] < border - 2 * slack_) return fmt::format("group {} is not kept", group);
    }
    for (std::uint32_t i = 0; i < experts_.count; ++i) {
      // A group that roundings may have left out says nothing.
      const auto group = group_of(i);
      const bool kept =
          !cut || has(groups, group) || worths_[group] > ordered[experts_.kept] + 2 * slack_;
      if (!kept || has(chosen, i)) continue;
      const double allowed = relative_ == 0 ? slack_ : relative_ * keys_[i];
      if (keys_[i] > least + 2 * allowed) return fmt::format("expert {} is better than others", i);
    }
    return "";
  }

  Numbers weights(const Choices& chosen) const {
    double sum = 0;
    for (const auto expert : chosen) sum += scores_[expert];
    Numbers all;
    for (const auto expert : chosen) {
      all.push_back(scores_[expert] / (experts_.normalised ? sum : 1) * experts_.scale);
    }
    return all;
  }

 private:
  static bool has(const std::vector<std::uint32_t>& all, std::uint32_t one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  }
  static Choices largest(const Numbers& keys, std::uint64_t count) {
    Choices places(keys.size());
    std::iota(places.begin(), places.end(), 0U);
    std::stable_sort(places.begin(), places.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return keys[a] > keys[b]; });
    places.resize(count);
    return places;
  }
  std::uint32_t group_of(std::uint64_t expert) const {
    return static_cast<std::uint32_t>(expert / (experts_.count / experts_.groups));
  }
  // The two best of each.
  void weigh_groups() {
    const std::uint64_t size = experts_.count / experts_.groups;
    for (std::uint64_t group = 0; group < experts_.groups; ++group) {
      const auto begin = keys_.begin() + static_cast<std::ptrdiff_t>(group * size);
      Numbers own(begin, begin + static_cast<std::ptrdiff_t>(size));
      std::sort(own.begin(), own.end(), std::greater<>());
      worths_.push_back(own[0] + (size > 1 ? own[1] : 0));
    }
  }

  const Experts& experts_;
  Numbers scores_, keys_, worths_;
  double slack_ = 0, relative_ = 0;
};

// Each row by the sigmoid of its product with the gate.
void weigh(const Arithmetic& arithmetic, const Numbers& x, const Numbers& gate, Numbers& rows) {
  const std::uint64_t columns = gate.size();
  const Numbers logits = arithmetic.multiplied(x, gate, columns);
  for (std::uint64_t i = 0; i < rows.size(); ++i) {
    const double weight = rounded_to(arithmetic.type(), 1 / (1 + std::exp(-logits[i / columns])));
    rows[i] = rounded_to(arithmetic.type(), weight * rows[i]);
  }
}

// A row through one expert.
Numbers through(const Arithmetic& arithmetic, const Model& model, const HostLayer& weights,
                const Numbers& x, std::uint64_t expert) {
  const std::uint64_t hidden = model.hidden, inner = model.experts.inner;
  const Numbers gate_up = arithmetic.rounded(Arithmetic::products(
      x, {weights.expert_gate_up, expert * 2 * inner * hidden, 2 * inner, hidden}));
  return arithmetic.rounded(
      Arithmetic::products(arithmetic.activated(gate_up, inner),
                           {weights.expert_down, expert * hidden * inner, hidden, inner}));
}

}  // namespace

Result<Numbers> routed(const Arithmetic& arithmetic, const Model& model, const HostLayer& weights,
                       const Numbers& x, std::uint64_t layer, const Choices& given) {
  const auto& experts = model.experts;
  const std::uint64_t hidden = model.hidden, rows = x.size() / hidden, k = experts.chosen;
  const Numbers logits = Arithmetic::products(x, {weights.router, 0, experts.count, hidden});
  Numbers sums(x.size());
  if (experts.shared_inner != 0) {
    const Numbers gate_up = arithmetic.multiplied(x, weights.gate_up, hidden);
    sums = arithmetic.multiplied(arithmetic.activated(gate_up, experts.shared_inner), weights.down,
                                 experts.shared_inner);
  }
  if (experts.shared_gated) weigh(arithmetic, x, weights.shared_gate, sums);
  for (std::uint64_t row = 0; row < rows; ++row) {
    const Router router(experts, logits.data() + row * experts.count, weights.router_bias,
                        roundings_behind(layer) * rounding_error(arithmetic.type()));
    Choices chosen = router.choose();
    if (!given.empty()) {
      const auto own = given.begin() + static_cast<std::ptrdiff_t>(row * k);
      chosen.assign(own, own + static_cast<std::ptrdiff_t>(k));
      const auto why = router.refusal(chosen);
      if (!why.empty()) {
        return fail(ErrorCode::kWrongData, fmt::format("experts of row {}: {}", row, why));
      }
    }
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(row * hidden);
    const Numbers one(begin, begin + static_cast<std::ptrdiff_t>(hidden));
    const Numbers by = router.weights(chosen);
    for (std::uint64_t i = 0; i < k; ++i) {
      const Numbers y = through(arithmetic, model, weights, one, chosen[i]);
      for (std::uint64_t c = 0; c < hidden; ++c) sums[row * hidden + c] += by[i] * y[c];
    }
  }
  return arithmetic.rounded(std::move(sums));
}

}  // namespace npu::workloads::transformer
