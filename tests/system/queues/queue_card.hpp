// SPDX-License-Identifier: Apache-2.0
// Compute queues of the real driver on the simulated card.
#pragma once

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/device/shipped/elementwise.hpp"
#include "npu/driver/process.hpp"
#include "npu/driver/program.hpp"
#include "tests/system/support/machine.hpp"
#include "workloads/framework/program_images.hpp"

namespace npu::test {

namespace entries = driver::entries;

class QueueCard {
 public:
  explicit QueueCard(platform::Platform& host, unsigned index = 0)
      : QueueCard(host, open_card(host, index)) {}
  QueueCard(platform::Platform& host, std::unique_ptr<driver::Device> opened)
      : host_(host), device(std::move(opened)) {}

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
  // A kernel of npusim's with its argument words, written by `queue`: what is launched at a time
  // has places of its own.
  template <class Words>
  abi::QueueEntry launch(driver::Queue& queue, const std::string& program, std::uint32_t blocks,
                         const Words& words, unsigned place = 0) {
    const auto at = memory + place * Bytes{64};
    constexpr Bytes kBytes = sizeof(words[0]) * std::tuple_size_v<Words>;
    write(queue, at, words.data(), kBytes);
    return entries::launch_image(abi::QueueOpcode::kLaunchAiCore, image(queue, program), blocks, at,
                                 kBytes);
  }
  // One block that takes `cycles` of its core.
  abi::QueueEntry spin(driver::Queue& queue, std::uint64_t cycles, unsigned place = 0) {
    return launch(queue, "spin", 1, std::array{cycles}, place);
  }
  // Adds the floats at `addend` to those at `sum`.
  abi::QueueEntry add(driver::Queue& queue, driver::DeviceAddress sum, driver::DeviceAddress addend,
                      Bytes bytes, std::uint32_t blocks, unsigned place = 0) {
    const kernels::vector::Elementwise work{sum.value, sum.value, addend.value, bytes / 4};
    return launch(queue, "elementwise", blocks, kernels::vector::to_words(work), place);
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
  static constexpr Bytes kPrograms = 3_MiB, kScratchBytes = kHost - kScratch;

  void write(driver::Queue& queue, driver::DeviceAddress at, const void* bytes, Bytes size) {
    std::memcpy(host->cpu().data + kScratch, bytes, size);
    EXPECT_TRUE(card_.run(queue, entries::copy_to_device(host->bus() + kScratch, at, size)));
  }
  driver::DeviceAddress image(driver::Queue& queue, const std::string& program) {
    const auto known = images_.find(program);
    if (known != images_.end()) return known->second;
    const auto object = must(workloads::program_image(program));
    const auto bytes = must(driver::make_image(abi::ImageKind::kAiCore, object));
    EXPECT_LE(bytes.size(), kScratchBytes);
    const auto at = memory + kPrograms + images_.size() * kScratchBytes;
    write(queue, at, bytes.data(), bytes.size());
    images_[program] = at;
    return at;
  }

  QueueCard& card_;
  std::map<std::string, driver::DeviceAddress> images_;

 public:
  std::unique_ptr<driver::ProcessContext> process;
  driver::DeviceAddress memory;  // the first 64 KiB are for arguments, the last MiB for programs
  std::unique_ptr<platform::DmaMemory> host;
  std::vector<std::unique_ptr<driver::Queue>> queues;
};

// Runs `body` on a card of its own, with a process.
template <class F>
void on_queue_card(F body) {
  Machine().on<QueueCard>([&](QueueCard& card) {
    QueueProcess process(card);
    body(card, process);
  });
}

}  // namespace npu::test
