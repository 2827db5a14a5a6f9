// SPDX-License-Identifier: Apache-2.0
// A device context on a simulated card, with the firmware and the test kernel.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "npu/driver/device_context.hpp"
#include "tests/support/folders.hpp"
#include "tests/support/matchers.hpp"
#include "tests/system/runtime/test_kernel.hpp"
#include "tests/system/support/machine.hpp"
#include "workloads/framework/program_images.hpp"

namespace npu::test {

using abi::RunStatus;
using abi::StallReason;
using driver::DeviceAddress;
using driver::KernelId;
using driver::TaskGraph;
using driver::TaskId;
using driver::TaskShape;

constexpr KernelId kTestKernel{0};
constexpr Picoseconds kWatchdog = 1_ms;

class RuntimeCard {
 public:
  explicit RuntimeCard(platform::Platform& platform)
      : clock(platform.clock()), context(must(driver::DeviceContext::create(platform))) {
    EXPECT_THAT(context->set_device(0), IsOk());
    use_executor(must(workloads::program_image("executor")));
    const auto kernel = program_file("runtime_test_kernel");
    EXPECT_THAT(context->register_kernel(kTestKernel, {kernel.data(), kernel.size()}), IsOk());
    words = must(context->allocate(4096));
    const std::vector<std::byte> zeros(4096);
    EXPECT_THAT(context->copy_to_device(words, {zeros.data(), zeros.size()}), IsOk());
    options.watchdog = kWatchdog;
  }

  static std::vector<std::byte> program_file(const std::string& name) {
    std::vector<std::byte> bytes;
    for (const char byte : file_text(binary_dir() + "/programs/" + name + ".npu")) {
      bytes.push_back(static_cast<std::byte>(byte));
    }
    EXPECT_FALSE(bytes.empty()) << name;
    return bytes;
  }
  void use_executor(ConstByteSpan executor) {
    EXPECT_THAT(context->set_firmware(must(workloads::program_image("scheduler")), executor),
                IsOk());
  }

  // A task of the test kernel; `word` is one of the words of a line of its own.
  TaskId add(TaskGraph& graph, KernelMode mode, std::uint64_t value = 0, unsigned word = 0,
             TaskShape shape = TaskShape::kAiv, const driver::TaskOptions& task = {}) const {
    return must(graph.add(kTestKernel, shape,
                          {driver::scalar(static_cast<std::uint64_t>(mode)),
                           driver::scalar((words + word * Bytes{64}).value), driver::scalar(value)},
                          task));
  }
  Result<driver::RunReport> run(const TaskGraph& graph) { return context->run(graph, options); }
  std::uint64_t word(unsigned index) {
    std::uint64_t value = 0;
    std::byte bytes[sizeof value];
    EXPECT_THAT(context->copy_from_device({bytes, sizeof bytes}, words + index * Bytes{64}),
                IsOk());
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  // A run of three tasks, one after the other, whose results are looked at.
  void expect_next_run_succeeds() {
    TaskGraph graph;
    driver::TaskOptions after;
    for (unsigned i = 0; i < 3; ++i) {
      const auto task = add(graph, KernelMode::kStore, 100 + i, 8 + i,
                            i == 1 ? TaskShape::kAic : TaskShape::kAiv, after);
      after.after = {task};
    }
    const auto report = must(run(graph));
    EXPECT_EQ(report.result.completed, 3U);
    for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(word(8 + i), 100 + i);
  }

  platform::Clock& clock;
  std::unique_ptr<driver::DeviceContext> context;
  DeviceAddress words;
  driver::RunOptions options;
  std::uint64_t counter_hz = 1;  // of the card's system counter
  Picoseconds clean_up;          // after a failed run, at most
};

}  // namespace npu::test
