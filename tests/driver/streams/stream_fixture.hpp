// SPDX-License-Identifier: Apache-2.0
// Execution streams of a process on the fake card.
#pragma once

#include "npu/driver/execution_stream.hpp"
#include "tests/driver/queues/queue_fixture.hpp"

namespace npu::driver {

class StreamTest : public QueueTest {
 protected:
  void SetUp() override {
    QueueTest::SetUp();
    pool = std::make_unique<ArgumentPool>(*process);
    times = *process->allocate_host(4096, platform::DmaDirection::kDeviceWrites);
    gate = *process->signals().create();
  }
  void TearDown() override {
    pool.reset();
    times.reset();
    QueueTest::TearDown();
  }

  std::unique_ptr<ExecutionStream> open(StreamErrorMode mode = StreamErrorMode::kContinue) {
    ExecutionStreamOptions options;
    options.on_error = mode;
    auto opened = ExecutionStream::open(*process, *pool, options);
    EXPECT_THAT(opened, IsOk());
    return std::move(*opened);
  }
  // Does nothing more until release().
  void hold(ExecutionStream& stream) {
    const auto wait = entries::wait_event(gate, 2);
    ASSERT_THAT(stream.submit(&wait, 1), IsOk());
  }
  void release() { ASSERT_THAT(process->signals().set(gate), IsOk()); }
  // Entries that say who they are by their tag-like size: fills of so many words.
  DeviceAddress memory() {
    if (memory_.value == 0) memory_ = process->space().allocate(kPageSize)->address;
    return memory_;
  }
  StreamMark mark_by_fill(ExecutionStream& stream, Bytes words) {
    const auto fill = entries::fill(memory(), 4 * words, 0);
    auto mark = stream.submit(&fill, 1);
    EXPECT_THAT(mark, IsOk());
    return *mark;
  }
  Result<StreamRecord> record(ExecutionStream& stream) { return stream.record(times->bus()); }
  // How many words the fills that were executed have, in order.
  std::vector<Bytes> fills() const {
    std::vector<Bytes> found;
    for (const auto& executed : cp.executed()) {
      if (executed.entry.opcode != static_cast<std::uint8_t>(abi::QueueOpcode::kFill)) continue;
      found.push_back(executed.entry.get<abi::FillPayload>().size / 4);
    }
    return found;
  }
  // Words of fills and blocks of launches, as the card executed them.
  std::vector<std::uint32_t> numbers() const {
    std::vector<std::uint32_t> found;
    for (const auto& done : cp.executed()) {
      const auto opcode = static_cast<abi::QueueOpcode>(done.entry.opcode);
      if (opcode == abi::QueueOpcode::kFill) {
        found.push_back(static_cast<std::uint32_t>(done.entry.get<abi::FillPayload>().size / 4));
      }
      if (opcode == abi::QueueOpcode::kLaunchAiCore) {
        found.push_back(done.entry.get<abi::LaunchPayload>().blocks);
      }
    }
    return found;
  }
  Result<std::shared_ptr<const KernelModule>> load() {
    const std::vector<std::byte> object(256);
    return KernelModule::load(process->space(), {object.data(), object.size()},
                              [](DeviceAddress, ConstByteSpan) { return Status{}; });
  }
  KernelLaunch kernel(LaunchCores cores, std::uint64_t argument) {
    KernelLaunch launch;
    launch.module = *load();
    launch.cores = cores;
    launch.bytes = 8;
    launch.write = [argument](ByteSpan host, DeviceAddress) -> Status {
      std::memcpy(host.data, &argument, sizeof argument);
      return {};
    };
    return launch;
  }

  std::unique_ptr<ArgumentPool> pool;
  std::unique_ptr<platform::DmaMemory> times;
  SignalId gate;

 private:
  DeviceAddress memory_;
};

}  // namespace npu::driver
