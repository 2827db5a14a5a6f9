// SPDX-License-Identifier: Apache-2.0
#include "model/l2/written_bytes.hpp"

#include <algorithm>
#include <systemc>

namespace npu::model {
namespace {

constexpr Bytes kBits = 64;

// Calls use(word, its bits) for the words that `count` bytes from `offset` on lie in.
template <class Use>
void each_word(Bytes offset, Bytes count, Use use) {
  const Bytes end = offset + count;
  while (offset < end) {
    const Bytes first = offset % kBits, bits = std::min(end - offset, kBits - first);
    use(offset / kBits, ~std::uint64_t{0} >> (kBits - bits) << first);
    offset += bits;
  }
}

}  // namespace

bool WrittenBytes::add(Line line, Bytes offset, Bytes count) {
  const auto [found, added] = places_.try_emplace(line, 0);
  if (added && free_.empty()) {
    found->second = words_of_.size();
    words_of_.resize(words_of_.size() + words_);
  } else if (added) {
    found->second = free_.back();
    free_.pop_back();
  }
  std::uint64_t* const words = words_of_.data() + found->second;
  if (added) std::fill(words, words + words_, 0);
  each_word(offset, count, [words](Bytes word, std::uint64_t bits) { words[word] |= bits; });
  const bool all =
      std::all_of(words, words + words_, [](std::uint64_t word) { return ~word == 0; });
  if (all) forget(line);
  return all;
}

bool WrittenBytes::has(Line line, Bytes offset, Bytes count) const {
  const auto found = places_.find(line);
  sc_assert(found != places_.end());
  const std::uint64_t* const words = words_of_.data() + found->second;
  bool all = true;
  each_word(offset, count, [&](Bytes word, std::uint64_t bits) {
    if ((words[word] & bits) != bits) all = false;
  });
  return all;
}

void WrittenBytes::forget(Line line) {
  const auto found = places_.find(line);
  sc_assert(found != places_.end());
  free_.push_back(found->second);
  places_.erase(found);
}

void WrittenBytes::forget(Line first, Line last) {
  for (auto at = places_.begin(); at != places_.end();) {
    const bool within = at->first >= first && at->first <= last;
    if (within) free_.push_back(at->second);
    at = within ? places_.erase(at) : std::next(at);
  }
}

}  // namespace npu::model
