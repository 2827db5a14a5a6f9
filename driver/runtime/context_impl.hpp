// SPDX-License-Identifier: Apache-2.0
// A device context: the process it is on the card, its queues, and the images it has uploaded.
#pragma once

#include <map>
#include <memory>

#include "npu/abi/kernel_note.hpp"
#include "npu/driver/device_context.hpp"
#include "npu/driver/program.hpp"
#include "npu/driver/queue.hpp"
#include "npu/driver/queue_entries.hpp"

namespace npu::driver {

struct RunLayout;

struct DeviceContext::Impl {
  explicit Impl(platform::Platform& machine) : platform(machine) {}

  struct Image {
    DeviceAddress address;                 // 0: none
    std::uint32_t words = abi::kAnyWords;  // arguments of its tasks
    std::string name;                      // of a kernel that says it
  };

  Status open(std::uint32_t index);
  Status learn_cores();
  Status open_launch_queues();
  Status close();
  Status close_launch_queues();

  Result<DeviceAddress> allocate(Bytes size);
  Status copy(DeviceAddress device_side, ByteSpan host_side, bool to_device);
  // Submits to the copy queue and waits. A queue that an entry has stopped is replaced.
  Status run_copies(const abi::QueueEntry* work, std::size_t count);
  Status open_copies();
  Status upload(Image& image, abi::ImageKind kind, ConstByteSpan object);
  Status need_device() const;

  unsigned cores_for(TaskShape shape, unsigned block_dim) const;
  bool is_memory(DeviceAddress address, Bytes size) const;
  Status check_memory(const TaskGraph& graph, std::uint32_t task, bool dump) const;
  Status check(const TaskGraph& graph, const RunOptions& options) const;
  Status prepare(const TaskGraph& graph, const RunLayout& layout, const RunOptions& options);
  Status select_cores(unsigned block_dim);
  void trace_tasks(const TaskGraph& graph, const RunLayout& layout);
  std::uint32_t card_index() const { return device ? device->info().device_index : 0; }
  Status launch(RunReport& report, const RunOptions& options);
  Status read_back(const TaskGraph& graph, const RunLayout& layout, RunReport& report);
  Status read_tensors(const TaskGraph& graph, const RunLayout& layout,
                      const std::vector<abi::TensorDump>& dumps, RunReport& report);
  Status verdict(const TaskGraph& graph, const RunReport& report, const RunOptions& options,
                 const Status& ended) const;
  void note_faults(const std::vector<QueueFault>& faults);
  std::string kernel_of(const TaskGraph& graph, std::uint32_t task) const;
  Picoseconds now() { return platform.clock().now(); }
  std::uint32_t workers(unsigned block_dim) const { return block_dim * (1 + vector_cores); }

  platform::Platform& platform;
  std::unique_ptr<Device> device;
  std::uint64_t runs = 0;  // that have begun
  std::unique_ptr<ProcessContext> process;
  std::unique_ptr<Queue> copies, schedulers, executors;
  std::unique_ptr<platform::DmaMemory> staging;         // of copies
  std::unique_ptr<platform::DmaMemory> upload_staging;  // of runs
  unsigned clusters = 0, vector_cores = 0, aicpus = 0;
  unsigned selected = 0;  // clusters that the executors' queue may use

  Image scheduler, executor;
  std::map<std::uint32_t, Image> kernels;
  DeviceAddress area;  // of the runs
  Bytes area_size = 0;
  RunReport last;
  QueueFault core_fault;  // of the last run's executors, if there was one
};

}  // namespace npu::driver
