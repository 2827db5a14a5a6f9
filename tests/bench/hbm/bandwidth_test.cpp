// SPDX-License-Identifier: Apache-2.0
// What the source documents' card reaches at the HBM's socket.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/bench/hbm/hbm_initiator.hpp"
#include "tests/bench/hbm/hbm_tables.hpp"

namespace npu::model {
namespace {

using test::HbmSystem;

constexpr double kPeak = 1228.8;  // bytes per nanosecond: 32 channels, 128 bits, 2.4 Gb/s

// A copy engine that keeps `window` bytes on the way: blocks of reads, then the writes of what was
// read, in requests of `request` bytes.
class Copier {
 public:
  Copier(HbmSystem& system, std::uint64_t source, std::uint64_t target, Bytes total,
         unsigned request, Bytes block, unsigned port)
      : system_(system),
        port_(port),
        source_(source),
        target_(target),
        total_(total),
        request_(request),
        block_(block),
        buffer_(request) {
    system.port(port_).on_response = [this](auto& payload) { responded(payload); };
  }
  void start() {
    while (read_ < total_ && read_ - written_ < 2 * block_) read_block();
  }

 private:
  void read_block() {
    for (Bytes i = 0; i < block_; i += request_, read_ += request_) {
      system_.port(port_).issue(false, source_ + read_, buffer_.data(), request_);
    }
  }
  void responded(const tlm::tlm_generic_payload& payload) {
    if (payload.is_read()) {
      got_ += request_;
      if (got_ % block_ != 0) return;
      for (Bytes i = 0; i < block_; i += request_, sent_ += request_) {
        system_.port(port_).issue(true, target_ + sent_, buffer_.data(), request_);
      }
    } else {
      written_ += request_;
      if (written_ % block_ == 0 && read_ < total_) read_block();
    }
  }

  HbmSystem& system_;
  unsigned port_;
  std::uint64_t source_, target_;
  Bytes total_;
  unsigned request_;
  Bytes block_;
  std::vector<unsigned char> buffer_;
  Bytes read_ = 0, got_ = 0, sent_ = 0, written_ = 0;
};

double share(Picoseconds part, const HbmStatistics& all) {
  return static_cast<double>(part.count()) / static_cast<double>(all.total().count());
}

std::string shares(const HbmStatistics& s) {
  return fmt::format(
      "data {:.3f} refresh {:.3f} turnaround {:.3f} row {:.3f} column {:.3f} idle {:.3f}",
      share(s.data, s), share(s.refresh, s), share(s.turnaround, s), share(s.row, s),
      share(s.column, s), share(s.idle, s));
}

TEST(HbmBandwidth, TwoCopiesReach85PercentOfThePeakCountingReadsAndWrites) {
  HbmSystem system(test::card_config(), 2);
  constexpr Bytes kTotal = Bytes{8} << 20;
  Copier first(system, 0, Bytes{8} << 30, kTotal, 16384, 128 << 10, 0);
  Copier second(system, Bytes{3} << 28, Bytes{37} << 28, kTotal, 16384, 128 << 10, 1);

  first.start();
  second.start();
  HbmSystem::run();

  const auto ns =
      static_cast<double>(std::max(system.port(0).last_response, system.port(1).last_response)) /
      1e3;
  const double gb_per_s = 4.0 * static_cast<double>(kTotal) / ns;
  EXPECT_GE(gb_per_s, 0.85 * 1200.0) << shares(system.hbm.statistics());
  EXPECT_LT(gb_per_s, kPeak);
}

TEST(HbmBandwidth, SequentialReadsLoseLittleButRefresh) {
  HbmSystem system(test::card_config());
  std::vector<unsigned char> data(65536);
  constexpr unsigned kRequests = 512;

  for (unsigned i = 0; i < kRequests; ++i) {
    system.port().issue(false, std::uint64_t{i} * data.size(), data.data(), 65536);
  }
  HbmSystem::run();

  const double ns = static_cast<double>(system.port().last_response) / 1e3;
  EXPECT_GE(kRequests * 65536.0 / ns, 0.90 * kPeak) << shares(system.hbm.statistics());
}

}  // namespace
}  // namespace npu::model
