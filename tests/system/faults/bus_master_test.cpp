// SPDX-License-Identifier: Apache-2.0
// Bus mastering, memory decoding or power of the function goes away for a while, at any instant of
// copies: none of them is said to be done unless all of its bytes are where they should be.
#include <random>

#include "npu/abi/pci.hpp"
#include "tests/system/faults/fault_bench.hpp"

namespace npu::test {
namespace {

namespace pci = abi::pci;

enum class Off { kBusMaster, kMemory, kBoth, kPower };

class Switcher {
 public:
  explicit Switcher(platform::Platform& host) : host_(host), bdf_{1, 0, 0} {
    auto& config = host.pci();
    power_ = config.read(bdf_, pci::kCapabilityPointer, 1);
    while (config.read(bdf_, power_, 1) != 0x01) power_ = config.read(bdf_, power_ + 1, 1);
  }
  // A host task that switches it off `after` from now, and on again.
  std::unique_ptr<platform::Task> toggle(Off what, Picoseconds after, Picoseconds duration) {
    const auto when = host_.clock().now() + after;
    return must(host_.tasks().spawn("toggle", [this, what, when, duration] {
      host_.clock().sleep_until(when);
      set(what, false);
      host_.clock().sleep_until(host_.clock().now() + duration);
      set(what, true);
    }));
  }

 private:
  void set(Off what, bool on) {
    if (what == Off::kPower) return host_.pci().write(bdf_, power_ + 4, 2, on ? 0 : 3);
    std::uint32_t bits = 0;
    if (what != Off::kMemory) bits |= pci::kCommandBusMaster;
    if (what != Off::kBusMaster) bits |= pci::kCommandMemory;
    const std::uint32_t all = pci::kCommandBusMaster | pci::kCommandMemory;
    host_.pci().write(bdf_, pci::kCommand, 2, on ? all : all & ~bits);
  }
  platform::Platform& host_;
  platform::Bdf bdf_;
  std::uint32_t power_ = 0;
};

struct Case {
  Off what;
  bool to_host;
  Bytes size;
  Picoseconds after;
  Picoseconds duration;
};

// Copies `count` pieces of the size; says how many ended well, and fails the test if one of them
// is not whole.
class Trial {
 public:
  Trial(FaultyCard& bench, Switcher& switcher) : bench_(bench), switcher_(switcher) {}

  unsigned run(const Case& c, unsigned pieces, unsigned value) {
    const auto stream = must(bench_.device->create_stream());
    const auto bytes = bench_.buffer(c.size * pieces, c.to_host ? 0 : value);
    const auto known = bench_.buffer(c.size * pieces, c.to_host ? value : 0);
    // What is in device memory before.
    const auto in = DmaCommand::host_to_device(known->bus(), bench_.memory.address, known->size());
    EXPECT_TRUE(bench_.copy(stream, in));
    const auto task = switcher_.toggle(c.what, c.after, c.duration);
    // The task that switches needs its time, too.
    bench_.host.clock().sleep_until(bench_.host.clock().now() + 6_us);
    std::vector<std::pair<unsigned, driver::Ticket>> tickets;
    for (unsigned i = 0; i < pieces; ++i) {
      const auto host = bytes->bus() + i * c.size;
      const auto card = bench_.memory.address + i * c.size;
      const auto ticket =
          bench_.device->submit(stream, c.to_host ? DmaCommand::device_to_host(card, host, c.size)
                                                  : DmaCommand::host_to_device(host, card, c.size));
      if (ticket) tickets.emplace_back(i, *ticket);
    }
    std::vector<bool> done(pieces);
    for (const auto& [piece, ticket] : tickets) {
      const auto deadline = bench_.host.clock().now() + 5_ms;
      done[piece] = bool(bench_.device->wait(ticket, WaitPolicy::kPolling, deadline));
    }
    task->join();
    const bool all = std::count(done.begin(), done.end(), true) == pieces;
    if (!all) {
      const auto reset = bench_.device->reset_queue();
      EXPECT_TRUE(reset) << reset.error().message();
    }
    const auto end = bench_.device->destroy_stream(stream, bench_.host.clock().now() + 10_ms);
    EXPECT_TRUE(end) << end.error().message();
    if (!c.to_host) read_back(*bytes);
    for (unsigned i = 0; i < pieces; ++i) {
      if (!done[i]) continue;
      EXPECT_TRUE(all_equal(bytes->cpu().subspan(i * c.size, c.size), value)) << "piece " << i;
    }
    return static_cast<unsigned>(std::count(done.begin(), done.end(), true));
  }

