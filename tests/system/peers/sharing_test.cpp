// SPDX-License-Identifier: Apache-2.0
// Memory under a name, which three processes of two cards have; it outlives the one that made it.
#include "npu/driver/sharing.hpp"

#include <algorithm>

#include "tests/system/peers/peer_bench.hpp"
#include "tests/system/queues/queue_card.hpp"

namespace npu::test {
namespace {

constexpr driver::ProcessId kOwner{100}, kWriter{200}, kReader{300};
constexpr Bytes kShared = 4_MiB;
constexpr Bytes kRead = 64_KiB;

driver::ProcessOptions of(driver::ProcessId process) {
  driver::ProcessOptions options;
  options.process = process;
  return options;
}

driver::DeviceAddress map(driver::AddressSpace& space, driver::MemoryHandle memory) {
  const auto at = must(space.reserve(kShared));
  EXPECT_TRUE(space.map(at, kShared, memory));
  EXPECT_TRUE(space.set_access(at, kShared, driver::Access::kReadWrite));
  return at;
}

bool all(const std::vector<std::uint32_t>& words, std::uint32_t value) {
  return std::all_of(words.begin(), words.end(), [&](auto word) { return word == value; });
}

// The owner and the reader are of card 1; the writer, of card 0, reaches the memory over HCCS.
TEST(SharedMemory, OutlivesItsOwner) {
  Machine({}, kTwoCards).run([](platform::Platform& host) {
    QueueCard near(host, 0), far(host, 1);
    driver::MemoryShares shares(host);
    const auto free_before = far.device->memory_statistics().free;
    {
      QueueProcess writer(near, of(kWriter)), reader(far, of(kReader));
      auto owner = std::make_unique<QueueProcess>(far, of(kOwner));
      auto& space = owner->process->space();
      const auto memory = must(space.create_memory(kShared));
      const auto key = must(shares.share(space, memory, {"tensor", false}));
      EXPECT_EQ(shares.open(writer.process->space(), "tensor").error().code,
                ErrorCode::kPermissionDenied);
      ASSERT_TRUE(shares.admit(space, key, kWriter));
      ASSERT_TRUE(shares.admit(space, key, kReader));
      const auto written =
          map(writer.process->space(), must(shares.open(writer.process->space(), "tensor")));
      const auto seen =
          map(reader.process->space(), must(shares.open(reader.process->space(), "tensor")));
      const auto made = map(space, memory);
      auto &mine = owner->add(), &wrote = writer.add(), &reads = reader.add();
      ASSERT_TRUE(far.run(mine, entries::fill(made, kShared, 0x11111111)));
      EXPECT_TRUE(all(reader.read(reads, seen, kRead), 0x11111111));
      owner.reset();
      EXPECT_EQ(shares.open(reader.process->space(), "tensor").error().code, ErrorCode::kNotFound);
      ASSERT_TRUE(near.run(wrote, entries::fill(written + 1_MiB, 1_MiB, 0x22222222)));
      EXPECT_TRUE(all(reader.read(reads, seen, kRead), 0x11111111));
      EXPECT_TRUE(all(reader.read(reads, seen + 1_MiB, kRead), 0x22222222));
      EXPECT_TRUE(all(reader.read(reads, seen + 2_MiB, kRead), 0x11111111));
    }
    EXPECT_EQ(far.device->memory_statistics().free, free_before);
  });
}

}  // namespace
}  // namespace npu::test
