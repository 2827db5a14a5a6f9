// SPDX-License-Identifier: Apache-2.0
// What this machine gives a run, under limits of this process.
#include "workloads/framework/host_room.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test_folder.hpp"

namespace npu::workloads {
namespace {

using testing::HasSubstr;

// Whether `check` holds in a child process with that limit.
template <class F>
bool holds_under(decltype(RLIMIT_AS) which, Bytes limit, F check) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit value{limit, limit};
    _exit(setrlimit(which, &value) == 0 && check() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status == 0;
}

TEST(HostRoom, IsBoundedByTheLimitOnAddressSpace) {
  EXPECT_TRUE(holds_under(RLIMIT_AS, 1_GiB << 14, [] { return host_room().bytes <= 1_GiB << 14; }));
  EXPECT_TRUE(holds_under(
      RLIMIT_AS, 1, [] { return host_room().bytes == 0 && host_room().bound == "ulimit -v"; }));
}

TEST(HostRoom, IsBoundedByTheLimitOnData) {
  EXPECT_TRUE(holds_under(
      RLIMIT_DATA, 1, [] { return host_room().bytes == 0 && host_room().bound == "ulimit -d"; }));
}

// A machine whose files say what a test wants them to.
class MachineFiles : public testing::Test {
 protected:
  MachineFiles() { put("/proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:  1048576 kB\n"); }
  void put(const std::string& path, const std::string& text) { root_.write(path, text); }
  void expect(Bytes bytes, const std::string& bound) {
    const HostRoom room = host_room(root_.path());
    EXPECT_EQ(room.bytes, bytes);
    EXPECT_EQ(room.bound, bound);
  }
  static constexpr const char* kGroup = "the control group's memory limit";
  const test::TestFolder root_;
};

TEST_F(MachineFiles, WithoutAGroupWhatIsAvailableCounts) {
  expect(1_GiB, "MemAvailable");
}

TEST_F(MachineFiles, AGroupOfTheSecondVersionCountsWithoutItsCacheOfFiles) {
  put("/proc/self/cgroup", "0::/user/job\n");
  put("/sys/fs/cgroup/user/job/memory.max", "500000\n");
  put("/sys/fs/cgroup/user/job/memory.current", "300000\n");
  put("/sys/fs/cgroup/user/job/memory.stat", "anon 1\ninactive_file 100000\n");
  expect(300'000, kGroup);
}

TEST_F(MachineFiles, TheGroupsAroundItCountToo) {
  put("/proc/self/cgroup", "0::/user/job\n");
  put("/sys/fs/cgroup/user/job/memory.max", "max\n");
  put("/sys/fs/cgroup/user/job/memory.current", "300000\n");
  put("/sys/fs/cgroup/user/memory.max", "400000\n");
  put("/sys/fs/cgroup/user/memory.current", "390000\n");
  expect(10'000, kGroup);
}

TEST_F(MachineFiles, AGroupThatIsFullHasNoRoom) {
  put("/proc/self/cgroup", "0::/\n");
  put("/sys/fs/cgroup/memory.max", "1000\n");
  put("/sys/fs/cgroup/memory.current", "2000\n");
  expect(0, kGroup);
}

TEST_F(MachineFiles, AGroupOfTheFirstVersionIsTheMemoryControllers) {
  put("/proc/self/cgroup", "4:cpu,cpuacct:/other\n3:memory:/job\n0::/\n");
  put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "700000\n");
  put("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "200000\n");
  put("/sys/fs/cgroup/memory/job/memory.stat", "total_inactive_file 50000\n");
  expect(550'000, kGroup);
}

TEST_F(MachineFiles, FilesThatMakeNoSenseDoNotCount) {
  put("/proc/self/cgroup", "nonsense\n0::/job\n");
  put("/sys/fs/cgroup/job/memory.max", "much\n");
  put("/sys/fs/cgroup/job/memory.current", "-1x\n");
  expect(1_GiB, "MemAvailable");
}

TEST(HostRoom, WhatIsThereIsNotRefused) {
  EXPECT_TRUE(require_host_memory("nothing", 0));
  EXPECT_TRUE(require_host_memory("a page", 4096));
}

TEST(HostRoom, TheRefusalSaysWhatIsNeededAndWhatIsThere) {
  const auto refused = require_host_memory("elements=5", UINT64_MAX / 2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.error().context, HasSubstr("elements=5 needs 9223372036.9 GB"));
  EXPECT_THAT(refused.error().context, HasSubstr(" GB (" + host_room().bound + ")"));
}

}  // namespace
}  // namespace npu::workloads
