// SPDX-License-Identifier: Apache-2.0
// Bringing a card up: named steps in a fixed order, each with what it needs from those before.
#include <fmt/format.h>

#include "driver/device/address_space_impl.hpp"
#include "driver/device/device_impl.hpp"
#include "npu/abi/pci.hpp"
#include "npu/abi/registers.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver {

namespace pci = abi::pci;

namespace {

// Global page, DMA queue and event registers; the MSI-X structures behind belong to the platform.
constexpr Bytes kMappedRegisters = abi::kMsixTableOffset;

// A fault of the time before is none of this driver's.
constexpr auto kForgetFaults =
    abi::FaultStatus{}.set<abi::FaultStatus::Valid>(1).set<abi::FaultStatus::Overflow>(1);

// COMMAND; kDeviceLost if nobody answers, whose all ones must not be written back.
Result<std::uint16_t> read_command(Device::Impl& device) {
  const auto command = device.platform.pci().read16(device.card.bdf(), pci::kCommand);
  if (command == 0xFFFF) return fail(ErrorCode::kDeviceLost, "COMMAND reads as all ones");
  return command;
}

// Memory decoding before the registers are mapped; bus mastering only with the queue.
Status enable_memory(Device::Impl& device) {
  auto& config = device.platform.pci();
  const auto bdf = device.card.bdf();
  const auto command = read_command(device);
  if (!command) return forward_error(command);
  if (!device.command_changed) device.original_command = *command;
  device.command_changed = true;
  config.write16(
      bdf, pci::kCommand,
      static_cast<std::uint16_t>(*command | pci::kCommandMemory | pci::kCommandIntxDisable));
  return {};
}

Status map_registers(Device::Impl& device) {
  auto region = device.platform.map_bar(device.card.bdf(), abi::kRegisterBar, 0, kMappedRegisters,
                                        platform::Caching::kUncached);
  if (!region) return forward_error(region);
  device.link = std::make_unique<CardLink>(device.platform, device.card, std::move(*region),
                                           device.options.ready_timeout);
  return {};
}

Status wait_ready(Device::Impl& device) {
  auto& clock = device.platform.clock();
  const auto deadline = device.link->ready_deadline();
  for (;;) {
    const auto status = device.link->read<abi::DeviceStatus>();
    if (!status) return forward_error(status);
    device.pages_isolated = status->get<abi::DeviceStatus::PagesIsolated>() != 0;
    if (status->get<abi::DeviceStatus::Ready>()) return {};
    if (clock.now() >= deadline) {
      return fail(ErrorCode::kTimeout,
                  fmt::format("DEVICE_STATUS {:#x} is not Ready", status->raw));
    }
    clock.relax({}, deadline);
  }
}

Status read_identity(Device::Impl& device) {
  return read_card_registers(device.link->registers(), device.card);
}

Status set_up_memory(Device::Impl& device) {
  auto memory = MemoryManager::create(*device.link);
  if (!memory) return forward_error(memory);
  device.memory = std::move(*memory);
  device.memory->loan().longest = device.options.compaction_timeout;
  auto space = make_address_space(*device.link, *device.memory, device.features);
  if (!space) return forward_error(space);
  device.default_space = std::move(*space);
  return {};
}

// Pages with errors are no memory for anybody. Tables have a place of their own, which cannot be
// chosen: of these pages none is set aside.
Status set_isolated_pages_aside(Device::Impl& device) {
  for (std::uint32_t i = 0; device.pages_isolated && i < abi::kIsolatedPagesWindow.words; ++i) {
    const auto page = device.link->registers().read64(abi::kIsolatedPagesWindow.at(i));
    if (page == abi::kNoIsolatedPage) return device.link->alive();  // or nobody answers
    const auto address = page * kPageSize;
    if (page >= device.card.hbm_size / kPageSize) continue;
    static_cast<void>(device.memory->physical().create_at(address, kPageSize, abi::kVmidPhysical));
  }
  return {};
}

Status enable_msix(Device::Impl& device) {
  auto& config = device.platform.pci();
  const auto offset = device.card.msix.capability + pci::kMsixControl;
  const auto control = config.read16(device.card.bdf(), offset);
  const auto wanted =
      static_cast<std::uint16_t>((control | pci::kMsixControlEnable) & ~pci::kMsixControlMaskAll);
  if (control != wanted) config.write16(device.card.bdf(), offset, wanted);
  return {};
}

Status set_up_events(Device::Impl& device) {
  const Bytes size = align_down(Bytes{device.card.event_count} * 8 + 4095, 4096);
  auto records = device.platform.allocate_dma(device.card.bdf(), size, 4096,
                                              platform::DmaDirection::kDeviceWrites);
  if (!records) return forward_error(records);
  device.events =
      std::make_unique<EventTable>(*device.link, std::move(*records), device.card.event_count);
  device.link->write(abi::EventRecordBase::from_raw(device.events->records_bus().value));
  return {};
}

// What an earlier owner has left must not fetch when bus mastering comes on: its DMA queue is
// disabled, and compute queues, which only a reset of the function removes, are looked for.
Status disable_what_was_left(Device::Impl& device) {
  device.link->write(abi::DmaQueueControl{});
  const auto management = device.link->read<abi::ManagementControl>();
  if (!management) return forward_error(management);
  device.found_left = management->raw != 0;  // ManagementRing::stop() leaves 0 after a clean end
  if (!device.found_left) return {};
  return fail(ErrorCode::kBusy, "a driver that is gone has left compute queues on the card");
}

Status start_queue(Device::Impl& device) {
  auto ring = RingMemory::create(*device.link, device.options.ring);
  if (!ring) return forward_error(ring);
  device.queue = std::make_unique<DmaQueue>(*device.link, *device.events, std::move(*ring));
  if (auto ok = disable_what_was_left(device); !ok) return ok;
  const auto command = read_command(device);
  if (!command) return forward_error(command);
  device.platform.pci().write16(device.card.bdf(), pci::kCommand,
                                static_cast<std::uint16_t>(*command | pci::kCommandBusMaster));
  const auto started = device.queue->start(device.link->ready_deadline());
  // What the engines had begun does not end.
  device.found_left = !started && started.error().code == ErrorCode::kTimeout;
  if (started) device.link->write(kForgetFaults);
  return started;
}

Status prepare_streams(Device::Impl& device) {
  device.vectors = std::make_unique<VectorTable>(*device.link);
  device.waiter = std::make_unique<Waiter>(*device.link, *device.events, *device.queue,
                                           device.options.adaptive);
  device.streams =
      std::make_unique<StreamTable>(*device.link, *device.events, *device.vectors, *device.waiter);
  const CopyLanes lanes(*device.streams, *device.events, *device.queue, *device.waiter,
                        device.platform.clock());
  device.compactor =
      std::make_unique<Compactor>(*device.link, *device.memory, *device.queue, lanes,
                                  *device.services.control, device.options.compaction_timeout);
  if (device.options.compact_on_demand) device.memory->set_compactor(device.compactor.get());
  return {};
}

struct Step {
  const char* name;
  Status (*run)(Device::Impl&);
};

constexpr Step kSteps[] = {
    {"enable memory decoding", enable_memory},
    {"map registers", map_registers},
    {"wait until ready", wait_ready},
    {"read identity", read_identity},
    {"set up page tables", set_up_memory},
    {"set isolated pages aside", set_isolated_pages_aside},
    {"enable MSI-X", enable_msix},
    {"set up event records", set_up_events},
    {"start the DMA queue", start_queue},
    {"prepare streams", prepare_streams},
};

Status run_steps(Device::Impl& device) {
  for (const auto& step : kSteps) {
    if (auto ok = step.run(device); !ok) {
      const Error error = device.link ? device.link->explain(ok.error()).value() : ok.error();
      return fail(error.code, fmt::format("opening {}: {}: {}", to_string(device.card.bdf()),
                                          step.name, error.context));
    }
  }
  return {};
}

// As before the first step.
void undo_steps(Device::Impl& device) {
  device.link->write(abi::EventRecordBase::from_raw(0));
  device.queue.reset();
  device.events.reset();
  device.default_space.reset();
  device.memory.reset();
  device.link.reset();
}

}  // namespace

Status initialise(Device::Impl& device, platform::Bdf bdf) {
  auto card = probe(device.platform, bdf);
  if (!card) return forward_error(card);
  device.card = *card;
  auto opened = run_steps(device);
  if (opened || !device.found_left) return opened;
  undo_steps(device);
  if (auto ok = device.platform.reset_function(bdf); !ok) {
    return fail(ok.error().code, fmt::format("{}, and a reset of the function has failed: {}",
                                             opened.error().context, ok.error().context));
  }
  return run_steps(device);
}

void restore_function(Device::Impl& device) {
  if (!device.command_changed || (device.link && device.link->lost())) return;
  device.command_changed = false;
  auto& config = device.platform.pci();
  const auto bdf = device.card.bdf();
  const auto offset = device.card.msix.capability + pci::kMsixControl;
  const auto control = config.read16(bdf, offset);
  if (control != 0xFFFF) {
    config.write16(bdf, offset, static_cast<std::uint16_t>(control & ~pci::kMsixControlEnable));
  }
  config.write16(bdf, pci::kCommand, device.original_command);
}

}  // namespace npu::driver
