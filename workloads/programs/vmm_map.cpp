// SPDX-License-Identifier: Apache-2.0
// What virtual device memory costs, call by call, and that address spaces are apart: the same
// addresses hold different bytes, and an access to what is not mapped is a fault that names it.
#include <fmt/format.h>

#include <memory>

#include "npu/driver/address_space.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/block_contents.hpp"

namespace npu::workloads {
namespace programs::vmm_map {
namespace {

constexpr Bytes kBlock = 2_MiB;

struct CallTimes {
  MeasuredSpan create, reserve, map, set_access, unmap, release;
};

constexpr Figure<CallTimes> kCalls[] = {
    {"create_us", "us", from<&CallTimes::create>, {"create"}},
    {"reserve_us", "us", from<&CallTimes::reserve>, {"reserve"}},
    {"map_us", "us", from<&CallTimes::map>, {"map"}},
    {"set_access_us", "us", from<&CallTimes::set_access>, {"set_access"}},
    {"unmap_us", "us", from<&CallTimes::unmap>, {"unmap"}},
    {"release_us", "us", from<&CallTimes::release>, {"release"}}};

struct Isolation {
  std::uint64_t spaces, faults_named;
};

constexpr Figure<Isolation> kFigures[] = {{"spaces", "", from<&Isolation::spaces>},
                                          {"faults_named", "", from<&Isolation::faults_named>}};

Status time_calls(Context& context, driver::AddressSpace& space, Bytes size, Table& table) {
  auto& clock = context.platform.clock();
  CallTimes times;
  Instant last = clock.now();
  const auto end = [&](MeasuredSpan& span) {
    span = {last, clock.now()};
    last = span.end;
  };
  const auto memory = space.create_memory(size);
  if (!memory) return forward_error(memory);
  end(times.create);
  const auto at = space.reserve(size);
  if (!at) return forward_error(at);
  end(times.reserve);
  if (auto ok = space.map(*at, size, *memory); !ok) return ok;
  end(times.map);
  if (auto ok = space.set_access(*at, size, driver::Access::kReadWrite); !ok) return ok;
  end(times.set_access);
  if (auto ok = space.unmap(*at, size); !ok) return ok;
  end(times.unmap);
  if (auto ok = space.release(*at); !ok) return ok;
  if (auto ok = space.release_memory(*memory); !ok) return ok;
  end(times.release);
  report_figures(context, "vmm_map." + size_name(size) + ".", kCalls, times, &table,
                 {size_name(size)});
  return {};
}

// A process on the card: an address space with a stream and a block of memory.
struct Process {
  std::unique_ptr<driver::AddressSpace> space;
  driver::StreamId stream;
  driver::DeviceMemory block;
};

Result<driver::StreamId> stream_in(driver::Device& device, const driver::AddressSpace& space) {
  driver::StreamOptions options;
  options.space = &space;
  return device.create_stream(options);
}

Result<Process> start_process(driver::Device& device) {
  Process process;
  auto space = device.create_address_space();
  if (!space) return forward_error(space);
  process.space = std::move(*space);
  const auto stream = stream_in(device, *process.space);
  if (!stream) return forward_error(stream);
  process.stream = *stream;
  const auto block = process.space->allocate(kBlock);
  if (!block) return forward_error(block);
  process.block = *block;
  return process;
}

// Writes a page at `address` as the process; the card must refuse and say who did what where.
Status expect_fault(Context& context, driver::Device& device, const Process& process,
                    driver::DeviceAddress address, const std::string& what) {
  const auto stream = stream_in(device, *process.space);
  if (!stream) return forward_error(stream);
  const auto host = device.allocate_host(4_KiB);
  if (!host) return forward_error(host);
  const auto done =
      device.copy(*stream, driver::DmaCommand::host_to_device((*host)->bus(), address, 4_KiB),
                  driver::WaitPolicy::kPolling, deadline_of(context));
  if (done) {
    return fail(ErrorCode::kWrongData,
                fmt::format("{}: a write to {:#x} did not fault", what, address.value));
  }
  if (done.error().code != ErrorCode::kDeviceFault) return done;
  const auto fault = device.take_fault();
  if (!fault) return forward_error(fault);
  if (!*fault || (*fault)->code != abi::FaultCode::kTranslation ||
      (*fault)->address != address.value || (*fault)->vmid != process.space->vmid() ||
      !(*fault)->write) {
    return fail(
        ErrorCode::kWrongData,
        fmt::format("{}: {}, expected: {} of VMID {} for a write to {:#x}", what,
                    *fault ? describe(**fault) : "no fault record",
                    to_string(abi::FaultCode::kTranslation), process.space->vmid(), address.value));
  }
  context.report.add_note(what + ": " + describe(**fault));
  return device.destroy_stream(*stream, deadline_of(context));
}

Status check_all(Context& context, driver::Device& device, const std::vector<Process>& processes) {
  for (const auto& process : processes) {
    auto contents = BlockContents::make(context, device, process.stream, 4_KiB);
    if (!contents) return forward_error(contents);
    auto intact = contents->check(process.block.address, kBlock, process.space->vmid());
    if (!intact) return intact;
  }
  return {};
}

Status check_isolation(Context& context, driver::Device& device) {
  std::vector<Process> processes;
  for (std::uint64_t i = 0; i < context.parameters.integer("spaces"); ++i) {
    auto process = start_process(device);
    if (!process) return forward_error(process);
    auto contents = BlockContents::make(context, device, process->stream, 4_KiB);
    if (!contents) return forward_error(contents);
    auto ok = contents->write(process->block.address, kBlock, process->space->vmid());
    if (!ok) return ok;
    processes.push_back(std::move(*process));
  }
  if (auto ok = check_all(context, device, processes); !ok) return ok;
  // A second block that only the first process has.
  auto& first = processes.front();
  const auto own = first.space->allocate(kBlock);
  if (!own) return forward_error(own);
  auto ok = expect_fault(context, device, processes.back(), own->address, "foreign address");
  if (!ok) return ok;
  if (ok = first.space->free(own->address); !ok) return ok;
  ok = expect_fault(context, device, first, own->address, "address after free");
  if (!ok) return ok;
  if (ok = check_all(context, device, processes); !ok) return ok;
  for (auto& process : processes) {
    if (ok = device.destroy_stream(process.stream, deadline_of(context)); !ok) return ok;
  }
  report_figures(context, "vmm_map.", kFigures, {processes.size(), 2});
  return {};
}

Status run(Context& context) {
  auto device = open_card(context);
  if (!device) return forward_error(device);
  auto& table = add_figure_table(context.report, "virtual memory calls, us", {"size"}, kCalls);
  std::uint64_t done = 0;
  for (const Bytes size : context.parameters.sizes("sizes")) {
    context.step(size_name(size), done++, context.parameters.sizes("sizes").size());
    auto ok = time_calls(context, (*device)->address_space(), size, table);
    if (!ok) return ok;
  }
  if (auto ok = check_isolation(context, **device); !ok) return ok;
  const auto memory = (*device)->memory_statistics();
  if (memory.largest_free_block == memory.total) return {};
  return fail(
      ErrorCode::kWrongData,
      fmt::format("after everything was freed {} of {} bytes are in use and the largest free "
                  "block has {}, expected all",
                  memory.used(), memory.total, memory.largest_free_block));
}

}  // namespace
}  // namespace programs::vmm_map

Workload vmm_map() {
  return {"vmm_map",
          "Cost of reserving, mapping and unmapping by size; address spaces are apart",
          {{"sizes", ParameterType::kSizeList, "B", "2MiB..16GiB", "memory to map", 2_MiB, 128_GiB},
           {"spaces", ParameterType::kInteger, "", "4", "processes with equal addresses", 2, 18},
           card_parameter()},
          programs::vmm_map::run,
          figure_rows(programs::vmm_map::kCalls, programs::vmm_map::kFigures)};
}

}  // namespace npu::workloads
