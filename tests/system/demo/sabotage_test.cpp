// SPDX-License-Identifier: Apache-2.0
// Every step of npudemo finds what it is there to find.
#include <gmock/gmock.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "apps/demo/run.hpp"
#include "npu/abi/event.hpp"
#include "npu/abi/layout.hpp"
#include "npu/abi/registers.hpp"
#include "tests/system/demo/saboteur.hpp"
#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

using testing::HasSubstr;

constexpr Bytes kDeviceTime = abi::DeviceTime::kOffset;
// The read of DEVICE_TIME that ends the fifth copy of the first shape, to the host: 4 bytes behind
// two guards of 64.
constexpr unsigned kFetched = 10;

demo::Request small(std::vector<std::string> steps) {
  demo::Request request;
  request.steps = std::move(steps);
  request.max_bytes = 1_MiB;
  return request;
}

// The count of an event, of a read of BAR0; 0: it is of something else.
std::uint32_t count_of(Bytes offset, std::uint64_t value) {
  const bool event = offset >= abi::kEventBlock && offset < abi::kMsixTableOffset;
  return event ? abi::EventRecord{value}.count() : 0;
}

// What the step named prints on a machine with `plan`.
std::string line_of(const std::string& step, const Saboteur::Plan& plan) {
  Machine machine;
  std::string line;
  machine.run([&](platform::Platform& host) {
    Saboteur saboteur(host, plan);
    std::vector<std::string> lines;
    const bool all_ok =
        demo::run_steps(saboteur, small({step}), [&](const auto& text) { lines.push_back(text); });
    line = lines.empty() ? "" : lines.front();
    EXPECT_EQ(all_ok, line.rfind("ok ", 0) == 0);
    EXPECT_EQ(lines.back(), all_ok ? "1 steps: 1 ok, 0 failed" : "1 steps: 0 ok, 1 failed");
  });
  return line;
}

// The same on a machine whose plan works on its own platform.
std::string line_of(const std::string& step, const std::function<Saboteur::Plan(Saboteur&)>& plan) {
  Machine machine;
  std::string line;
  machine.run([&](platform::Platform& host) {
    Saboteur saboteur(host, {});
    saboteur.set_plan(plan(saboteur));
    demo::run_steps(saboteur, small({step}), [&](const auto& text) {
      if (line.empty()) line = text;
    });
  });
  return line;
}

// Flips a bit of the newest DMA memory at the `turn`-th read of DEVICE_TIME.
std::string line_with_flip(const std::string& step, unsigned turn, Bytes at) {
  return line_of(step, [=](Saboteur& self) {
    Saboteur::Plan plan;
    plan.on_register = [&self, reads = 0U, turn, at](Bytes offset, std::uint64_t value) mutable {
      if (offset == kDeviceTime && ++reads == turn) self.newest().data[at] ^= std::byte{1};
      return value;
    };
    return plan;
  });
}

TEST(Sabotage, NothingWrongIsOk) {
  EXPECT_THAT(line_of("dma", Saboteur::Plan()), HasSubstr("ok dma: 14 shapes"));
}

TEST(Sabotage, ABitThatChangesInACopyFailsDma) {
  EXPECT_THAT(line_with_flip("dma", kFetched, 128), HasSubstr("FAILED dma: wrong data: 4 bytes"));
}

TEST(Sabotage, AByteWrittenBeforeTheDataFailsDma) {
  EXPECT_THAT(line_with_flip("dma", kFetched, 127), HasSubstr("device, before: byte 63 of 64"));
}

TEST(Sabotage, AByteWrittenBehindTheDataFailsDma) {
  EXPECT_THAT(line_with_flip("dma", kFetched, 132), HasSubstr("device, behind: byte 0 of 64"));
}

TEST(Sabotage, AByteWrittenBesideTheHostsBufferFailsDma) {
  EXPECT_THAT(line_with_flip("dma", kFetched, 63), HasSubstr("host, before: byte 63 of 64"));
}

TEST(Sabotage, ADeviceClockThatStandsStillFailsDma) {
  Saboteur::Plan plan;
  plan.on_register = [](Bytes offset, std::uint64_t value) {
    return offset == kDeviceTime ? 77 : value;
  };
  EXPECT_THAT(line_of("dma", plan), HasSubstr("FAILED dma: bad device: DEVICE_TIME was 77"));
}

