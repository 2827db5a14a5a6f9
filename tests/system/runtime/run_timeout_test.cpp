// SPDX-License-Identifier: Apache-2.0
// The host loses timeout with a run at many instants, from before it begins until it has ended:
// it ends well or in time, and the context runs the next one. NPU_FAULT_INSTANTS=1000 for more.
#include <cstdlib>

#include "kernels/device/shipped/elementwise.hpp"
#include "tests/system/runtime/runtime_card.hpp"

namespace npu::test {
namespace {

constexpr KernelId kSum{1};
constexpr std::uint64_t kElements = 20'000;

unsigned timeout_instants() {
  const char* const wanted = std::getenv("NPU_FAULT_INSTANTS");
  return wanted == nullptr ? 25 : static_cast<unsigned>(std::atoi(wanted));
}

class RunTimeout : public testing::TestWithParam<driver::WaitPolicy> {
 protected:
  // Sums by the shipped kernel, one behind the other, and small tasks beside them.
  void build(RuntimeCard& card) {
    const auto kernel = must(workloads::program_image("elementwise"));
    EXPECT_THAT(card.context->register_kernel(kSum, kernel), IsOk());
    const auto memory = must(card.context->allocate(kElements * 4));
    kernels::vector::Elementwise work;
    work.a = work.b = work.to = memory.value;
    work.count = kElements;
    work.op = platform::VectorOp::kAdd;
    work.type = platform::DataType::kFp32;
    driver::TaskOptions chain;
    chain.blocks = 8;
    for (unsigned i = 0; i < 3; ++i) {
      std::vector<driver::TaskArgument> arguments;
      for (const auto word : kernels::vector::to_words(work)) {
        arguments.push_back(driver::scalar(word));
      }
      const auto task = must(graph_.add(kSum, TaskShape::kAiv, arguments, chain));
      chain.after = {task};
      card.add(graph_, KernelMode::kStore, i, i, i == 1 ? TaskShape::kAic : TaskShape::kAiv);
    }
    card.options.wait = GetParam();
  }
  // The time from the launch to the end of a run with timeout.
  Picoseconds whole_run(RuntimeCard& card) {
    card.options.timeout = Picoseconds::max();
    const auto report = card.run(graph_);
    EXPECT_THAT(report, IsOk());
    return report ? report->ended - report->launched : Picoseconds();
  }
  // True: it ended well.
  bool run_with(RuntimeCard& card, Picoseconds timeout) {
    card.options.timeout = timeout;
    const auto begin = card.clock.now();
    const auto report = card.run(graph_);
    EXPECT_LT(card.clock.now() - begin, 100_ms);
    if (!report) {
      EXPECT_EQ(report.error().code, ErrorCode::kTimeout) << report.error().message();
    }
    card.options.timeout = 1_s;
    card.expect_next_run_succeeds();
    return report.has_value();
  }

  Machine machine_{{}, "910b2.yaml"};
  TaskGraph graph_;
};

TEST_P(RunTimeout, EndsAtAnyInstantAndTheNextRunSucceeds) {
  machine_.run([this](platform::Platform& host) {
    RuntimeCard card(host);
    build(card);
    const auto whole = whole_run(card);
    for (unsigned i = 0; i <= timeout_instants() && !HasFailure(); ++i) {
      SCOPED_TRACE(i);
      run_with(card, Picoseconds(whole.count() * 5 / 4 / timeout_instants() * i));
    }
  });
}

TEST_P(RunTimeout, OfNothingIsNeverEnough) {
  machine_.run([this](platform::Platform& host) {
    RuntimeCard card(host);
    build(card);
    for (const auto timeout : {Picoseconds(INT64_MIN), Picoseconds(-1), 0_ps, 1_ps}) {
      EXPECT_FALSE(run_with(card, timeout)) << timeout.count();
    }
  });
}

TEST_P(RunTimeout, WithoutEndIsEnough) {
  machine_.run([this](platform::Platform& host) {
    RuntimeCard card(host);
    build(card);
    for (const auto timeout : {1_s, Picoseconds::max() - 1_ps, Picoseconds::max()}) {
      EXPECT_TRUE(run_with(card, timeout)) << timeout.count();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Waits, RunTimeout,
                         testing::Values(driver::WaitPolicy::kPolling,
                                         driver::WaitPolicy::kInterrupt,
                                         driver::WaitPolicy::kAdaptive),
                         [](const auto& each) {
                           return std::string(each.param == driver::WaitPolicy::kPolling ? "Polling"
                                              : each.param == driver::WaitPolicy::kInterrupt
                                                  ? "Interrupt"
                                                  : "Adaptive");
                         });

}  // namespace
}  // namespace npu::test
