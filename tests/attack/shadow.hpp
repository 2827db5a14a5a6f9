// SPDX-License-Identifier: Apache-2.0
// What a piece of memory must hold: sparse bytes, and which of them are known.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "npu/base/byte_span.hpp"
#include "npu/base/units.hpp"

namespace npu::attack {

struct Run {
  Bytes begin = 0;
  Bytes end = 0;
};

class Shadow {
 public:
  void write(Bytes at, ConstByteSpan bytes);
  // Known and unknown bytes of `source`, which may be this one if the ranges do not overlap.
  void copy(Bytes at, const Shadow& source, Bytes from, Bytes size);
  void forget(Bytes at, Bytes size);

  std::vector<Run> known(Bytes at, Bytes size) const;
  // Where `bytes`, read from `at`, first differ from what is known; adds what was compared.
  std::optional<Bytes> mismatch(Bytes at, ConstByteSpan bytes, std::uint64_t& compared) const;

 private:
  static constexpr Bytes kChunk = 64_KiB;
  using Chunk = std::array<std::byte, kChunk>;

  void mark(Bytes begin, Bytes end);

  std::map<Bytes, std::unique_ptr<Chunk>> chunks_;
  std::map<Bytes, Bytes> known_;  // begin -> end; neither overlap nor touch
};

}  // namespace npu::attack
