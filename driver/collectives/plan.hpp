// SPDX-License-Identifier: Apache-2.0
// What one rank does in an operation: steps of copies inside its card, of reads from its peers'
// buffers and of writes that reduce into them. All ranks make their plans from the same arguments,
// so that who reads in a step and who is read from agree. Offsets and sizes are bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "npu/base/units.hpp"

namespace npu::driver {

enum class PlanMemory : std::uint8_t {
  kFrom,    // of the caller
  kTo,      // of the caller
  kBuffer,  // the rank's own
};

struct PlanPlace {
  PlanMemory memory = PlanMemory::kBuffer;
  Bytes offset = 0;
};

// Inside the card. Left out if both places are one.
struct PlanCopy {
  PlanPlace from, to;
  Bytes size = 0;
};

// From the peer's buffer.
struct PlanRead {
  unsigned peer = 0;
  Bytes from = 0;
  PlanPlace to;
  Bytes size = 0;
  bool reduces = false;
};

// Into the peer's buffer, once the peer has said that it is ready. What is there is reduced.
struct PlanWrite {
  unsigned peer = 0;
  PlanPlace from;
  Bytes to = 0;
  Bytes size = 0;
};

// The copies in order, then everything else at once: the readers are told that they may read, or
// write here, and the step ends when all have.
struct PlanStep {
  std::vector<PlanCopy> copies;
  std::vector<PlanRead> reads;    // those of a peer behind each other
  std::vector<unsigned> readers;  // each once
  bool meets = false;             // nothing is read: all ranks meet
  std::vector<PlanCopy> beside;   // copies that only the step's end waits for
  std::vector<PlanWrite> writes = {};
};

using Plan = std::vector<PlanStep>;

// A part of the data that is a rank's, in elements or bytes.
struct PlanRange {
  Bytes begin = 0, end = 0;

  Bytes size() const { return end - begin; }
};

// Whom a plan is for.
struct PlanRank {
  unsigned rank = 0, ranks = 1;

  unsigned before(unsigned distance) const { return (rank + ranks - distance % ranks) % ranks; }
  unsigned behind(unsigned distance) const { return (rank + distance) % ranks; }
  template <class Visit>
  void for_peers(Visit visit) const {
    for (unsigned i = 1; i < ranks; ++i) visit(behind(i));
  }
};

}  // namespace npu::driver
