// SPDX-License-Identifier: Apache-2.0
// The card's link goes down while npudemo works.
#include <gmock/gmock.h>

#include "apps/demo/run.hpp"
#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

using testing::HasSubstr;

std::vector<std::string> lines_of(Picoseconds timeout, bool cut) {
  Machine machine;
  std::vector<std::string> lines;
  machine.run([&](platform::Platform& host) {
    const auto when = host.clock().now() + 3_ms;
    auto task = must(host.tasks().spawn("cut", [&, when] {
      host.clock().sleep_until(when);
      if (cut) machine.system.fabric().link(0).set_down(true);
    }));
    demo::Request request;
    request.steps = {"scan"};
    request.patience = timeout;
    request.ending = demo::kRemoval;
    const bool ok =
        demo::run_steps(host, request, [&](const auto& text) { lines.push_back(text); });
    EXPECT_EQ(ok, cut);
    task->join();
  });
  return lines;
}

TEST(Removal, IsSeenAndEverythingSaysSo) {
  const auto lines = lines_of(30_s, true);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[1], "working until the card is removed");
  EXPECT_THAT(lines[2], testing::ContainsRegex("^ok removal: [1-9][0-9]* copies; "));
  EXPECT_THAT(lines[2], HasSubstr("device lost: 01:00.0 no longer answers"));
  EXPECT_EQ(lines[3], "2 steps: 2 ok, 0 failed");
}

TEST(Removal, ACardThatStaysIsAFailure) {
  const auto lines = lines_of(10_ms, false);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines[2], HasSubstr("FAILED removal: timeout: the card is still there after"));
}

TEST(Recovery, ALinkThatComesBackIsACardThatWorksAgain) {
  Machine machine;
  std::vector<std::string> lines;
  machine.run([&](platform::Platform& host) {
    const auto when = host.clock().now() + 3_ms;
    auto task = must(host.tasks().spawn("cut", [&, when] {
      host.clock().sleep_until(when);
      machine.system.fabric().link(0).set_down(true);
      host.clock().sleep_until(when + 500_ms);
      machine.system.fabric().link(0).set_down(false);
    }));
    demo::Request request;
    request.steps = {"scan"};
    request.ending = demo::kError;
    EXPECT_TRUE(demo::run_steps(host, request, [&](const auto& text) { lines.push_back(text); }));
    task->join();
  });
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[1], "working until the card has an error");
  EXPECT_THAT(lines[2], testing::ContainsRegex("^ok error: [1-9][0-9]* copies; "));
  EXPECT_THAT(lines[2], HasSubstr("opened again, works"));
}

}  // namespace
}  // namespace npu::test
