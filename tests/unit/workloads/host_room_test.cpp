// SPDX-License-Identifier: Apache-2.0
// What this machine gives a run, under limits of this process.
#include "workloads/framework/host_room.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/shadow_memory.hpp"

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
  if (test::kShadowMemory) GTEST_SKIP() << "the sanitizer itself needs addresses";
  EXPECT_TRUE(holds_under(RLIMIT_AS, 1_GiB << 14, [] { return host_room().bytes <= 1_GiB << 14; }));
  EXPECT_TRUE(holds_under(
      RLIMIT_AS, 1, [] { return host_room().bytes == 0 && host_room().bound == "ulimit -v"; }));
}

TEST(HostRoom, IsBoundedByTheLimitOnData) {
  if (test::kShadowMemory) GTEST_SKIP() << "the sanitizer itself needs addresses";
  EXPECT_TRUE(holds_under(
      RLIMIT_DATA, 1, [] { return host_room().bytes == 0 && host_room().bound == "ulimit -d"; }));
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
