// SPDX-License-Identifier: Apache-2.0
#include "tests/attack/shadow.hpp"

#include <algorithm>
#include <cstring>

namespace npu::attack {

void Shadow::write(Bytes at, ConstByteSpan bytes) {
  for (Bytes done = 0; done < bytes.size;) {
    const Bytes inside = (at + done) % kChunk;
    const Bytes piece = std::min(bytes.size - done, kChunk - inside);
    auto& chunk = chunks_[(at + done) / kChunk];
    if (!chunk) chunk = std::make_unique<Chunk>();
    std::memcpy(chunk->data() + inside, bytes.data + done, piece);
    done += piece;
  }
  if (bytes.size > 0) mark(at, at + bytes.size);
}

void Shadow::copy(Bytes at, const Shadow& source, Bytes from, Bytes size) {
  forget(at, size);
  for (const auto& run : source.known(from, size)) {
    for (Bytes place = run.begin; place < run.end;) {
      const Bytes inside = place % kChunk;
      const Bytes piece = std::min(run.end - place, kChunk - inside);
      const auto& chunk = *source.chunks_.at(place / kChunk);
      write(at + (place - from), {chunk.data() + inside, piece});
      place += piece;
    }
  }
}

void Shadow::mark(Bytes begin, Bytes end) {
  auto next = known_.upper_bound(begin);
  if (next != known_.begin() && std::prev(next)->second >= begin) --next;
  while (next != known_.end() && next->first <= end) {
    begin = std::min(begin, next->first);
    end = std::max(end, next->second);
    next = known_.erase(next);
  }
  known_[begin] = end;
}

void Shadow::forget(Bytes at, Bytes size) {
  const Bytes end = at + size;
  auto next = known_.upper_bound(at);
  if (next != known_.begin() && std::prev(next)->second > at) --next;
  while (next != known_.end() && next->first < end) {
    const Run run{next->first, next->second};
    next = known_.erase(next);
    if (run.begin < at) known_[run.begin] = at;
    if (run.end > end) known_[end] = run.end;
  }
}

std::vector<Run> Shadow::known(Bytes at, Bytes size) const {
  std::vector<Run> runs;
  const Bytes end = at + size;
  auto next = known_.upper_bound(at);
  if (next != known_.begin() && std::prev(next)->second > at) --next;
  for (; next != known_.end() && next->first < end; ++next) {
    runs.push_back({std::max(at, next->first), std::min(end, next->second)});
  }
  return runs;
}

std::optional<Bytes> Shadow::mismatch(Bytes at, ConstByteSpan bytes,
                                      std::uint64_t& compared) const {
  for (const auto& run : known(at, bytes.size)) {
    compared += run.end - run.begin;
    for (Bytes place = run.begin; place < run.end;) {
      const Bytes inside = place % kChunk;
      const Bytes piece = std::min(run.end - place, kChunk - inside);
      const auto* wanted = chunks_.at(place / kChunk)->data() + inside;
      const auto* found = bytes.data + (place - at);
      if (std::memcmp(wanted, found, piece) != 0) {
        return place +
               static_cast<Bytes>(std::mismatch(wanted, wanted + piece, found).first - wanted);
      }
      place += piece;
    }
  }
  return std::nullopt;
}

}  // namespace npu::attack
