// SPDX-License-Identifier: Apache-2.0
// Copies of tensors before dispatch and after completion (runtime.md A5), made on the card.
#include <map>

#include "kernels/device/shipped/elementwise.hpp"
#include "npu/abi/pmu.hpp"
#include "tests/system/runtime/runtime_card.hpp"

namespace npu::test {
namespace {

using abi::DumpStage;
using driver::TensorCopy;

constexpr KernelId kElementwise{1};
// Three vectors, of a size that ends in the middle of a line; copied in more than one piece.
constexpr std::size_t kCount = 1501;
constexpr Bytes kSize = kCount * sizeof(float);

// x = x + y, twice.
class DumpCard : public RuntimeCard {
 public:
  explicit DumpCard(platform::Platform& platform) : RuntimeCard(platform) {
    EXPECT_THAT(
        context->register_kernel(kElementwise, must(workloads::program_image("elementwise"))),
        IsOk());
    x = tensor(1.5F), y = tensor(2.0F);
    options.dump_tensors = true;
  }

  DeviceAddress tensor(float value) {
    const std::vector<float> values(kCount, value);
    const auto at = must(context->allocate(kSize));
    EXPECT_THAT(
        context->copy_to_device(at, {reinterpret_cast<const std::byte*>(values.data()), kSize}),
        IsOk());
    return at;
  }
  TaskId add_in_place(TaskGraph& graph, Bytes size, const driver::TaskOptions& task = {}) const {
    kernels::vector::Elementwise work;
    work.to = work.a = x.value, work.b = y.value;
    work.count = kCount;
    const auto w = kernels::vector::to_words(work);
    return must(graph.add(kElementwise, TaskShape::kAiv,
                          {driver::in_out(x, size), driver::scalar(w[1]), driver::input(y, size),
                           driver::scalar(w[3]), driver::scalar(w[4]), driver::scalar(w[5])},
                          task));
  }

