// SPDX-License-Identifier: Apache-2.0
// The access patterns of the reference measurements (configs/hbm/replay) and their relatives.
#pragma once

#include <cstdint>
#include <vector>

#include "npu/base/units.hpp"

namespace npu::replay {

enum class PatternKind : std::uint8_t {
  kSequential,  // one request after the other
  kRandom,      // any request of the span
  kStride,      // one request per `stride` bytes, then the next one of each
  kStreams,     // `streams` sequential streams in turn, from random 64-byte aligned bases
};

struct AccessPattern {
  PatternKind kind = PatternKind::kSequential;
  Bytes request = 32;  // bytes of one
  Bytes span = Bytes{4} << 30;
  Bytes stride = 4096;    // kStride: at most span
  unsigned streams = 16;  // kStreams
  // Of every `reads` + `writes` requests the last `writes` are writes; not both 0.
  unsigned reads = 1;
  unsigned writes = 0;
};

struct Access {
  std::uint64_t address;
  bool write;
};

// Random numbers: splitmix64 seeded 12345, as in the reference measurements.
std::vector<Access> make_accesses(const AccessPattern& pattern, std::uint64_t count);

}  // namespace npu::replay
