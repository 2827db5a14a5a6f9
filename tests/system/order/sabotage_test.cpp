// SPDX-License-Identifier: Apache-2.0
// Driver, firmware and kernels without one of their synchronisations at a time: one of the seeds
// finds each that something depends on. How many these are is known from the sources.
#include <gmock/gmock.h>

#include <functional>

#include "tests/system/order/order_runs.hpp"
#include "tests/system/support/child_process.hpp"

namespace npu::test {
namespace {

using model::Omission;
using model::Synchronisation;
using ::testing::HasSubstr;

// Most is found by each of the first three.
constexpr unsigned kSeeds = 6;

using Without = std::function<LeftOut(std::size_t place)>;

LeftOut of_driver(std::size_t place) {
  return LeftOut{place, {}};
}
Without of_card(Synchronisation kind) {
  return [kind](std::size_t place) { return LeftOut{{}, Omission(kind, place)}; };
}

// What the first seed that finds it shows; empty: none does.
std::string first_found(const OrderCase& what, const LeftOut& without) {
  for (unsigned seed = 1; seed <= order_seeds(kSeeds); ++seed) {
    const auto run = order_run(what, seed, without);
    if (!run.outcome.empty()) return run.outcome;
  }
  return {};
}

// A line for each place that is found.
std::vector<std::string> found(const OrderCase& what, const Without& without) {
  constexpr std::size_t kNone = 1000;
  const auto as_it_is = order_run(what, 1, without(kNone));
  EXPECT_EQ(as_it_is.outcome, "") << "nothing is left out";
  std::vector<std::string> lines;
  for (std::size_t place = 0; place < as_it_is.places; ++place) {
    auto line = first_found(what, without(place));
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

// --- The driver --------------------------------------------------------------------------------

TEST(OrderSabotage, TheBarrierBeforeTheDoorbellOfARingIsMissed) {
  EXPECT_GE(found({"dma_latency", {"sizes=64,4KiB", "iterations=3"}}, of_driver).size(), 1U);
  EXPECT_GE(found({"dma_latency", {"sizes=64", "iterations=3", "ring=host"}}, of_driver).size(),
            1U);
}

// Of a queue's entries, and of the command that makes the queue.
TEST(OrderSabotage, TheBarriersBeforeTheDoorbellsOfQueuesAreMissed) {
  const auto lines = found({"queue_latency", {"queue_memory=device"}}, of_driver);
  EXPECT_GE(lines.size(), 2U);
  EXPECT_THAT(lines, ::testing::Contains(HasSubstr("malformed queue entry")));
  EXPECT_THAT(lines, ::testing::Contains(HasSubstr("no answer to map process")));
}

// The card may go on when the entry of the page table is there.
TEST(OrderSabotage, TheBarrierBeforeAPageFaultsReplyIsMissed) {
  const auto lines = found({"svm_touch", {"pages=4", "policy=batch"}}, of_driver);
  EXPECT_THAT(lines, ::testing::Contains(HasSubstr("PAGE_FAULT_REPLY")));
}

// --- Programs of the card ----------------------------------------------------------------------

// The scheduler's before it tells cores of their tasks. Its others are before releasing stores, or
// behind stores to registers alone.
TEST(OrderSabotage, TheBarrierBeforeACoreIsToldOfItsTaskIsMissed) {
  const auto lines =
      found({"graph", {written_predicate()}}, of_card(Synchronisation::kAicpuBarrier));
  EXPECT_EQ(lines.size(), 1U);
}

// Of the word that says whether a task is to be skipped. The other one is of results of kernels
// that have failed: here none has.
TEST(OrderSabotage, TheInvalidationOfAPredicateIsMissed) {
  const auto lines =
      found({"graph", {written_predicate()}}, of_card(Synchronisation::kAicpuInvalidate));
  EXPECT_EQ(lines.size(), 1U);
}

// The executor's: of its handshake line while it waits, of the same with its greeting, of the
// payload that it has run another time.
TEST(OrderSabotage, TheCleansOfTheExecutorsLinesAreMissed) {
  const auto cleans = of_card(Synchronisation::kCoreClean);
  EXPECT_GE(found({"graph", {written_predicate()}}, cleans).size(), 3U);
  EXPECT_GE(found({"graph", {written_predicate(), "handshake=memory"}}, cleans).size(), 3U);
}

// --- Waiting -----------------------------------------------------------------------------------

// Whether the host has all bytes of a copy when it has seen its completion, or the last byte alone.
bool is_there(bool completion, unsigned seed, const std::string& rule) {
  constexpr Bytes kSize = 64_KiB;
  bool there = false;
  Machine machine({"order.rule=" + rule, "order.seed=" + std::to_string(seed)}, "910b2.yaml");
  machine.run([&](platform::Platform& host) {
    const auto device = open_card(host);
    const auto stream = must(device->create_stream());
    const auto memory = must(device->allocate(2_MiB));
    const auto buffer = must(device->allocate_host(kSize));
    auto* const bytes = buffer->cpu().data;
    const auto end = host.clock().now() + 1_s;
    const auto in = driver::DmaCommand::host_to_device(buffer->bus(), memory.address, kSize);
    const auto out = driver::DmaCommand::device_to_host(memory.address, buffer->bus(), kSize);
    std::fill_n(bytes, kSize, std::byte{7});
    EXPECT_TRUE(device->copy(stream, in, driver::WaitPolicy::kPolling, end));
    std::fill_n(bytes, kSize, std::byte{0});
    const auto ticket = must(device->submit(stream, out));
    while (!completion && bytes[kSize - 1] != std::byte{7}) {
      host.clock().relax(buffer->cpu().subspan(kSize - 8, 8), end);
    }
    const auto arrives = [&] {
      EXPECT_TRUE(device->wait(ticket, driver::WaitPolicy::kPolling, end));
    };
    if (completion) arrives();
    there = std::all_of(bytes, bytes + kSize, [](std::byte each) { return each == std::byte{7}; });
    if (!completion) arrives();
  });
  return there;
}

unsigned times_there(bool completion, const std::string& rule = "weakest") {
  unsigned times = 0;
  for (unsigned seed = 1; seed <= order_seeds(kSeeds); ++seed) {
    const auto text =
        text_of_process([&] { return is_there(completion, seed, rule) ? "there" : "-"; });
    times += text == "there" ? 1 : 0;
  }
  return times;
}

TEST(OrderSabotage, AWaitForACopysCompletionIsMissed) {
  EXPECT_EQ(times_there(true), order_seeds(kSeeds));
  EXPECT_LT(times_there(false), order_seeds(kSeeds));
  EXPECT_EQ(times_there(false, "program"), order_seeds(kSeeds)) << "only the rule shows it";
}

}  // namespace
}  // namespace npu::test