  DeviceAddress x, y;
};

std::vector<float> floats(const TensorCopy& copy) {
  std::vector<float> values(copy.bytes.size() / sizeof(float));
  std::memcpy(values.data(), copy.bytes.data(), copy.bytes.size());
  return values;
}

void expect_copy(const TensorCopy& copy, std::uint32_t task, std::uint32_t argument,
                 DumpStage stage, float value) {
  EXPECT_EQ(copy.task.value, task);
  EXPECT_EQ(copy.argument, argument);
  EXPECT_EQ(copy.stage, stage);
  ASSERT_TRUE(copy.taken);
  EXPECT_EQ(floats(copy), std::vector<float>(kCount, value)) << "task " << task;
}

class TensorDumps : public testing::TestWithParam<std::tuple<const char*, abi::HandshakeKind>> {
 protected:
  template <class F>
  void on_card(F body) {
    Machine({}, std::get<0>(GetParam())).on<DumpCard>([&](DumpCard& card) {
      card.options.handshake = std::get<1>(GetParam());
      body(card);
    });
  }
};

TEST_P(TensorDumps, ShowWhatATaskHasReadAndWhatItHasWritten) {
  on_card([](DumpCard& card) {
    TaskGraph graph;
    driver::TaskOptions blocks;
    blocks.blocks = 3;
    card.add_in_place(graph, kSize, blocks);
    card.add_in_place(graph, kSize, blocks);
    const auto report = must(card.run(graph));
    ASSERT_EQ(report.tensors.size(), 6U);
    expect_copy(report.tensors[0], 0, 0, DumpStage::kBeforeDispatch, 1.5F);
    expect_copy(report.tensors[1], 0, 2, DumpStage::kBeforeDispatch, 2.0F);
    expect_copy(report.tensors[2], 0, 0, DumpStage::kAfterCompletion, 3.5F);
    expect_copy(report.tensors[3], 1, 0, DumpStage::kBeforeDispatch, 3.5F);
    expect_copy(report.tensors[4], 1, 2, DumpStage::kBeforeDispatch, 2.0F);
    expect_copy(report.tensors[5], 1, 0, DumpStage::kAfterCompletion, 5.5F);
    EXPECT_LT(report.tensors[2].ticks, report.tensors[3].ticks);
  });
}

TEST_P(TensorDumps, CostTheTimeThatTheSchedulerNeedsForThem) {
  on_card([](DumpCard& card) {
    TaskGraph graph;
    for (unsigned i = 0; i < 4; ++i) card.add_in_place(graph, kSize);
    card.options.dump_tensors = false;
    const auto plain = must(card.run(graph));
    EXPECT_TRUE(plain.tensors.empty());
    EXPECT_EQ(plain.result.dump_ticks, 0U);
    card.options.dump_tensors = true;
    const auto dumped = must(card.run(graph));
    // A chain: no copy is hidden behind another task.
    const auto ticks = [](const auto& report) {
      return report.result.finished - report.result.handshaken;
    };
    const auto extra = ticks(dumped) - ticks(plain);
    EXPECT_GT(dumped.result.dump_ticks, 0U);
    EXPECT_GT(ticks(dumped), ticks(plain));
    EXPECT_NEAR(static_cast<double>(extra), static_cast<double>(dumped.result.dump_ticks),
                0.1 * static_cast<double>(extra));
  });
}

TEST_P(TensorDumps, OfARunThatHangsShowWhatTheHungTaskWasGiven) {
  on_card([](DumpCard& card) {
    TaskGraph graph;
    card.add_in_place(graph, kSize);
    // Waits at a word that is 0; its other argument is a tensor only for the dump.
    const auto mode = static_cast<std::uint64_t>(KernelMode::kHang);
    must(graph.add(
        kTestKernel, TaskShape::kAiv,
        {driver::scalar(mode), driver::scalar(card.words.value), driver::in_out(card.x, kSize)}));
    card.add_in_place(graph, kSize);
    EXPECT_THAT(card.run(graph), FailsWith(ErrorCode::kTimeout, "a task does not end, task 1"));
    const auto& tensors = card.context->last_report().tensors;
    ASSERT_EQ(tensors.size(), 8U);
    expect_copy(tensors[2], 0, 0, DumpStage::kAfterCompletion, 3.5F);
    expect_copy(tensors[3], 1, 2, DumpStage::kBeforeDispatch, 3.5F);
    for (unsigned i = 4; i < 8; ++i) {
      EXPECT_FALSE(tensors[i].taken) << i;
      EXPECT_TRUE(tensors[i].bytes.empty()) << i;
    }
    card.expect_next_run_succeeds();
  });
}

TEST_P(TensorDumps, AreOfTensorsOfKnownSizeThatAreDeviceMemory) {
  on_card([](DumpCard& card) {
    TaskGraph unsized;
    card.add_in_place(unsized, 0);
    EXPECT_TRUE(must(card.run(unsized)).tensors.empty());
    TaskGraph beyond;
    card.add_in_place(beyond, Bytes{1} << 40);
    EXPECT_THAT(card.run(beyond), FailsWith(ErrorCode::kInvalidArgument, "is no device memory"));
    card.options.dump_tensors = false;
    EXPECT_THAT(card.run(beyond), IsOk());
  });
}

TEST_P(TensorDumps, OfTasksThatAreSkippedAreNotTaken) {
  on_card([](DumpCard& card) {
    TaskGraph graph;
    driver::TaskOptions never;
    never.predicate = card.words;
    card.add_in_place(graph, kSize, never);
    const auto report = must(card.run(graph));
    ASSERT_EQ(report.tensors.size(), 3U);
    for (const auto& copy : report.tensors) EXPECT_FALSE(copy.taken);
  });
}

INSTANTIATE_TEST_SUITE_P(
    Cards, TensorDumps,
    testing::Combine(testing::Values("910b2.yaml", "910b.yaml", "950pr.yaml"),
                     testing::Values(abi::HandshakeKind::kRegister, abi::HandshakeKind::kMemory)),
    [](const auto& instance) {
      const std::string config = std::get<0>(instance.param);
      const bool memory = std::get<1>(instance.param) == abi::HandshakeKind::kMemory;
      return config.substr(0, config.find('.')) + (memory ? "_memory" : "_register");
    });

// By task: the time that a timeline shows for its copies.
struct DumpTimes : platform::TraceSink {
  void on_event(const platform::TraceEvent& event) override {
    if (event.activity == platform::Activity::kAicpuDump) {
      times[event.detail] += event.end - event.begin;
    }
  }
  std::map<std::uint64_t, Picoseconds> times;
};

TEST(TensorDumps, AreAPhaseOfTheirOwnInTheTimeline) {
  Machine machine({}, "910b2.yaml");
  DumpTimes timeline;
  std::uint64_t ticks = 0;
  machine.run([&](platform::Platform& platform) {
    DumpCard card(platform);
    TaskGraph graph;
    for (unsigned i = 0; i < 2; ++i) card.add_in_place(graph, kSize);
    const workloads::TraceSession session(machine.view, timeline);
    ticks = must(card.run(graph)).result.dump_ticks;
  });
  ASSERT_EQ(timeline.times.size(), 2U);
  const auto shown = timeline.times[0] + timeline.times[1];
  const auto hz = machine.chip().aicpu_core.counter_hz;
  const auto counted = Picoseconds(static_cast<std::int64_t>(ticks * (1'000'000'000'000 / hz)));
  // Counted with the look at what is to be copied, and the counter's last tick.
  EXPECT_LT(shown, counted + 100_ns);
  EXPECT_GT(shown, counted * 3 / 4);
}

TEST(RunReports, OfAFailedRunHaveTheRecordsOfWhatRanBefore) {
  Machine({}, "910b2.yaml").on<RuntimeCard>([](RuntimeCard& card) {
    card.options.profiling = true;
    card.options.pmu_group = abi::kPmuPipes;
    TaskGraph graph;
    const auto first = card.add(graph, KernelMode::kStore, 7, 1);
    const auto hangs =
        card.add(graph, KernelMode::kHang, 0, 2, TaskShape::kAiv, {1, false, {}, {first}});
    card.add(graph, KernelMode::kStore, 7, 3, TaskShape::kAiv, {1, false, {}, {hangs}});
    EXPECT_THAT(card.run(graph), FailsWith(ErrorCode::kTimeout, "task 1"));
    const auto& report = card.context->last_report();
    EXPECT_EQ(report.result.task, hangs.value);
    ASSERT_EQ(report.records.size(), 3U);
    EXPECT_GT(report.records[0].ended, report.records[0].begun);
    EXPECT_EQ(report.records[1].task, hangs.value);
    EXPECT_NE(report.records[1].dispatch, 0U);
    EXPECT_EQ(report.records[1].ended, 0U);
    EXPECT_EQ(report.records[2].dispatch, 0U) << "it was never dispatched";
    EXPECT_EQ(report.pmu.size(), 72U);
    card.options.aicpu_threads = 0;
    EXPECT_FALSE(card.run(graph));
    EXPECT_TRUE(card.context->last_report().records.empty()) << "a run that was refused";
  });
}

}  // namespace
}  // namespace npu::test