TEST(Sabotage, ABitThatChangesFailsWaits) {
  EXPECT_THAT(line_with_flip("wait-polling", kFetched, 133),
              HasSubstr("FAILED wait-polling: wrong data"));
}

TEST(Sabotage, ACommandCountedTwiceFailsTheRing) {
  Saboteur::Plan plan;
  plan.on_register = [](Bytes offset, std::uint64_t value) {
    return count_of(offset, value) == 8192 ? value + 1 : value;
  };
  EXPECT_THAT(line_of("ring", plan),
              HasSubstr("8192 commands submitted, STREAM_COMPLETED counts 8192, its event 8193"));
}

TEST(Sabotage, ALostTagFailsTheRing) {
  const auto line = line_of("ring", [](Saboteur& self) {
    Saboteur::Plan plan;
    plan.on_register = [&self, is_done = false](Bytes offset, std::uint64_t value) mutable {
      if (!is_done && count_of(offset, value) == 8192) {
        self.of_size(32_KiB).data[8 * 2048] ^= std::byte{1};
        is_done = true;
      }
      return value;
    };
    return plan;
  });
  EXPECT_THAT(line, HasSubstr("FAILED ring: wrong data: the log of tags: byte 16384 of 32768"));
}

TEST(Sabotage, LostInterruptsFailWaitsForThem) {
  Saboteur::Plan plan;
  plan.silent_vectors = true;
  EXPECT_THAT(line_of("wait-interrupt", plan), HasSubstr("no wait was ended by an interrupt"));
}

TEST(Sabotage, BytesThatChangeFailQueues) {
  const auto line = line_of("queues-interrupt", [](Saboteur& self) {
    Saboteur::Plan plan;
    plan.before_interrupt_returns = [&self] {
      const auto bytes = self.of_size(8_KiB);
      if (bytes.data != nullptr) std::memset(bytes.data + 4_KiB + 8, 0xEE, 8);
    };
    return plan;
  });
  EXPECT_THAT(line, HasSubstr("FAILED queues-interrupt: wrong data: d2h: byte 8 of 4096 is 0xee"));
}

TEST(Sabotage, AnotherIdentityFails) {
  Saboteur::Plan plan;
  plan.on_register = [](Bytes offset, std::uint64_t value) {
    return offset == abi::ChipId::kOffset ? value ^ 0x10000 : value;
  };
  EXPECT_THAT(line_of("identity", plan), HasSubstr("CHIP_ID 0xd11119e5 is not 19e5:d110"));
}

TEST(Sabotage, ALinkOfNoWidthFails) {
  Saboteur::Plan plan;
  plan.on_config = [](std::uint32_t, std::uint32_t value) {
    return (value & 0x3FF) == 0x104 ? value & ~0x3F0U : value;  // x16, 16 GT/s
  };
  EXPECT_THAT(line_of("identity", plan), HasSubstr("FAILED identity: bad device: link status"));
}

TEST(Sabotage, MemoryMappedForBothDirectionsFailsReadOnly) {
  Saboteur::Plan plan;
  plan.map_read_write = true;
  EXPECT_THAT(line_of("fault-read-only", plan), HasSubstr("the command was not refused"));
}

TEST(Sabotage, MemoryThatStaysMappedFailsAfterUnmap) {
  Saboteur::Plan plan;
  plan.never_unmap = true;
  EXPECT_THAT(line_of("fault-after-unmap", plan), HasSubstr("the command was not refused"));
}

TEST(Sabotage, AResetThatDoesNotHappenFails) {
  Saboteur::Plan plan;
  plan.no_reset = true;
  EXPECT_THAT(line_of("reset", plan), HasSubstr("every copy was done before the reset"));
}

TEST(Sabotage, AnUnknownCardIsAFailureToOpen) {
  Machine machine;
  std::vector<std::string> lines;
  machine.run([&](platform::Platform& host) {
    auto request = small({});
    request.bdf = platform::Bdf{7, 0, 0};
    const auto all_ok =
        demo::run_steps(host, request, [&](const auto& text) { lines.push_back(text); });
    EXPECT_FALSE(all_ok);
  });
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[1], HasSubstr("FAILED open: not found"));
  EXPECT_EQ(lines[2], "2 steps: 1 ok, 1 failed");
}

}  // namespace
}  // namespace npu::test
