// SPDX-License-Identifier: Apache-2.0
// Bursts for one channel, each with the clock from which it wants to enter the controller.
#pragma once

#include <random>
#include <vector>

#include "tests/timing/hbm/plain_controller.hpp"

namespace npu::model::test {

struct PlainArrival {
  hbm::Clock from;
  PlainBurst burst;
};

// The generator of one kind of traffic; `n` counts the bursts.
class PlainTraffic {
 public:
  PlainTraffic(const HbmTimings& table, unsigned seed) : t_(table), random_(seed) {}

  enum class Kind {
    kDense,       // anywhere, one per clock, kinds in batches
    kSparse,      // anywhere, up to 100 clocks apart
    kSequential,  // row hits over all banks, now and then elsewhere, at changing rates
    kStreams,     // sixteen of them, two bursts at a time
    kMixed,       // dense and sparse phases over few rows, kinds at random
    kAfterIdle,   // runs of up to forty after long idle times
    kRuns,        // sequential runs, one burst per clock, to an idle channel
    kOneBank,     // three rows of it
  };
  std::vector<PlainArrival> make(Kind kind, unsigned bursts) {
    std::vector<PlainArrival> arrivals;
    hbm::Clock at = 0;
    for (unsigned n = 0; n < bursts; ++n) {
      PlainBurst burst = next(kind, n, at);
      burst.tag = n;
      arrivals.push_back({at, burst});
    }
    return arrivals;
  }

 private:
  unsigned pick(unsigned below) { return static_cast<unsigned>(random_()) % below; }
  bool one_in(unsigned n) { return pick(n) == 0; }

  PlainBurst next(Kind kind, unsigned n, hbm::Clock& at) {
    switch (kind) {
      case Kind::kDense:
        at += 1;
        return anywhere(1000, n / 40 % 3 == 0 && one_in(2));
      case Kind::kSparse:
        at += 1 + pick(100);
        return anywhere(4, one_in(3));
      case Kind::kSequential:
        return sequential(n, at);
      case Kind::kStreams:
        at += 1;
        return stream(n / 2 % 16, n / 2 % 16 % 5 == 0);
      case Kind::kMixed:
        at += n % 97 == 0 ? 150 : 1 + pick(n / 500 % 2 == 0 ? 2 : 12);
        return anywhere(3, one_in(1 + n / 300 % 3));
      case Kind::kAfterIdle:
        if (one_in(20)) at += one_in(40) ? 40'000 : pick(6000);
        at += one_in(3) ? 1 + pick(9) : 1;
        return anywhere(3, n / 100 % 2 == 0 && one_in(3));
      case Kind::kRuns:
        return run(n, at);
      case Kind::kOneBank:
        at += one_in(50) ? pick(400) : 1 + pick(3);
        break;
    }
    return {{0, 0, 0, 0}, pick(3), 0, one_in(2)};
  }

  PlainBurst anywhere(unsigned rows, bool write) {
    return {
        {pick(t_.pseudo_channels), pick(t_.stacks), pick(t_.bank_groups), pick(t_.banks_per_group)},
        pick(rows),
        0,
        write};
  }
  // The burst at an address, mapped from its lowest bits.
  PlainBurst at_address(std::uint64_t address, bool write) const {
    const auto take = [&](std::uint64_t size) {
      const auto value = static_cast<unsigned>(address % size);
      address /= size;
      return value;
    };
    PlainBurst burst;
    burst.at.pseudo_channel = take(t_.pseudo_channels);
    burst.at.group = take(t_.bank_groups);
    take(t_.row / t_.burst);
    burst.at.bank = take(t_.banks_per_group);
    burst.at.stack = take(t_.stacks);
    burst.row = static_cast<std::uint32_t>(address);
    burst.write = write;
    return burst;
  }
  PlainBurst sequential(unsigned n, hbm::Clock& at) {
    if (one_in(300)) address_ = pick(1U << 20);
    const unsigned phase = n / 800 % 4;
    at += phase == 0 ? 1 : 1 + pick(phase == 1 ? 2 : phase * 4);
    return at_address(address_++, n / 150 % 3 == 0);
  }
  PlainBurst stream(unsigned which, bool write) {
    if (streams_.empty()) {
      for (unsigned i = 0; i < 16; ++i) streams_.push_back(pick(1U << 20));
    }
    return at_address(streams_[which]++, write);
  }
  // The address goes on, so that the rows are open; every other run comes around a refresh.
  PlainBurst run(unsigned n, hbm::Clock& at) {
    if (left_ == 0) {
      left_ = 1 + (one_in(2) ? pick(24) : pick(300));
      if (one_in(8)) address_ = pick(1U << 20);
      writes_ = one_in(5);
      at += one_in(60) ? 30'000 : one_in(3) ? pick(4000) : 60 + pick(200);
      if (one_in(2)) {
        const hbm::Clock half = (t_.trfc_pb != 0 ? t_.trefi_pb : t_.trefi) / 2;
        at += half - at % half;
        at += half > 400 ? half - pick(400) : 0;
      }
    }
    --left_;
    at += one_in(400) ? 1 + pick(30) : 1;
    return at_address(address_++, writes_ != (n % 512 == 0));
  }

  HbmTimings t_;
  std::mt19937 random_;
  std::uint64_t address_ = 0;
  std::vector<std::uint64_t> streams_;
  unsigned left_ = 0;
  bool writes_ = false;
};

}  // namespace npu::model::test