 private:
  void read_back(platform::DmaMemory& bytes) {
    fill(bytes, 0);
    const auto stream = must(bench_.device->create_stream());
    const auto out = DmaCommand::device_to_host(bench_.memory.address, bytes.bus(), bytes.size());
    EXPECT_TRUE(bench_.copy(stream, out));
    EXPECT_TRUE(bench_.device->destroy_stream(stream, bench_.host.clock().now() + 10_ms));
  }
  FaultyCard& bench_;
  Switcher& switcher_;
};

// 4 MiB to the host take 150 us; bus mastering is off for 5 us of them.
TEST(BusMaster, OffDuringACopyToTheHostEndsItWithAFault) {
  Machine().on<FaultyCard>([&](FaultyCard& bench) {
    Switcher switcher(bench.host);
    for (unsigned i = 0; i < 20; ++i) {
      const auto stream = must(bench.device->create_stream());
      const auto bytes = bench.buffer(4_MiB, 0xFF);
      const auto task = switcher.toggle(Off::kBusMaster, 10_us + 5_us * i, 5_us);
      expect_code(bench.copy(stream, bench.long_copy(true, *bytes)), ErrorCode::kDeviceFault);
      const auto fault = must(bench.device->take_fault());
      ASSERT_TRUE(fault);
      EXPECT_EQ(fault->code, abi::FaultCode::kBusMasterDisabled);
      task->join();
      EXPECT_TRUE(bench.device->destroy_stream(stream, bench.host.clock().now() + 1_ms));
    }
    bench.expect_works();
  });
}

struct Kind {
  const char* name;
  Off what;
  bool small;  // many copies of 64 bytes, and all instants of their submission
};

class Interruption : public testing::TestWithParam<Kind> {};

TEST_P(Interruption, LeavesNoCopyThatIsDoneAndNotWhole) {
  Machine().on<FaultyCard>([&](FaultyCard& bench) {
    Switcher switcher(bench.host);
    Trial trial(bench, switcher);
    std::mt19937_64 random(7);
    unsigned whole = 0, all = 0;
    for (unsigned i = 0; i < 120; ++i) {
      const unsigned pieces = GetParam().small ? 16 : 1 + random() % 8;
      Case c{GetParam().what, random() % 2 == 0, 64, {}, Picoseconds(random() % 1'000'000)};
      if (!GetParam().small) {
        c.size <<= random() % 13;
        c.duration = c.duration * 8;
      }
      c.after = Picoseconds(random() % (12'000'000 + c.size * pieces * 40));
      SCOPED_TRACE(testing::Message()
                   << "trial " << i << ": " << pieces << " of " << c.size << " bytes, after "
                   << c.after.count() << " ps for " << c.duration.count() << " ps");
      whole += trial.run(c, pieces, 1 + i);
      all += pieces;
    }
    EXPECT_GT(whole, 0U);
    EXPECT_LT(whole, all) << "no copy was ever hit";
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, Interruption,
                         testing::Values(Kind{"BusMasterSmall", Off::kBusMaster, true},
                                         Kind{"BusMasterAny", Off::kBusMaster, false},
                                         Kind{"MemorySmall", Off::kMemory, true},
                                         Kind{"MemoryAny", Off::kMemory, false},
                                         Kind{"BothSmall", Off::kBoth, true},
                                         Kind{"PowerSmall", Off::kPower, true},
                                         Kind{"PowerAny", Off::kPower, false}),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace npu::test
