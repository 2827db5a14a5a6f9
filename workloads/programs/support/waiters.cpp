// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/waiters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "workloads/framework/host_room.hpp"
#include "workloads/programs/support/card_session.hpp"

namespace npu::workloads {

namespace {

struct Lane {
  driver::StreamId stream;
  driver::DmaCommand command;
  WaitTotals totals;
  Status status;
};

Status wait_once(Context& context, driver::Device& device, const WaitShape& shape, Lane& lane,
                 bool measured) {
  auto& clock = context.platform.clock();
  auto& tasks = context.platform.tasks();
  const Instant called = clock.now();
  driver::SubmitOptions options;
  options.interrupt = shape.policy != driver::WaitPolicy::kPolling;  // nobody would take it
  auto ticket = device.submit(lane.stream, lane.command, options);
  if (!ticket) return forward_error(ticket);
  const auto cpu_before = tasks.cpu_usage();
  const Instant waiting = clock.now();
  auto done = device.wait(*ticket, shape.policy, deadline_of(context));
  if (!done || !measured) return done;
  const Instant returned = clock.now();
  const auto cpu_after = tasks.cpu_usage();
  WaitTotals one;
  one.waits = 1;
  one.latency = returned - called;
  one.worst = one.latency;
  one.wait_time = returned - waiting;
  one.cpu.busy = cpu_after.busy - cpu_before.busy;
  one.cpu.idle = cpu_after.idle - cpu_before.idle;
  one.cpu.context_switches = cpu_after.context_switches - cpu_before.context_switches;
  // Asked for whether or not anybody listens: a call of the driver takes time.
  const auto cause = platform::dma_cause(device.info().device_index, ticket->position);
  if (context.platform.tracer().enabled()) one.spans.push_back({called, returned, cause});
  lane.totals.add(one);
  return {};
}

// The two ends of every lane's copies.
struct Memory {
  std::unique_ptr<platform::DmaMemory> host;
  driver::DeviceMemory source;
  driver::DeviceMemory destination;
};

Result<Memory> allocate(driver::Device& device, const WaitShape& shape) {
  Memory memory;
  if (shape.opcode == abi::DmaOpcode::kHostToDevice) {
    auto host = device.allocate_host(shape.size);
    if (!host) return forward_error(host);
    memory.host = std::move(*host);
  } else {
    auto source = device.allocate(shape.size);
    if (!source) return forward_error(source);
    memory.source = *source;
  }
  auto destination = device.allocate(shape.size * shape.tasks);
  if (!destination) return forward_error(destination);
  memory.destination = *destination;
  return memory;
}

Status release(Context& context, driver::Device& device, const Memory& memory,
               const std::vector<Lane>& lanes) {
  for (const auto& lane : lanes) {
    if (auto ok = device.destroy_stream(lane.stream, deadline_of(context)); !ok) return ok;
  }
  if (memory.source.size != 0) {
    if (auto ok = device.free(memory.source.address); !ok) return ok;
  }
  return device.free(memory.destination.address);
}

// A task per lane; all are joined when this returns.
Status run_tasks(Context& context, driver::Device& device, const WaitShape& shape,
                 std::vector<Lane>& lanes) {
  std::vector<std::unique_ptr<platform::Task>> tasks;
  for (auto& lane : lanes) {
    const auto body = [&context, &device, &shape, &lane] {
      for (std::uint64_t i = 0; i < shape.warm_up + shape.iterations && lane.status; ++i) {
        lane.status = wait_once(context, device, shape, lane, i >= shape.warm_up);
      }
    };
    auto task = context.platform.tasks().spawn("waiter" + std::to_string(tasks.size()), body);
    if (!task) return forward_error(task);
    tasks.push_back(std::move(*task));
  }
  for (auto& task : tasks) task->join();
  return {};
}

}  // namespace

void WaitTotals::add(const WaitTotals& other) {
  waits += other.waits;
  latency += other.latency;
  worst = std::max(worst, other.worst);
  wait_time += other.wait_time;
  cpu.busy += other.cpu.busy;
  cpu.idle += other.cpu.idle;
  cpu.context_switches += other.cpu.context_switches;
  spans.insert(spans.end(), other.spans.begin(), other.spans.end());
}

Result<WaitTotals> run_waiters(Context& context, driver::Device& device, const WaitShape& shape) {
  const auto what = fmt::format("streams={}", shape.tasks);
  if (auto ok = require_host_memory(what, (1 + shape.tasks) * shape.size); !ok) {
    return forward_error(ok);
  }
  auto memory = allocate(device, shape);
  if (!memory) return forward_error(memory);
  std::vector<Lane> lanes(shape.tasks);
  for (std::uint64_t i = 0; i < shape.tasks; ++i) {
    auto stream = device.create_stream();
    if (!stream) return forward_error(stream);
    lanes[i].stream = *stream;
    const auto destination = memory->destination.address + i * shape.size;
    lanes[i].command =
        memory->host
            ? driver::DmaCommand::host_to_device(memory->host->bus(), destination, shape.size)
            : driver::DmaCommand::device_to_device(memory->source.address, destination, shape.size);
  }
  if (auto ok = run_tasks(context, device, shape, lanes); !ok) return forward_error(ok);
  WaitTotals totals;
  for (const auto& lane : lanes) {
    if (!lane.status) return forward_error(lane.status);
    totals.add(lane.totals);
  }
  if (auto ok = release(context, device, *memory, lanes); !ok) return forward_error(ok);
  return totals;
}

}  // namespace npu::workloads
