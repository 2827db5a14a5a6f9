// SPDX-License-Identifier: Apache-2.0
// 56 GiB of device memory in under 100 MiB of the host's.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>

#include "tests/support/folders.hpp"
#include "tests/system/queues/queue_card.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NPU_SHADOW_MEMORY 1
#else
#define NPU_SHADOW_MEMORY 0
#endif

namespace npu::test {
namespace {

constexpr Bytes kLimit = 100_MiB;

// Of this process, from /proc/self/status.
Bytes peak_resident() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    Bytes kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  ADD_FAILURE() << "no VmHWM";
  return 0;
}

// A sanitizer's shadow memory would be counted, too; all the rest of a test holds with it as well.
void expect_below_limit(Bytes resident, Bytes limit = kLimit) {
  if (NPU_SHADOW_MEMORY) return;
  EXPECT_LT(resident, limit);
}

// Writes and reads back 64 KiB at 512 places, 112 MiB apart, over all the memory.
TEST(ResidentMemory, AllOf56GiBIsUsableInUnder100MiB) {
  Machine().run([&](platform::Platform& host) {
    const auto device = open_card(host);
    const auto stream = must(device->create_stream());
    ASSERT_EQ(device->memory_statistics().total, 56_GiB);
    const auto all = must(device->allocate(56_GiB));
    const auto from = must(device->allocate_host(64_KiB)), to = must(device->allocate_host(64_KiB));
    const auto copy = [&](const driver::DmaCommand& command) {
      const auto deadline = host.clock().now() + 1_s;
      ASSERT_TRUE(device->copy(stream, command, driver::WaitPolicy::kPolling, deadline));
    };
    for (Bytes at = 0; at < 56_GiB; at += 112_MiB) {
      std::memset(from->cpu().data, static_cast<int>(at / 112_MiB % 251) + 1, 64_KiB);
      copy(driver::DmaCommand::host_to_device(from->bus(), all.address + at, 64_KiB));
    }
    for (Bytes at = 0; at < 56_GiB; at += 112_MiB) {
      copy(driver::DmaCommand::device_to_host(all.address + at, to->bus(), 64_KiB));
      EXPECT_EQ(to->cpu().data[0], std::byte(at / 112_MiB % 251 + 1));
      EXPECT_EQ(to->cpu().data[65535], std::byte(at / 112_MiB % 251 + 1));
    }
  });
  expect_below_limit(peak_resident());
}

// 1024 queues on each of eight cards, all of which have work at the same time (issue 4).
TEST(ResidentMemory, EightCardsWith1024QueuesEachNeedUnder300MiB) {
  Machine({}, "system-8x910b.yaml").run([&](platform::Platform& host) {
    std::vector<std::unique_ptr<QueueCard>> cards;
    std::vector<std::unique_ptr<QueueProcess>> processes;
    for (unsigned i = 0; i < 8; ++i) {
      cards.push_back(std::make_unique<QueueCard>(host, i));
      for (const int queues : {511, 511, 2}) {
        processes.push_back(std::make_unique<QueueProcess>(*cards[i]));
        for (int q = 0; q < queues; ++q) processes.back()->add();
      }
    }
    std::vector<driver::QueueTicket> last;
    for (auto& process : processes) {
      for (auto& queue : process->queues) last.push_back(cards[0]->submit(*queue, entries::nop()));
    }
    ASSERT_EQ(last.size(), 8U * 1024);
    auto ticket = last.begin();
    for (auto& process : processes) {
      for (auto& queue : process->queues) EXPECT_TRUE(cards[0]->wait(*queue, *ticket++));
    }
    processes.clear();
  });
  expect_below_limit(peak_resident(), 300_MiB);
}

TEST(ResidentMemory, TheProgramNeedsUnder100MiB) {
  const std::string program = binary_dir() + "/bin/npusim";
  const std::string config = source_dir() + "/configs/910b.yaml";
  const pid_t child = fork();
  if (child == 0) {
    static_cast<void>(std::freopen("/dev/null", "w", stdout));
    execl(program.c_str(), "npusim", "--config", config.c_str(), "run", "alloc_churn", "--set",
          "steps=2000", static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  ASSERT_EQ(wait4(child, &status, 0, &usage), child);
  EXPECT_EQ(status, 0);
  expect_below_limit(static_cast<Bytes>(usage.ru_maxrss) * 1024);
}

}  // namespace
}  // namespace npu::test
