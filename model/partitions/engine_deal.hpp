// SPDX-License-Identifier: Apache-2.0
// Which of the card's DMA engines a function's commands go to: they are dealt out in proportion to
// weights, so that no function's long commands are in front of another's. With fewer engines than
// functions some share one.
#pragma once

#include <vector>

namespace npu::model {

struct EngineRange {
  unsigned first = 0, count = 0;
};

// By function; weights of 0 get none.
inline std::vector<EngineRange> deal_engines(const std::vector<unsigned>& weights,
                                             unsigned engines) {
  unsigned all = 0;
  for (const unsigned weight : weights) all += weight;
  std::vector<EngineRange> dealt(weights.size());
  unsigned before = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    const unsigned begin = before * engines / all;
    before += weights[i];
    const unsigned end = before * engines / all;
    // Less than an engine: the one in which its part lies, with whoever has the rest of it.
    dealt[i] = {begin < engines ? begin : engines - 1, end > begin ? end - begin : 1};
  }
  return dealt;
}

}  // namespace npu::model
