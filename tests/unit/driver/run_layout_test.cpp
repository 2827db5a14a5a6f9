// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/run_layout.hpp"

#include <gmock/gmock.h>

#include <cstring>

namespace npu::driver {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kBase = 0x2000'0000'0000;

// Two tasks with three and one words; the second waits for the first.
class RunLayoutTest : public testing::Test {
 protected:
  RunLayoutTest() {
    const DeviceAddress tensor{0xAA00};
    graph_.add({7}, TaskShape::kAic, {output(tensor), scalar(1), scalar(2)}).value();
    TaskOptions options;
    options.blocks = 5;
    graph_.add({8}, TaskShape::kMixed, {input(tensor)}, options).value();
  }

  template <class T>
  T at(const std::vector<std::byte>& image, Bytes offset) const {
    T value;
    std::memcpy(&value, image.data() + offset, sizeof value);
    return value;
  }
  std::vector<std::byte> image(const RunLayout& layout, const RunOptions& options) const {
    std::vector<std::byte> bytes(layout.uploaded);
    write_run(graph_, layout, {kBase, 12, 4}, options, {{7, 0x7000}, {8, 0x8000}},
              {bytes.data(), bytes.size()});
    return bytes;
  }

  TaskGraph graph_;
};

TEST_F(RunLayoutTest, PartsLieApartOnCacheLines) {
  RunOptions options;
  options.profiling = true;
  const RunLayout layout(graph_, 12, options);
  const std::pair<Bytes, Bytes> parts[] = {
      {0, 256},
      {layout.result, 128},
      {layout.descriptors, 2 * 64},
      {layout.producers, 4},
      {layout.arguments, 4 * 8},
      {layout.handshakes, 12 * 64},
      {layout.payloads, 12 * 2 * 64},
      {layout.scratch, layout.scratch_bytes},
      {layout.records, 16 * 64},  // one block of the first task, three times five of the second
      {layout.size, 0}};
  for (std::size_t i = 1; i < std::size(parts); ++i) {
    EXPECT_EQ(parts[i].first % 64, 0U) << i;
    EXPECT_GE(parts[i].first, parts[i - 1].first + parts[i - 1].second) << i;
  }
}

TEST_F(RunLayoutTest, TheHeaderPointsAtThem) {
  RunOptions options;
  options.aicpu_threads = 2;
  options.watchdog = 5_us;
  options.single_issue = true;
  const RunLayout layout(graph_, 12, options);
  const auto header = at<abi::RunHeader>(image(layout, options), 0);
  EXPECT_EQ(header.magic, 0x4752504EU);
  EXPECT_EQ(header.tasks, 2U);
  EXPECT_EQ(header.workers, 12U);
  EXPECT_EQ(header.clusters, 4U);
  EXPECT_EQ(header.threads, 2U);
  EXPECT_EQ(header.flags, abi::kRunSingleIssue);
  EXPECT_EQ(header.watchdog_ns, 5000U);
  EXPECT_EQ(header.descriptors, kBase + layout.descriptors);
  EXPECT_EQ(header.result, kBase + layout.result);
  EXPECT_EQ(header.records, 0U) << "no profiling";
}

TEST_F(RunLayoutTest, TasksNameTheirKernelsWordsAndProducers) {
  const RunLayout layout(graph_, 12, {});
  const auto bytes = image(layout, {});
  const auto first = at<abi::TaskDescriptor>(bytes, layout.descriptors);
  const auto second = at<abi::TaskDescriptor>(bytes, layout.descriptors + 64);
  EXPECT_EQ(first.kernel, 0x7000U);
  EXPECT_EQ(second.kernel, 0x8000U);
  EXPECT_EQ(second.blocks, 5U);
  EXPECT_EQ(first.producers, 0U);
  EXPECT_EQ(second.producers, 1U);
  EXPECT_EQ(at<std::uint32_t>(bytes, layout.producers + 4 * second.first_producer), 0U);
  EXPECT_EQ(second.arguments, first.arguments + 24);
  const auto words = at<std::array<std::uint64_t, 4>>(bytes, layout.arguments);
  EXPECT_THAT(words, ElementsAre(0xAA00, 1, 2, 0xAA00));
}

TEST_F(RunLayoutTest, TasksOfManyBlocksHaveArgumentsOfTheirOwnEvenIfTheyHaveNone) {
  TaskOptions options;
  options.blocks = 4;
  graph_.add({8}, TaskShape::kAiv, {}, options).value();
  graph_.add({8}, TaskShape::kAiv, {}, options).value();
  const RunLayout layout(graph_, 12, {});
  const auto bytes = image(layout, {});
  const auto third = at<abi::TaskDescriptor>(bytes, layout.descriptors + 2 * 64);
  const auto fourth = at<abi::TaskDescriptor>(bytes, layout.descriptors + 3 * 64);
  EXPECT_EQ(third.words, 0U);
  EXPECT_NE(third.arguments, fourth.arguments);
  EXPECT_LE(layout.arguments + 6 * 8, layout.uploaded);
}

TEST_F(RunLayoutTest, TensorsOfKnownSizeAreListedBeforeAndAfter) {
  graph_.add({7}, TaskShape::kAiv, {in_out({0xBB00}, 100), input({0xCC00}, 64), scalar(3)}).value();
  RunOptions options;
  EXPECT_EQ(RunLayout(graph_, 12, options).dump_count, 0U) << "not asked for";
  options.dump_tensors = true;
  const RunLayout layout(graph_, 12, options);
  ASSERT_EQ(layout.dump_count, 3U);
  const auto bytes = image(layout, options);
  const auto task = at<abi::TaskDescriptor>(bytes, layout.descriptors + 2 * 64);
  EXPECT_EQ(task.first_dump, 0U);
  EXPECT_EQ(task.dumps, 3U);
  // In-out before, input before, in-out after; copies begin on lines: 128, 64 and 128 bytes.
  const std::uint64_t tensors[] = {0xBB00, 0xCC00, 0xBB00};
  const std::uint64_t places[] = {0, 128, 192};
  for (unsigned i = 0; i < 3; ++i) {
    const auto dump = at<abi::TensorDump>(bytes, layout.dumps + i * 64);
    EXPECT_EQ(dump.tensor, tensors[i]);
    EXPECT_EQ(dump.copy, kBase + layout.copies + places[i]);
    EXPECT_EQ(dump.stage, i < 2 ? 1U : 2U);
    EXPECT_EQ(dump.taken, 0U);
  }
  EXPECT_EQ(layout.size - layout.copies, 320U);
}

TEST_F(RunLayoutTest, TheResultSaysThatNothingHasEnded) {
  const RunLayout layout(graph_, 12, {});
  const auto result = at<abi::RunResult>(image(layout, {}), layout.result);
  EXPECT_EQ(result.status, static_cast<std::uint32_t>(abi::RunStatus::kRunning));
}

}  // namespace
}  // namespace npu::driver
