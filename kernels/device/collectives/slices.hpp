// SPDX-License-Identifier: Apache-2.0
// A block's part of some bytes, and copies of it through UB.
#pragma once

#include <algorithm>

#include "npu/aicore/kernel.hpp"

namespace npu::kernels::collectives {

using aicore::AicorePort;
using aicore::Flag;
using platform::LocalBuffer;
using platform::Pipe;

// Shorter pieces get less of a copy's rate.
inline constexpr std::uint64_t kGrain = 512;

struct Slice {
  std::uint64_t begin = 0, end = 0;

  std::uint64_t size() const { return end - begin; }
};

// Part `part` of `parts` of `bytes`, in whole grains.
inline Slice slice_of(std::uint64_t bytes, std::uint64_t part, std::uint64_t parts) {
  const std::uint64_t grains = aicore::divide_up(bytes, kGrain);
  const auto border = [&](std::uint64_t i) { return std::min(grains * i / parts * kGrain, bytes); };
  return {border(part), border(part + 1)};
}

// From global memory to global memory. With more copies in flight than Passing of
// common/stages.hpp: a link takes longer than the card's own memory.
class Passage {
 public:
  explicit Passage(AicorePort& port)
      : port_(port),
        room_(static_cast<std::uint32_t>(port.buffer_size(LocalBuffer::kUb) / kPlaces / kGrain *
                                         kGrain)) {
    for (unsigned i = 0; i < kPlaces; ++i) stored(i).set();
  }
  // All is in memory.
  ~Passage() {
    for (unsigned i = 0; i < kPlaces; ++i) stored(i).wait();
    port_.pipe_barrier(Pipe::kAll);
  }
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;

  void copy(std::uint64_t from, std::uint64_t to, std::uint64_t bytes) {
    for (std::uint64_t at = 0; at < bytes; at += room_) {
      const auto size = std::min<std::uint64_t>(room_, bytes - at);
      piece(from + at, to + at, static_cast<std::uint32_t>(size));
    }
  }

 private:
  static constexpr unsigned kPlaces = platform::kFlagIds;

  Flag<Pipe::kMte3, Pipe::kMte2> stored(unsigned place) const { return {port_, place}; }

  void piece(std::uint64_t from, std::uint64_t to, std::uint32_t bytes) {
    const unsigned place = next_++ % kPlaces;
    const Flag<Pipe::kMte2, Pipe::kMte3> loaded(port_, place);
    const platform::Local local{LocalBuffer::kUb, place * room_};
    stored(place).wait();
    port_.issue(platform::CopyIn{local, from, 1, bytes, 0, bytes});
    loaded.set();
    loaded.wait();
    port_.issue(platform::CopyOut{to, local, 1, bytes, 0, bytes});
    stored(place).set();
  }

  AicorePort& port_;
  const std::uint32_t room_;
  unsigned next_ = 0;
};

}  // namespace npu::kernels::collectives
