// SPDX-License-Identifier: Apache-2.0
// Every step of npudemo finds what it is there to find.
#include <gmock/gmock.h>

#include <cstring>

#include "apps/demo/run.hpp"
#include "npu/abi/registers.hpp"
#include "tests/system/demo/saboteur.hpp"
#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

using testing::HasSubstr;

constexpr Bytes kDeviceTime = abi::DeviceTime::kOffset;

demo::SessionOptions small() {
  demo::SessionOptions options;
  options.max_bytes = 1_MiB;
  return options;
}

// What the step named prints on a machine with `plan`.
std::string line_of(const std::string& step, const Saboteur::Plan& plan) {
  Machine machine;
  std::string line;
  machine.run([&](platform::Platform& host) {
    Saboteur saboteur(host, plan);
    demo::Session session(saboteur, small());
    demo::Selection selection;
    selection.steps = {step};
    std::vector<std::string> lines;
    const bool all_ok =
        demo::run_steps(session, selection, [&](const auto& text) { lines.push_back(text); });
    line = lines.empty() ? "" : lines.front();
    EXPECT_EQ(all_ok, line.rfind("ok ", 0) == 0);
    EXPECT_EQ(lines.back(), all_ok ? "1 steps: 1 ok, 0 failed" : "1 steps: 0 ok, 1 failed");
  });
  return line;
}

// Flips a bit of the newest DMA memory at the `turn`-th read of DEVICE_TIME.
std::string line_with_flip(const std::string& step, unsigned turn, Bytes at) {
  Machine machine;
  std::string line;
  machine.run([&](platform::Platform& host) {
    unsigned reads = 0;
    Saboteur* self = nullptr;
    Saboteur::Plan plan;
    plan.on_register = [&](Bytes offset, std::uint64_t value) {
      if (offset == kDeviceTime && ++reads == turn) self->newest().data[at] ^= std::byte{1};
      return value;
    };
    Saboteur saboteur(host, plan);
    self = &saboteur;
    demo::Session session(saboteur, small());
    demo::Selection selection;
    selection.steps = {step};
    demo::run_steps(session, selection, [&](const auto& text) {
      if (line.empty()) line = text;
    });
  });
  return line;
}

TEST(Sabotage, NothingWrongIsOk) {
  EXPECT_THAT(line_of("dma", {}), HasSubstr("ok dma: 14 shapes"));
}

TEST(Sabotage, ABitThatChangesInACopyFailsDma) {
  // The fourth read ends the first copy to the host: 4 bytes behind two guards of 64.
  EXPECT_THAT(line_with_flip("dma", 4, 128), HasSubstr("FAILED dma: bad device: 4 bytes"));
}

TEST(Sabotage, AByteWrittenBeforeTheDataFailsDma) {
  EXPECT_THAT(line_with_flip("dma", 4, 127), HasSubstr("device, before: 1 of 64 bytes differ"));
}

TEST(Sabotage, AByteWrittenBehindTheDataFailsDma) {
  EXPECT_THAT(line_with_flip("dma", 4, 132), HasSubstr("device, behind: 1 of 64 bytes differ"));
}

TEST(Sabotage, AByteWrittenBesideTheHostsBufferFailsDma) {
  EXPECT_THAT(line_with_flip("dma", 4, 63), HasSubstr("host, before: 1 of 64 bytes differ"));
}

TEST(Sabotage, ADeviceClockThatStandsStillFailsDma) {
  Saboteur::Plan plan;
  plan.on_register = [](Bytes offset, std::uint64_t value) {
    return offset == kDeviceTime ? 77 : value;
  };
  EXPECT_THAT(line_of("dma", plan), HasSubstr("FAILED dma: bad device: DEVICE_TIME was 77"));
}

TEST(Sabotage, ABitThatChangesFailsWaits) {
  EXPECT_THAT(line_with_flip("wait-polling", 8, 5), HasSubstr("FAILED wait-polling"));
}

TEST(Sabotage, ACommandCountedTwiceFailsTheRing) {
  Saboteur::Plan plan;
  unsigned reads = 0;  // of the events of stream and step by the driver, then by the step
  plan.on_register = [&](Bytes offset, std::uint64_t value) {
    const bool event = offset >= abi::kEventBlock && offset < abi::kMsixTableOffset;
    return event && ++reads > 3 ? value + 1 : value;
  };
  EXPECT_THAT(line_of("ring", plan), HasSubstr("8192 commands submitted, 8193 counted"));
}

TEST(Sabotage, ALostAnswerFailsTheRing) {
  EXPECT_THAT(line_with_flip("ring", 2, 8 * 4096), HasSubstr("answers in order: 1 of"));
}

TEST(Sabotage, LostInterruptsFailWaitsForThem) {
  Saboteur::Plan plan;
  plan.silent_vectors = true;
  EXPECT_THAT(line_of("wait-interrupt", plan), HasSubstr("no wait was ended by an interrupt"));
}

TEST(Sabotage, BytesThatChangeFailQueues) {
  Machine machine;
  std::string line;
  machine.run([&](platform::Platform& host) {
    Saboteur* self = nullptr;
    Saboteur::Plan plan;
    plan.before_interrupt_returns = [&self] {
      const auto bytes = self->of_size(68_KiB);
      if (bytes.data != nullptr) std::memset(bytes.data + 8, 0xEE, 8);
    };
    Saboteur saboteur(host, plan);
    self = &saboteur;
    demo::Session session(saboteur, small());
    demo::run_steps(session, {{"queues"}, demo::Ending::kNone}, [&](const auto& text) {
      if (line.empty()) line = text;
    });
  });
  EXPECT_THAT(line, HasSubstr("FAILED queues: bad device: copies: 8 of 65536 bytes differ"));
}

TEST(Sabotage, AnotherIdentityFails) {
  Saboteur::Plan plan;
  unsigned reads = 0;  // two are the driver's, which would not open such a card
  plan.on_register = [&](Bytes offset, std::uint64_t value) {
    return offset == abi::ChipId::kOffset && ++reads > 2 ? value ^ 0x10000 : value;
  };
  EXPECT_THAT(line_of("identity", plan), HasSubstr("19e5:d110, CHIP_ID 19e5:d111"));
}

TEST(Sabotage, ALinkOfNoWidthFails) {
  Saboteur::Plan plan;
  plan.on_config = [](std::uint32_t, std::uint32_t value) {
    return (value & 0x3FF) == 0x104 ? value & ~0x3F0U : value;  // x16, 16 GT/s
  };
  EXPECT_THAT(line_of("link", plan), HasSubstr("FAILED link"));
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
    auto options = small();
    options.bdf = platform::Bdf{7, 0, 0};
    demo::Session session(host, options);
    const auto all_ok =
        demo::run_steps(session, {}, [&](const auto& text) { lines.push_back(text); });
    EXPECT_FALSE(all_ok);
  });
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[1], HasSubstr("FAILED open: not found"));
  EXPECT_EQ(lines[2], "2 steps: 1 ok, 1 failed");
}

}  // namespace
}  // namespace npu::test
