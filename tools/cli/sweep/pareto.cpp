// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/pareto.hpp"

#include <algorithm>
#include <numeric>

#include "tools/cli/sweep/decimal.hpp"

namespace npu::sweep {
namespace {

// A place per objective, 0 for the best value; equal values have the same place.
using Places = std::vector<std::size_t>;

bool complete(const Alternative& alternative) {
  return std::all_of(alternative.begin(), alternative.end(),
                     [](const auto& value) { return value.has_value(); });
}

bool dominates(const Places& a, const Places& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
  }
  return a != b;
}

std::vector<Places> places_of(const std::vector<const Alternative*>& alternatives,
                              const std::vector<Goal>& goals) {
  std::vector<Places> places(alternatives.size(), Places(goals.size()));
  std::vector<std::size_t> order(alternatives.size());
  for (std::size_t goal = 0; goal < goals.size(); ++goal) {
    const auto compare = [&](std::size_t a, std::size_t b) {
      const int found = compare_decimals(*(*alternatives[a])[goal], *(*alternatives[b])[goal]);
      return goals[goal] == Goal::kMinimum ? found : -found;
    };
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return compare(a, b) < 0; });
    for (std::size_t i = 1; i < order.size(); ++i) {
      const bool worse = compare(order[i - 1], order[i]) < 0;
      places[order[i]][goal] = places[order[i - 1]][goal] + (worse ? 1 : 0);
    }
  }
  return places;
}

}  // namespace

std::vector<std::optional<bool>> pareto_front(const std::vector<Alternative>& alternatives,
                                              const std::vector<Goal>& goals) {
  std::vector<std::optional<bool>> on_front(alternatives.size());
  std::vector<std::size_t> numbers;
  std::vector<const Alternative*> compared;
  for (std::size_t i = 0; i < alternatives.size(); ++i) {
    if (!complete(alternatives[i])) continue;
    numbers.push_back(i);
    compared.push_back(&alternatives[i]);
  }
  const std::vector<Places> places = places_of(compared, goals);
  // Nothing is dominated by what comes later in this order, and what is dominated at all is so by
  // one on the front.
  std::vector<std::size_t> order(places.size()), front;
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return places[a] < places[b]; });
  for (const std::size_t i : order) {
    const bool best = std::none_of(front.begin(), front.end(), [&](std::size_t better) {
      return dominates(places[better], places[i]);
    });
    if (best) front.push_back(i);
    on_front[numbers[i]] = best;
  }
  return on_front;
}

}  // namespace npu::sweep
