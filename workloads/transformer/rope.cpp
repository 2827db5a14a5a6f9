// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/rope.hpp"

#include <algorithm>
#include <cmath>

namespace npu::workloads::transformer {
namespace {

constexpr double kTurn = 6.283185307179586;  // radians

// The pair, in between pairs too, that turns so often over the positions of the training.
double pair_with(const RopeScaling& scaling, double turns, double theta, double turned) {
  const double of_first = static_cast<double>(scaling.positions) / kTurn;
  return turned / 2 * std::log(of_first / turns) / std::log(theta);
}

// How much of its speed a pair keeps by the ramp of kYarn, from 0 to 1.
double kept_by_pair(const RopeScaling& scaling, double theta, std::uint64_t turned,
                    std::uint64_t pair) {
  const auto elements = static_cast<double>(turned);
  double first = pair_with(scaling, scaling.fast, theta, elements);
  double last = pair_with(scaling, scaling.slow, theta, elements);
  if (scaling.truncated) first = std::floor(first), last = std::ceil(last);
  first = std::max(first, 0.0), last = std::min(last, elements - 1);
  if (first == last) last += 0.001;
  return 1 - std::clamp((static_cast<double>(pair) - first) / (last - first), 0.0, 1.0);
}

double kept(const RopeScaling& scaling, double theta, std::uint64_t turned, std::uint64_t pair,
            double turn) {
  switch (scaling.kind) {
    case RopeKind::kPlain:
      return 1;
    case RopeKind::kLinear:
      return 0;
    case RopeKind::kLlama3: {
      const double turns = static_cast<double>(scaling.positions) * turn / kTurn;
      return std::clamp((turns - scaling.slow) / (scaling.fast - scaling.slow), 0.0, 1.0);
    }
    case RopeKind::kYarn:
      return kept_by_pair(scaling, theta, turned, pair);
  }
  return 1;
}

double grown(const RopeScaling& scaling, double by) {
  return scaling.factor <= 1 ? 1 : 0.1 * by * std::log(scaling.factor) + 1;
}

}  // namespace

std::vector<double> turns_by_token(const RopeScaling& scaling, double theta, std::uint64_t turned) {
  const std::uint64_t pairs = turned / 2;
  std::vector<double> turns;
  for (std::uint64_t pair = 0; pair < pairs; ++pair) {
    const double turn = std::pow(theta, -static_cast<double>(pair) / static_cast<double>(pairs));
    const double part = kept(scaling, theta, turned, pair, turn);
    turns.push_back(turn * (part + (1 - part) / scaling.factor));
  }
  return turns;
}

double amplitude(const RopeScaling& scaling) {
  if (scaling.kind != RopeKind::kYarn) return 1;
  if (scaling.given_size != 0) return scaling.given_size;
  return grown(scaling, scaling.size) / grown(scaling, scaling.score_size);
}

double score_factor(const RopeScaling& scaling) {
  if (scaling.kind != RopeKind::kYarn) return 1;
  const double size = grown(scaling, scaling.score_size);
  return size * size;
}

}  // namespace npu::workloads::transformer
