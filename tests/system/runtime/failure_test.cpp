// SPDX-License-Identifier: Apache-2.0
// What goes wrong in a run is named, with task and core, within the watchdog's time; the next run
// succeeds (requirements.md M6, runtime.md A7).
#include <algorithm>

#include "tests/system/runtime/runtime_card.hpp"

namespace npu::test {
namespace {

constexpr std::uint32_t kNobody = 0xFFFF'FFFF;
constexpr Picoseconds kStart = 50_us;  // of a run, until its first tasks have ended
constexpr Picoseconds kDiagnosis = kWatchdog + kStart;
constexpr Picoseconds kUpload = 100_us;  // and the launch, and reading back
constexpr Picoseconds kLeaving = 1_ms;   // driver/runtime: for executors, after the scheduler

// Each on split and on coupled cores, with both handshakes.
struct Setting {
  const char* config;
  abi::HandshakeKind handshake;

  friend std::ostream& operator<<(std::ostream& out, const Setting& setting) {
    return out << setting.config;
  }
};

class RunFailures : public testing::TestWithParam<Setting> {
 protected:
  // Whatever `body` does, the next run succeeds.
  template <class F>
  void on_card(F body) {
    Machine machine({}, GetParam().config);
    machine.run([&](platform::Platform& platform) {
      RuntimeCard card(platform);
      card.counter_hz = machine.chip().aicpu_core.counter_hz;
      card.clean_up = kLeaving + machine.chip().command.drain_timeout;
      card.options.handshake = GetParam().handshake;
      body(card);
      card.expect_next_run_succeeds();
      EXPECT_THAT(card.context->finalize(), IsOk());
    });
  }
  // The run fails so: the scheduler's result is there within the watchdog's time, and cores that
  // can leave have left. The host then leaves hung executors some time, and the queue they keep its
  // own.
  static const abi::RunResult& expect_failure(RuntimeCard& card, const TaskGraph& graph,
                                              RunStatus status, const std::string& text) {
    const auto begin = card.clock.now();
    const auto report = card.run(graph);
    EXPECT_FALSE(report);
    if (!report) {
      EXPECT_THAT(report.error().context, testing::HasSubstr(text));
    }
    EXPECT_LT(card.clock.now() - begin, kDiagnosis + kUpload + card.clean_up);
    const auto& result = card.context->last_result();
    EXPECT_EQ(result.status, static_cast<std::uint32_t>(status));
    EXPECT_LT((result.ended - result.started) * (1'000'000'000'000 / card.counter_hz),
              static_cast<std::uint64_t>(kDiagnosis.count()));
    return result;
  }
};

TEST_P(RunFailures, ACyclicGraphNamesATaskOfTheCycleAndWhatItWaitsFor) {
  on_card([](RuntimeCard& card) {
    TaskGraph graph;
    card.add(graph, KernelMode::kStore, 7, 1);
    const auto first = card.add(graph, KernelMode::kStore, 8, 2);
    const auto second = card.add(graph, KernelMode::kStore, 9, 3);
    ASSERT_THAT(graph.depend(first, second), IsOk());
    ASSERT_THAT(graph.depend(second, first), IsOk());
    const auto& result =
        expect_failure(card, graph, RunStatus::kTimeout, "a task waits for others that never end");
    EXPECT_EQ(result.reason, static_cast<std::uint32_t>(StallReason::kWaiting));
    EXPECT_EQ(result.completed, 1U);
    EXPECT_EQ(result.waiting, 2U);
    EXPECT_TRUE(result.task == first.value || result.task == second.value);
    EXPECT_EQ(result.waits_for, result.task == first.value ? second.value : first.value);
    EXPECT_EQ(card.word(1), 7U);
  });
}

TEST_P(RunFailures, AHungKernelIsNamedWithItsCore) {
  on_card([](RuntimeCard& card) {
    TaskGraph graph;
    card.add(graph, KernelMode::kStore, 7, 1);
    const auto hangs = card.add(graph, KernelMode::kHang, 0, 2);
    card.add(graph, KernelMode::kStore, 7, 3, TaskShape::kAiv, {1, false, {}, {hangs}});
    const auto& result =
        expect_failure(card, graph, RunStatus::kTimeout, "a task does not end, task 1");
    EXPECT_EQ(result.reason, static_cast<std::uint32_t>(StallReason::kRunning));
    EXPECT_EQ(result.task, hangs.value);
    EXPECT_NE(result.worker, kNobody);
    EXPECT_NE(result.physical_core, kNobody);
    EXPECT_EQ(result.completed, 1U);
    EXPECT_EQ(card.word(3), 0U);
  });
}

// Nothing is in flight any more, and no core could go on without another that waits as well.
TEST_P(RunFailures, CoresThatWaitForEachOtherAreNamed) {
  using platform::CrossScope;
  on_card([](RuntimeCard& card) {
    struct Group {
      CrossScope scope;
      TaskShape shape;
      unsigned blocks;
    };
    std::vector<Group> groups{{CrossScope::kSameType, TaskShape::kAiv, 2}};
    const bool split = card.context->vector_cores() > 0;
    if (split) groups.push_back({CrossScope::kCluster, TaskShape::kMixed, 1});
    for (const auto& group : groups) {
      TaskGraph graph;
      card.add(graph, KernelMode::kStore, 7, 1);
      driver::TaskOptions together;
      together.blocks = group.blocks;
      together.cooperative = true;
      const auto waits =
          card.add(graph, KernelMode::kMutual, static_cast<std::uint64_t>(group.scope), 2,
                   group.shape, together);
      const auto& result =
          expect_failure(card, graph, RunStatus::kTimeout, "a task does not end, task 1");
      EXPECT_EQ(result.reason, static_cast<std::uint32_t>(StallReason::kRunning));
      EXPECT_EQ(result.task, waits.value);
      EXPECT_EQ(result.running, group.shape == TaskShape::kMixed ? 3U : 2U);
      EXPECT_NE(result.physical_core, kNobody);
      card.expect_next_run_succeeds();
    }
  });
}

TEST_P(RunFailures, AWorkerThatNeverAnswersIsMissing) {
  on_card([](RuntimeCard& card) {
    const auto deaf = RuntimeCard::program_file("runtime_test_executor");
    card.use_executor({deaf.data(), deaf.size()});
    TaskGraph graph;
    card.add(graph, KernelMode::kStore, 7, 1);
    const auto& result =
        expect_failure(card, graph, RunStatus::kCoreMissing, "core missing, worker 4");
    EXPECT_EQ(result.worker, 4U);
    EXPECT_EQ(result.completed, 0U);
    card.use_executor(must(workloads::program_image("executor")));
  });
}

TEST_P(RunFailures, AKernelThatReturnsSevenIsNamedWithItsResult) {
  on_card([](RuntimeCard& card) {
    TaskGraph graph;
    card.add(graph, KernelMode::kStore, 7, 1);
    const auto fails = card.add(graph, KernelMode::kReturn, 7, 0, TaskShape::kAic);
    card.add(graph, KernelMode::kStore, 7, 3, TaskShape::kAiv, {1, false, {}, {fails}});
    const auto& result =
        expect_failure(card, graph, RunStatus::kKernelFailed, "kernel failed, task 1");
    EXPECT_EQ(result.task, fails.value);
    EXPECT_EQ(result.detail, 7U);
    EXPECT_NE(result.physical_core, kNobody);
    EXPECT_EQ(card.word(3), 0U);
  });
}

TEST_P(RunFailures, AKernelThatTrapsIsNamedWithItsCore) {
  on_card([](RuntimeCard& card) {
    TaskGraph graph;
    const auto traps = card.add(graph, KernelMode::kTrap, 5, 0, TaskShape::kAic);
    const auto& result =
        expect_failure(card, graph, RunStatus::kCoreException, "core exception, task 0");
    EXPECT_EQ(result.task, traps.value);
    EXPECT_EQ(result.detail, static_cast<std::uint32_t>(abi::FaultCode::kKernelTrap));
    EXPECT_NE(result.physical_core, kNobody);
  });
}

TEST_P(RunFailures, AKernelThatCopiesFromNowhereStopsItsCore) {
  on_card([](RuntimeCard& card) {
    TaskGraph graph;
    must(graph.add(kTestKernel, TaskShape::kAiv,
                   {driver::scalar(static_cast<std::uint64_t>(KernelMode::kWild)),
                    driver::scalar(0x7FFF'0000'0000), driver::scalar(0)}));
    const auto& result =
        expect_failure(card, graph, RunStatus::kCoreException, "core exception, task 0");
    EXPECT_EQ(result.detail, static_cast<std::uint32_t>(abi::FaultCode::kTranslation));
  });
}

TEST_P(RunFailures, AFaultNamesTheKernelAndTheAddress) {
  on_card([](RuntimeCard& card) {
    TaskGraph graph;
    must(graph.add(kTestKernel, TaskShape::kAiv,
                   {driver::scalar(static_cast<std::uint64_t>(KernelMode::kWild)),
                    driver::scalar(0x7FFF'0000'0000), driver::scalar(0)}));
    const auto report = card.run(graph);
    ASSERT_FALSE(report);
    EXPECT_THAT(report.error().context,
                testing::HasSubstr("(runtime_test_kernel); MTE2 instruction 1, "
                                   "read of 0x7fff00000000, 64 bytes"));
  });
}

TEST_P(RunFailures, AFaultOfAnInstructionNamesItsPipeNumberOperandAndOffset) {
  on_card([](RuntimeCard& card) {
    TaskGraph graph;
    card.add(graph, KernelMode::kBeyond, 0x1000'0000);
    const auto report = card.run(graph);
    ASSERT_FALSE(report);
    EXPECT_THAT(report.error().context,
                testing::HasSubstr("access beyond a local buffer; kernel 0 (runtime_test_kernel); "
                                   "MTE2 instruction 2, to: offset 0x10000000 in UB"));
  });
}

TEST_P(RunFailures, ANumberOfArgumentsThatTheKernelDoesNotTakeStartsNothing) {
  on_card([](RuntimeCard& card) {
    const KernelId elementwise{7};
    ASSERT_THAT(
        card.context->register_kernel(elementwise, must(workloads::program_image("elementwise"))),
        IsOk());
    for (const std::size_t words : {0U, 5U, 7U}) {
      TaskGraph graph;
      card.add(graph, KernelMode::kStore, 7, 1);
      must(graph.add(elementwise, TaskShape::kAiv, std::vector<driver::TaskArgument>(words)));
      EXPECT_THAT(card.run(graph), FailsWith(ErrorCode::kInvalidArgument,
                                             "task 1: " + std::to_string(words) +
                                                 " arguments, kernel 7 (elementwise) takes 6"));
    }
    EXPECT_EQ(card.word(1), 0U);
  });
}

TEST_P(RunFailures, AWatchdogShorterThanTheGreetingSaysSo) {
  on_card([](RuntimeCard& card) {
    TaskGraph graph;
    card.add(graph, KernelMode::kStore, 7, 1);
    card.options.watchdog = 100_ns;
    const auto report = card.run(graph);
    ASSERT_FALSE(report);
    EXPECT_THAT(report.error().context,
                testing::HasSubstr("has not greeted the scheduler within the watchdog's 100 ns"));
    card.options.watchdog = kWatchdog;
  });
}

TEST_P(RunFailures, ATaskWhoseKernelIsNotThereStartsNothing) {
  on_card([](RuntimeCard& card) {
    TaskGraph graph;
    card.add(graph, KernelMode::kStore, 7, 1);
    must(graph.add(KernelId{5}, TaskShape::kAiv, {}));
    EXPECT_THAT(card.run(graph),
                FailsWith(ErrorCode::kInvalidArgument, "task 1: kernel 5 is not registered"));
    EXPECT_EQ(card.word(1), 0U);
  });
}

TEST_P(RunFailures, AnImageThatIsNoProgramIsAnExceptionOfItsTask) {
  on_card([](RuntimeCard& card) {
    const std::vector<std::byte> noise(4096, std::byte{0x5A});
    ASSERT_THAT(card.context->register_kernel(KernelId{6}, {noise.data(), noise.size()}), IsOk());
    TaskGraph graph;
    must(graph.add(KernelId{6}, TaskShape::kAiv, {}));
    const auto& result =
        expect_failure(card, graph, RunStatus::kCoreException, "core exception, task 0");
    EXPECT_EQ(result.detail, static_cast<std::uint32_t>(abi::FaultCode::kInvalidImage));
  });
}

TEST_P(RunFailures, TooManyArgumentsAreRefusedByTheGraph) {
  on_card([](RuntimeCard&) {
    TaskGraph graph;
    const std::vector<driver::TaskArgument> most(abi::kMaxTaskWords), more(abi::kMaxTaskWords + 1);
    EXPECT_THAT(graph.add(kTestKernel, TaskShape::kAiv, more),
                FailsWith(ErrorCode::kInvalidArgument, "49 arguments, at most 48"));
    EXPECT_EQ(graph.tasks(), 0U);
    EXPECT_THAT(graph.add(kTestKernel, TaskShape::kAiv, most), IsOk());
  });
}

TEST_P(RunFailures, MoreBlocksTogetherThanCoresAreRefused) {
  on_card([](RuntimeCard& card) {
    const unsigned cores = card.context->clusters() * std::max(card.context->vector_cores(), 1U);
    driver::TaskOptions together;
    together.cooperative = true;
    for (const unsigned blocks : {cores, cores + 1}) {
      TaskGraph graph;
      card.add(graph, KernelMode::kStore, blocks, 1);
      together.blocks = blocks;
      card.add(graph, KernelMode::kStore, 7, 2, TaskShape::kAiv, together);
      const auto report = card.run(graph);
      if (blocks == cores) {
        EXPECT_THAT(report, IsOk());
      } else {
        EXPECT_THAT(report, FailsWith(ErrorCode::kInvalidArgument, "task 1: "));
      }
      EXPECT_EQ(card.word(1), cores) << "nothing of the graph that is refused has run";
    }
  });
}

std::string name_of(const testing::TestParamInfo<Setting>& instance) {
  const bool coupled = std::string(instance.param.config) == "910b.yaml";
  const bool memory = instance.param.handshake == abi::HandshakeKind::kMemory;
  return std::string(coupled ? "Coupled" : "Split") + (memory ? "Memory" : "Register");
}

INSTANTIATE_TEST_SUITE_P(Cards, RunFailures,
                         testing::Values(Setting{"910b2.yaml", abi::HandshakeKind::kRegister},
                                         Setting{"910b2.yaml", abi::HandshakeKind::kMemory},
                                         Setting{"910b.yaml", abi::HandshakeKind::kRegister},
                                         Setting{"910b.yaml", abi::HandshakeKind::kMemory}),
                         name_of);

}  // namespace
}  // namespace npu::test
