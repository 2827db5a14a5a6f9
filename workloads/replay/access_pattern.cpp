// SPDX-License-Identifier: Apache-2.0
#include "workloads/replay/access_pattern.hpp"

namespace npu::replay {
namespace {

class SplitMix64 {
 public:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_ = 12345;
};

class Addresses {
 public:
  explicit Addresses(const AccessPattern& pattern) : p_(pattern) {
    if (p_.kind != PatternKind::kStreams) return;
    const Bytes part = p_.span / p_.streams;
    // A base is in the first half of its stream's part, on a multiple of 64 bytes.
    for (unsigned k = 0; k < p_.streams; ++k) {
      bases_.push_back(k * part + random_.next() % (part / 2 / 64) * 64);
    }
  }

  std::uint64_t operator()(std::uint64_t i) {
    const std::uint64_t strides = p_.span / p_.stride;
    switch (p_.kind) {
      case PatternKind::kSequential:
        return i * p_.request % p_.span;
      case PatternKind::kRandom:
        return random_.next() % (p_.span / p_.request) * p_.request;
      case PatternKind::kStride:
        return i % strides * p_.stride + i / strides * p_.request % p_.stride;
      case PatternKind::kStreams:
        return (bases_[i % p_.streams] + i / p_.streams * p_.request) % p_.span;
    }
    return 0;
  }

 private:
  AccessPattern p_;
  SplitMix64 random_;
  std::vector<std::uint64_t> bases_;
};

}  // namespace

std::vector<Access> make_accesses(const AccessPattern& pattern, std::uint64_t count) {
  Addresses address(pattern);
  std::vector<Access> accesses(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    accesses[i] = {address(i), i % (pattern.reads + pattern.writes) >= pattern.reads};
  }
  return accesses;
}

}  // namespace npu::replay
