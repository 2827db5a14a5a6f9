// SPDX-License-Identifier: Apache-2.0
#include "command_bench.hpp"

#include "tests/bench/core/program_file.hpp"

namespace npu::test {

namespace {

constexpr Bytes kQueueShare = 32_KiB;  // ring, then completion ring, then indices, per queue

Bytes offset_of(std::uint16_t doorbell) {
  return doorbell * kQueueShare;
}

}  // namespace

CommandBench::CommandBench(const model::ChipConfig& chip, const sc_core::sc_module_name& name)
    : sc_module(name),
      config(chip),
      registers("registers", sim, config, 2),
      dma("dma", sim, config, 2),
      command("command", sim, config, 2),
      mmu("mmu", sim, config, 2, kWalkerPort),
      aicores("aicore", sim, config, mmu.memory(), watch, "card2.aicore"),
      aicpus("aicpu", sim, config.aicpu, config.aicpu_core, config.aicpus, "card2.aicpu",
             mmu.memory()),
      context(registers, mmu),
      queues(command.shared(), registers),
      device("device", sim, kDevicePorts, kInstalled),
      host("host", sim, 2, kHostBytes),
      tables(kUsable + abi::kReservedContextOffset, kUsable + abi::kReservedTableOffset,
             [this](std::uint64_t address, std::uint64_t raw) { device.store(address, raw); }) {
  bar0.bind(registers.register_socket);
  command.attach(queues);
  doorbells.bind(command.doorbell_sockets[0]);
  dma.hbm_socket.bind(mmu.client_sockets[kDmaPort]);
  command.device_socket.bind(mmu.client_sockets[kCommandPort]);
  aicores.memory_socket.bind(mmu.client_sockets[kAiCorePort]);
  aicpus.memory_socket.bind(mmu.client_sockets[kAicpuPort]);
  dma.l2_socket.bind(mmu.client_sockets[kPrefetchPort]);
  for (unsigned i = 0; i < kWalkerPort; ++i) mmu.hbm_sockets[i].bind(device.sockets[i]);
  using model::Writer;
  mmu.connect(watch, {Writer::kDma, Writer::kDma, Writer::kAiCore, Writer::kAicpu, Writer::kDma});
  mmu.walker_socket.bind(device.sockets[kWalkerPort]);
  dma.host_socket.bind(host.sockets[0]);
  command.host_socket.bind(host.sockets[1]);
  registers.connect(*this);
  command.connect(dma);
  command.connect_aicore(aicores);
  command.connect_aicpu(aicpus);
  device.latency = 50'000;
  host.latency = 500'000;
  host.allowed = [this](const PortRequest& request) { return iommu_allows(request); };
}

void CommandBench::enable() {
  if (enabled_) return;
  enabled_ = true;
  run(1_ps);  // elaborates
  write(abi::MmuContextBase::from_raw(kUsable + abi::kReservedContextOffset));
  write(abi::QueueFaultBase::from_raw(kFaultLog));
  write(abi::QueueFaultControl{}
            .set<abi::QueueFaultControl::Log2Records>(6)
            .set<abi::QueueFaultControl::Vector>(60));
  write(abi::ManagementBase::from_raw(kManagementRing));
  write(abi::ManagementControl{}
            .set<abi::ManagementControl::Enable>(1)
            .set<abi::ManagementControl::HostMemory>(1)
            .set<abi::ManagementControl::Log2Entries>(4));
}

// A PASID reaches its process' share alone.
bool CommandBench::iommu_allows(const PortRequest& request) const {
  return request.pasid == 0 || request.address / kHostShare == request.pasid - 100;
}

void CommandBench::post(abi::ManagementCommand what) {
  enable();
  what.fence_address = kFence;
  what.fence_value = ++fence_;
  host.store(kManagementRing + 64 * (managed_++ % 16), what);
  write(abi::ManagementDoorbell::from_raw(managed_));
}

abi::ManagementResponse CommandBench::manage(abi::ManagementCommand what, Picoseconds time) {
  post(what);
  run(time);
  EXPECT_TRUE(answered()) << "no response to " << int{what.opcode};
  return response();
}

abi::ManagementResponse CommandBench::map_process(unsigned process) {
  for (Bytes at = 0; at < kShare; at += 2_MiB) {
    tables.map(process, kVirtual + at, partition(process, at));
  }
  const auto put = [&](Bytes at, const char* name, abi::ImageKind kind) {
    const auto image = program_file(name, kind);
    std::memcpy(device.bytes.data() + partition(process, at), image.data(), image.size());
  };
  put(kSpin, "spin", abi::ImageKind::kAiCore);
  put(kElementwise, "elementwise", abi::ImageKind::kAiCore);
  put(kNoteThread, "note_thread", abi::ImageKind::kAicpu);
  abi::ManagementCommand map;
  map.opcode = static_cast<std::uint8_t>(abi::ManagementOpcode::kMapProcess);
  map.pasid = 100 + process;
  map.vmid = static_cast<std::uint8_t>(process);
  map.page = process;
  map.vector = process;
  return manage(map);
}

TestQueue CommandBench::describe(const QueueSpec& spec) {
  TestQueue queue;
  queue.id = next_queue_++;
  queue.spec = spec;
  auto& mqd = queue.mqd;
  mqd.queue_id = queue.id;
  mqd.doorbell = next_doorbell_[spec.process]++;
  mqd.vmid = static_cast<std::uint8_t>(spec.process);
  mqd.pasid = 100 + spec.process;
  mqd.vector = static_cast<std::uint16_t>(spec.process);
  mqd.priority = spec.priority;
  mqd.quantum_us = spec.quantum_us;
  mqd.log2_ring = mqd.log2_completions = static_cast<std::uint8_t>(spec.log2_ring);
  mqd.flags = spec.flags;
  const std::uint64_t base = spec.host ? host_share(spec.process) : kVirtual;
  if (spec.host) mqd.flags = static_cast<std::uint16_t>(mqd.flags | 0x000F);
  mqd.ring_base = base + offset_of(mqd.doorbell);
  mqd.completion_base = mqd.ring_base + 16_KiB;
  mqd.read_index_address = mqd.ring_base + 24_KiB;
  mqd.signal_base = spec.host ? host_share(spec.process, kHostShare - 64_KiB) : kVirtual + kSignals;
  mqd.signal_slots = 64;
  mqd.save_area = spec.save_area ? kSaveAreas + 128 * queue.id : 0;
  mqd.core_mask = {spec.core_mask, 0, 0, 0};
  return queue;
}

void CommandBench::write_descriptor(const TestQueue& queue) {
  device.store(kDescriptors + 256 * queue.id, queue.mqd);
}

abi::ManagementResponse CommandBench::add(const TestQueue& queue) {
  write_descriptor(queue);
  abi::ManagementCommand command_entry;
  command_entry.opcode = static_cast<std::uint8_t>(abi::ManagementOpcode::kAddQueue);
  command_entry.queue = queue.id;
  command_entry.address = kDescriptors + 256 * queue.id;
  return manage(command_entry);
}

TestQueue CommandBench::make(const QueueSpec& spec) {
  if (next_doorbell_.find(spec.process) == next_doorbell_.end()) {
    EXPECT_EQ(map_process(spec.process).status, 0U);
  }
  auto queue = describe(spec);
  EXPECT_EQ(add(queue).status, 0U);
  return queue;
}

abi::ManagementResponse CommandBench::on_queue(abi::ManagementOpcode opcode, const TestQueue& queue,
                                               abi::PreemptMode mode, Picoseconds time) {
  abi::ManagementCommand what;
  what.opcode = static_cast<std::uint8_t>(opcode);
  what.queue = queue.id;
  what.mode = static_cast<std::uint8_t>(mode);
  return manage(what, time);
}

void CommandBench::push(TestQueue& queue, const QueueEntry& entry) {
  const auto place = queue.written++ & ((1U << queue.spec.log2_ring) - 1);
  const auto offset = offset_of(queue.mqd.doorbell) + 64 * place;
  if (queue.spec.host) {
    host.store(host_share(queue.spec.process, offset), entry);
  } else {
    device.store(partition(queue.spec.process, offset), entry);
  }
}

void CommandBench::doorbell(const TestQueue& queue, std::uint64_t value, unsigned length,
                            unsigned offset) {
  doorbell(queue.spec.process, queue.mqd.doorbell, value, length, offset);
}

void CommandBench::doorbell(unsigned page, unsigned number, std::uint64_t value, unsigned length,
                            unsigned offset) {
  auto& trans =
      sim.pool.allocate(tlm::TLM_WRITE_COMMAND, 4096 * page + 8 * number + offset, nullptr, length);
  std::memcpy(trans.get_data_ptr(), &value, std::min<std::size_t>(length, 8));
  auto delay = sc_core::SC_ZERO_TIME;
  doorbells->b_transport(trans, delay);
  doorbell_status = trans.get_response_status();
  trans.release();
}

std::optional<abi::QueueCompletion> CommandBench::completion(TestQueue& queue) {
  const auto place = queue.read & ((1U << queue.spec.log2_ring) - 1);
  const auto offset = offset_of(queue.mqd.doorbell) + 16_KiB + 16 * place;
  const auto entry = queue.spec.host
                         ? host.load<abi::QueueCompletion>(host_share(queue.spec.process, offset))
                         : device.load<abi::QueueCompletion>(partition(queue.spec.process, offset));
  if ((entry.phase & abi::kCompletionPhase) !=
      abi::completion_phase(queue.read, queue.spec.log2_ring))
    return std::nullopt;
  ++queue.read;
  return entry;
}

std::vector<std::uint32_t> CommandBench::tags(TestQueue& queue) {
  std::vector<std::uint32_t> found;
  while (const auto entry = completion(queue)) found.push_back(entry->tag);
  return found;
}

std::uint64_t CommandBench::read_index(const TestQueue& queue) const {
  const auto offset = offset_of(queue.mqd.doorbell) + 24_KiB;
  return queue.spec.host ? host.load<std::uint64_t>(host_share(queue.spec.process, offset))
                         : device.load<std::uint64_t>(partition(queue.spec.process, offset));
}

std::uint64_t CommandBench::signal(const TestQueue& queue, unsigned slot) const {
  return queue.spec.host
             ? host.load<std::uint64_t>(queue.mqd.signal_base + 8 * slot)
             : device.load<std::uint64_t>(partition(queue.spec.process, kSignals + 8 * slot));
}

void CommandBench::set_signal(const TestQueue& queue, unsigned slot, std::uint64_t value) {
  if (queue.spec.host) {
    host.store(queue.mqd.signal_base + 8 * slot, value);
  } else {
    device.store(partition(queue.spec.process, kSignals + 8 * slot), value);
  }
}

QueueEntry entry_of(QueueOpcode opcode, std::uint32_t tag, std::uint16_t flags) {
  QueueEntry entry;
  entry.opcode = static_cast<std::uint8_t>(opcode);
  entry.tag = tag;
  entry.flags = flags;
  return entry;
}

}  // namespace npu::test
