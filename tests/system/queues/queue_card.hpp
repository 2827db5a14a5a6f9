// SPDX-License-Identifier: Apache-2.0
// Compute queues of the real driver on the simulated card.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "npu/abi/kernel_functions.hpp"
#include "npu/driver/process.hpp"
#include "tests/system/support/machine.hpp"

namespace npu::test {

namespace entries = driver::entries;

class QueueCard {
 public:
  explicit QueueCard(platform::Platform& host, unsigned index = 0)
      : host_(host), device(open_card(host, index)) {}

  Instant in(Picoseconds time) { return host_.clock().now() + time; }
  std::unique_ptr<driver::ProcessContext> process(const driver::ProcessOptions& options = {}) {
    return must(driver::ProcessContext::open(*device, options));
  }
  driver::QueueTicket submit(driver::Queue& queue, const abi::QueueEntry& entry) {
    return must(queue.submit(entry, in(1_s)));
  }
  Status wait(driver::Queue& queue, const driver::QueueTicket& ticket, Picoseconds limit = 1_s) {
    return queue.wait(ticket, driver::WaitPolicy::kPolling, in(limit));
  }
  Status run(driver::Queue& queue, const abi::QueueEntry& entry) {
    return wait(queue, submit(queue, entry));
  }
  void pass(Picoseconds time) { host_.clock().sleep_until(in(time)); }

 private:
  platform::Platform& host_;

 public:
  std::unique_ptr<driver::Device> device;
};

// A process with memory that queue entries may use.
class QueueProcess {
 public:
  explicit QueueProcess(QueueCard& card, const driver::ProcessOptions& options = {})
      : card_(card), process(card.process(options)) {
    memory = must(process->space().allocate(kMemory)).address;
    host = must(process->allocate_host(kHost));
  }
  ~QueueProcess() {
    host.reset();
    queues.clear();
  }

  driver::Queue& add(const driver::QueueOptions& options = {}) {
    queues.push_back(must(process->create_queue(options)));
    return *queues.back();
  }
  // Arguments of a kernel, written by `queue`.
  driver::DeviceAddress arguments(driver::Queue& queue, const abi::KernelArguments& values,
                                  unsigned place = 0) {
    std::memcpy(host->cpu().data + kScratch, &values, sizeof values);
    const auto at = memory + place * Bytes{64};
    EXPECT_TRUE(
        card_.run(queue, entries::copy_to_device(host->bus() + kScratch, at, sizeof values)));
    return at;
  }
  // A kernel of one block that takes `cycles` of its core.
  abi::QueueEntry spin(driver::Queue& queue, std::uint64_t cycles, unsigned place = 0) {
    abi::KernelArguments values;
    values.value = cycles;
    const auto at = arguments(queue, values, place);
    return entries::launch(static_cast<std::uint32_t>(abi::KernelFunction::kSpin), 1, at,
                           sizeof values);
  }
  // Bytes of device memory, read by `queue`.
  std::vector<std::uint32_t> read(driver::Queue& queue, driver::DeviceAddress at, Bytes bytes) {
    EXPECT_TRUE(card_.run(queue, entries::copy_to_host(at, host->bus(), bytes)));
    std::vector<std::uint32_t> words(static_cast<std::size_t>(bytes / 4));
    std::memcpy(words.data(), host->cpu().data, static_cast<std::size_t>(bytes));
    return words;
  }

  static constexpr Bytes kMemory = 4_MiB, kHost = 256_KiB, kScratch = 192_KiB;

 private:
  QueueCard& card_;

 public:
  std::unique_ptr<driver::ProcessContext> process;
  driver::DeviceAddress memory;  // the first 64 KiB are for arguments
  std::unique_ptr<platform::DmaMemory> host;
  std::vector<std::unique_ptr<driver::Queue>> queues;
};

}  // namespace npu::test
