// SPDX-License-Identifier: Apache-2.0
// What programs on compute queues begin with: a process on the card, memory in its address space,
// kernels and their arguments, and a way to look at its memory.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "npu/driver/process.hpp"
#include "npu/driver/program.hpp"
#include "npu/driver/queue.hpp"
#include "npu/driver/queue_entries.hpp"
#include "npu/driver/staged_copies.hpp"
#include "workloads/programs/support/card_session.hpp"

namespace npu::workloads {

// "queue_memory": where rings of compute queues are.
ParameterSpec queue_memory_parameter();
driver::QueueMemory queue_memory(const ParameterSet& parameters);

// The cores that have a vector unit, for queues of kernels that need one.
Result<driver::CoreMask> vector_cores(Context& context, driver::Device& device);

class QueueSession {
 public:
  // A process with a way to copy to and from host memory.
  static Result<std::unique_ptr<QueueSession>> open(Context& context, driver::Device& device,
                                                    const driver::ProcessOptions& options = {});

  driver::ProcessContext& process() { return *process_; }
  // Device memory of the process; it lives as long as the session.
  Result<driver::DeviceAddress> allocate(Bytes size);
  // Host memory that queues may use, as long as the session.
  Result<platform::DmaMemory*> allocate_host(Bytes size);
  // Bytes of the process' device memory, by copies of the session's own.
  Status write(driver::DeviceAddress address, ConstByteSpan bytes) {
    return copies_->write(address, bytes);
  }
  Status read(driver::DeviceAddress address, ByteSpan bytes) {
    return copies_->read(address, bytes);
  }
  // An embedded program (framework/program_images.hpp) in device memory, where the first call puts
  // it.
  Result<std::shared_ptr<const driver::KernelModule>> module(const std::string& program);
  // An entry that starts such a program on the AI Cores, or the AICPUs; its argument words, at most
  // 32, are put into device memory now.
  Result<abi::QueueEntry> launch(const std::string& program, std::uint32_t blocks,
                                 const std::uint64_t* words, std::size_t count,
                                 abi::QueueOpcode cores = abi::QueueOpcode::kLaunchAiCore);
  // Submits entries and waits for them. Errors: StagedCopies::run().
  Status run(const abi::QueueEntry* entries, std::size_t count) {
    return copies_->run(entries, count);
  }
  template <class Words>
  Result<abi::QueueEntry> launch(const std::string& program, std::uint32_t blocks,
                                 const Words& words) {
    return launch(program, blocks, words.data(), words.size());
  }
  // The kernels launched so far have ended: their arguments' places are free.
  void forget_launches() { arguments_used_ = 0; }
  bool has_room_for_launch() const;
  Result<std::unique_ptr<driver::Queue>> create_queue(const driver::QueueOptions& options = {}) {
    return process_->create_queue(options);
  }
  // The process and its queues end; every one made with create_queue() is to be gone.
  Status close();

 private:
  Result<driver::DeviceAddress> aicpu_image(const std::string& program);
  Result<driver::DeviceAddress> image_of(const std::string& program, abi::QueueOpcode cores);
  QueueSession(Context& context, std::unique_ptr<driver::ProcessContext> process)
      : context_(context), process_(std::move(process)) {}

  Context& context_;
  std::unique_ptr<driver::ProcessContext> process_;
  std::vector<std::unique_ptr<platform::DmaMemory>> host_;
  std::map<std::string, std::shared_ptr<const driver::KernelModule>> modules_;
  std::map<std::string, driver::DeviceAddress> aicpu_images_;
  driver::DeviceAddress arguments_;  // an arena
  Bytes arguments_used_ = 0;
  std::unique_ptr<driver::StagedCopies> copies_;
};

}  // namespace npu::workloads
