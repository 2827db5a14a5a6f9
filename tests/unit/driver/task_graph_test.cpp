// SPDX-License-Identifier: Apache-2.0
#include "npu/driver/task_graph.hpp"

#include <gmock/gmock.h>

namespace npu::driver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr KernelId kKernel{3};
constexpr DeviceAddress kA{0x1000}, kB{0x2000}, kC{0x3000};

std::uint32_t add(TaskGraph& graph, const std::vector<TaskArgument>& arguments,
                  const TaskOptions& options = {}) {
  const auto task = graph.add(kKernel, TaskShape::kAiv, arguments, options);
  EXPECT_TRUE(task) << task.error().message();
  return task ? task->value : ~0U;
}

TEST(TaskGraphTest, TasksAreNumberedInOrder) {
  TaskGraph graph;
  EXPECT_EQ(add(graph, {}), 0U);
  EXPECT_EQ(add(graph, {}), 1U);
  EXPECT_EQ(graph.tasks(), 2U);
  EXPECT_EQ(graph.edges(), 0U);
}

TEST(TaskGraphTest, ReadersWaitForTheLastWriter) {
  TaskGraph graph;
  add(graph, {output(kA)});
  add(graph, {output(kA)});
  add(graph, {input(kA), output(kB)});
  EXPECT_THAT(graph.task({1}).producers, ElementsAre(0)) << "a write after a write";
  EXPECT_THAT(graph.task({2}).producers, ElementsAre(1)) << "a read after the second write";
}

TEST(TaskGraphTest, InOutBothWaitsAndWrites) {
  TaskGraph graph;
  add(graph, {output(kA)});
  add(graph, {in_out(kA)});
  add(graph, {in_out(kA)});
  EXPECT_THAT(graph.task({1}).producers, ElementsAre(0));
  EXPECT_THAT(graph.task({2}).producers, ElementsAre(1));
}

TEST(TaskGraphTest, ScalarsAndUnorderedTensorsMakeNoEdges) {
  TaskGraph graph;
  add(graph, {output(kA)});
  add(graph, {scalar(kA.value), {kA.value, ArgumentKind::kNoDependency}});
  EXPECT_THAT(graph.task({1}).producers, IsEmpty());
  EXPECT_THAT(graph.task({1}).words, ElementsAre(kA.value, kA.value));
}

TEST(TaskGraphTest, AProducerCountsOnceHoweverItIsFound) {
  TaskGraph graph;
  add(graph, {output(kA), output(kB)});
  TaskOptions options;
  options.after = {TaskId{0}};
  add(graph, {input(kA), input(kB), output(kC)}, options);
  EXPECT_THAT(graph.task({1}).producers, ElementsAre(0));
  EXPECT_EQ(graph.edges(), 1U);
}

TEST(TaskGraphTest, APredicateWaitsForItsWriter) {
  TaskGraph graph;
  add(graph, {output(kA)});
  TaskOptions options;
  options.predicate = kA;
  add(graph, {output(kB)}, options);
  EXPECT_THAT(graph.task({1}).producers, ElementsAre(0));
}

TEST(TaskGraphTest, EdgesMayBeAddedLaterAndMayCloseACycle) {
  TaskGraph graph;
  add(graph, {});
  add(graph, {});
  EXPECT_TRUE(graph.depend({1}, {0}));
  EXPECT_TRUE(graph.depend({0}, {1}));
  EXPECT_EQ(graph.edges(), 2U);
  EXPECT_FALSE(graph.depend({2}, {0}));
}

TEST(TaskGraphTest, WrongTasksAreRefusedAndLeaveNothing) {
  TaskGraph graph;
  const std::vector<TaskArgument> many(abi::kMaxTaskWords + 1);
  const auto arguments = graph.add(kKernel, TaskShape::kAic, many);
  ASSERT_FALSE(arguments);
  EXPECT_THAT(arguments.error().context, HasSubstr("49 arguments, at most 48"));
  TaskOptions options;
  options.blocks = 0;
  EXPECT_FALSE(graph.add(kKernel, TaskShape::kAic, {}, options));
  options.blocks = 1;
  options.after = {TaskId{0}};
  EXPECT_FALSE(graph.add(kKernel, TaskShape::kAic, {}, options));
  EXPECT_EQ(graph.tasks(), 0U);
}

TEST(TaskGraphTest, FanInIsBounded) {
  TaskGraph graph;
  TaskOptions options;
  for (std::uint32_t i = 0; i <= abi::kMaxTaskProducers; ++i) {
    options.after.push_back({add(graph, {})});
  }
  EXPECT_FALSE(graph.add(kKernel, TaskShape::kNone, {}, options));
  options.after.pop_back();
  const auto task = graph.add(kKernel, TaskShape::kNone, {}, options);
  ASSERT_TRUE(task);
  EXPECT_FALSE(graph.depend(*task, {abi::kMaxTaskProducers}));
}

}  // namespace
}  // namespace npu::driver
