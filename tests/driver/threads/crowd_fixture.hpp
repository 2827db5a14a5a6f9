// SPDX-License-Identifier: Apache-2.0
// Many tasks at once on an opened device. With NPU_FAKE_THREADS=parallel they are threads that run
// at the same time, for ThreadSanitizer to look at.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "npu/driver/process.hpp"
#include "tests/driver/device_fixture.hpp"

namespace npu::driver {

class CrowdTest : public DeviceTest {
 protected:
  static constexpr unsigned kCrowd = 8;
  using Body = std::function<void(unsigned)>;

  void SetUp() override {
    DeviceOptions options;
    options.ready_timeout = 200_us;  // what a card that hangs costs a shutdown
    fake.scheduler.set_task_limit(10'000);
    open(options);
  }
  void TearDown() override {
    device.reset();
    for (const auto& misuse : fake.misuses) ADD_FAILURE() << misuse;
  }

  // Begins `body(0)` .. `body(count - 1)`.
  void begin(unsigned count, const Body& body) {
    for (unsigned i = 0; i < count; ++i) {
      tasks_.push_back(must(fake.tasks().spawn("crowd", [body, i] { body(i); })));
    }
  }
  void join() {
    for (auto& task : tasks_) task->join();
    tasks_.clear();
  }
  void crowd(const Body& body) {
    begin(kCrowd, body);
    join();
  }
  void pass(Picoseconds time) { fake.clock().sleep_until(in(time)); }
  Status copy(StreamId on, WaitPolicy policy = WaitPolicy::kAdaptive) {
    const auto command = DmaCommand::device_to_device(memory, memory + 1_MiB, 4096);
    return device->copy(on, command, policy, in(100_ms));
  }
  std::unique_ptr<ProcessContext> open_process() {
    auto opened = ProcessContext::open(*device, {});
    EXPECT_THAT(opened, IsOk());
    return opened ? std::move(*opened) : nullptr;
  }

 private:
  std::vector<std::unique_ptr<platform::Task>> tasks_;
};

}  // namespace npu::driver
