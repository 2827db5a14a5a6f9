// SPDX-License-Identifier: Apache-2.0
#include "model/chip.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/config/core_layout.hpp"

namespace npu::model {

Chip::Chip(const sc_core::sc_module_name& name, Simulation& simulation, const ChipConfig& config,
           unsigned index, Endpoint& endpoint)
    : sc_module(name),
      config_(config),
      functions_(make_functions(simulation, config, index, endpoint)),
      dma_("dma", simulation, config, index),
      reduce_("reduce", simulation),
      mmu_("mmu", simulation, config, index, kMmuClients),
      host_pages_("ats", simulation, config, fmt::format("card{}.ats", index), mmu_),
      command_("command", simulation, config, index),
      aicore_programs_("aicore_programs", simulation, config, mmu_.core_memory(), memory_watch_,
                       fmt::format("card{}.aicore", index)),
      aicpu_programs_("aicpu_programs", simulation, config.aicpu, config.aicpu_core,
                      std::max(config.aicpus, config.virtual_functions.aicpus),
                      fmt::format("card{}.aicpu", index), mmu_.memory()),
      control_("control", simulation, config, fmt::format("card{}.control", index), mmu_.memory()),
      l2_("l2", simulation, config.l2, kMmuClients - kFirstL2Client,
          fmt::format("card{}.l2", index)),
      hbm_("hbm", simulation, config.hbm, kClientPorts + kMmuClients + config.functions() - 1,
           fmt::format("card{}.hbm", index)),
      hccs_("hccs", simulation, config, functions_.front()->registers().bank()),
      telemetry_(aicore_programs_, aicpu_programs_, hbm_),
      endpoint_(endpoint),
      partition_unit_(functions_.front()->registers(), simulation, config, *this) {
  for (unsigned i = 0; i < config.functions(); ++i) {
    const unsigned port = i == 0 ? kBar2Port : kClientPorts + kMmuClients + i - 1;
    functions_[i]->bar2().hbm_socket.bind(hbm_.port_sockets[port]);
    functions_[i]->connect(dma_, mmu_, host_pages_, command_, control_);
    functions_[i]->connect(telemetry_);
  }
  auto& registers = functions_.front()->registers();
  const auto counted = [&registers](std::uint32_t word) {
    return registers.bank().get<abi::HccsCounted>().raw + word;
  };
  registers.add_window(abi::kHccsSentWindow, [this, counted](std::uint32_t word) {
    return hccs_.messages_sent(counted(word));
  });
  registers.add_window(abi::kHccsReceivedWindow, [this, counted](std::uint32_t word) {
    return hccs_.messages_received(counted(word));
  });
  dma_.hbm_socket.bind(mmu_.client_sockets[kDmaClient]);
  dma_.l2_socket.bind(mmu_.client_sockets[kPrefetchClient]);
  for (unsigned i = 0; i < kMmuClients; ++i) {
    auto& port = hbm_.port_sockets[kClientPorts + i];
    if (i == kDmaClient) {
      mmu_.hbm_sockets[i].bind(reduce_.client_sockets[ReduceUnit::kEngines]);
      reduce_.hbm_sockets[ReduceUnit::kEngines].bind(port);
    } else if (i < kFirstL2Client) {
      mmu_.hbm_sockets[i].bind(port);
    } else {
      mmu_.hbm_sockets[i].bind(l2_.client_sockets[i - kFirstL2Client]);
      l2_.hbm_sockets[i - kFirstL2Client].bind(port);
    }
  }
  hbm_.observe_writes(memory_watch_);
  hccs_.observe_writes(memory_watch_);
  hbm_.ecc().connect(*this);
  if (config.l2.size != 0) memory_watch_.pass_on_to(l2_);
  mmu_.connect(memory_watch_, {Writer::kDma, Writer::kDma, Writer::kAiCore, Writer::kAicpu,
                               Writer::kAicpu, Writer::kDma});
  mmu_.connect(hbm_.memory());
  mmu_.walker_socket.bind(hbm_.port_sockets[kWalkerPort]);
  mmu_.peer_socket.bind(hccs_.peer_socket);
  hccs_.memory_socket.bind(reduce_.client_sockets[ReduceUnit::kPeers]);
  reduce_.hbm_sockets[ReduceUnit::kPeers].bind(hbm_.port_sockets[kPeerPort]);
  dma_.host_socket.bind(endpoint.dma_sockets[0]);
  mmu_.host_socket.bind(endpoint.dma_sockets[2]);
  control_.host_socket.bind(endpoint.dma_sockets[3]);
  host_pages_.host_socket.bind(endpoint.dma_sockets[4]);
  mmu_.connect(host_pages_);
  host_pages_.connect(endpoint,
                      [&endpoint](std::uint64_t request) { endpoint.invalidated(request); });
  endpoint.add_reset_listener(*this);
  endpoint.add_write_loss_listener(*this);
  connect_queues(endpoint);
  connect_programs();
}

Chip::Functions Chip::make_functions(Simulation& simulation, const ChipConfig& config,
                                     unsigned index, Endpoint& endpoint) {
  Functions made;
  for (unsigned i = 0; i < config.functions(); ++i) {
    made.push_back(std::make_unique<CardFunction>(fmt::format("function{}", i).c_str(), simulation,
                                                  config, index, i, endpoint));
  }
  return made;
}

// What has partitions of function 0 loses them with it.
void Chip::function_reset(unsigned function) {
  if (function == 0) partition_unit_.reset();
  stop(function);
  const unsigned physical = config_.physical_functions();
  if (function >= physical) scrub(partition_unit_.partitions().partition(function - physical));
}

void Chip::stop(unsigned function) {
  functions_[function]->reset();
  dma_.function_reset(function);
  reduce_.function_reset(function);
  mmu_.function_reset(function);
  host_pages_.function_reset(function);
  const auto& partition = functions_[function]->registers().partition();
  if (partition.memory == config_.hbm.installed && partition.lent_memory.empty()) {
    l2_.invalidate_all();
  } else if (partition.memory != 0) {
    l2_.invalidate(partition.memory_base, partition.memory);
  }
  hccs_.function_reset(function);
  command_.function_reset(function);
  aicore_programs_.function_reset(function);
  aicpu_programs_.function_reset(function);
  control_.function_reset(function);
}

void Chip::host_write_lost(unsigned function, std::uint64_t address) {
  functions_[function]->host_write_lost(address);
}

void Chip::may_send_again(unsigned function) {
  functions_[function]->may_send_again();
}

void Chip::set_core_clock(unsigned percent) {
  aicore_programs_.set_clock_percent(percent);
  for (auto& function : functions_) function->core_clock_changed();
}

void Chip::memory_error(std::uint64_t address, unsigned bits) {
  for (auto& function : functions_) function->memory_error(address, bits);
}

void Chip::connect_programs() {
  aicore_programs_.memory_socket.bind(mmu_.client_sockets[kAiCoreClient]);
  aicpu_programs_.memory_socket.bind(mmu_.client_sockets[kAicpuClient]);
  std::vector<std::vector<unsigned>> windows;
  for (unsigned i = 0; i < config_.functions(); ++i) {
    windows.push_back(CoreLayout(config_).cores_of(config_.partition(i)));
  }
  aicpu_programs_.connect_windows(aicore_programs_, std::move(windows));
  memory_watch_.add_snooper(aicpu_programs_);
  control_.programs().memory_socket.bind(mmu_.client_sockets[kControlClient]);
  command_.connect_aicore(aicore_programs_);
  command_.connect_aicpu(aicpu_programs_);
}

void Chip::connect_queues(Endpoint& endpoint) {
  command_.device_socket.bind(mmu_.client_sockets[kCommandClient]);
  command_.host_socket.bind(endpoint.dma_sockets[1]);
  command_.connect(dma_);
  command_.connect(memory_watch_, mmu_.memory());
  dma_.connect(static_cast<PagePort&>(mmu_));
}

bool Chip::invalidate_translations(unsigned function, std::uint64_t request) {
  dma_.invalidate_translations(function);
  functions_[function]->invalidate_translations();
  return host_pages_.invalidate(function, request);
}

bool Chip::cores_idle(const Partition& partition) const {
  return command_.dispatcher().cores_idle(partition);
}

bool Chip::aicpus_idle(const Partition& partition) const {
  return command_.dispatcher().aicpus_idle(partition);
}

bool Chip::in_use(unsigned index) const {
  return functions_[config_.physical_functions() + index]->in_use();
}

void Chip::stop_and_scrub(unsigned index, const Partition& had) {
  endpoint_.reset_at_once(config_.physical_functions() + index);
  scrub(had);
}

// Its caches were emptied with the function.
void Chip::scrub(const Partition& partition) {
  if (partition.memory == 0) return;
  hbm_.memory().clear(partition.memory_base, partition.memory);
  l2_.invalidate(partition.memory_base, partition.memory);
}

void Chip::partitions_changed(unsigned index) {
  const auto& partitions = partition_unit_.partitions();
  const unsigned function = config_.physical_functions() + index;
  set_partition(function, partitions.partition(index));
  set_partition(0, partitions.physical());
  deal_bandwidth();
  command_.dispatcher().set_member(function, member_of(partitions.of(index)));
  hccs_.set_partition(partitions.physical());
  Bytes lent = 0;
  for (const auto& each : partitions.physical().lent_memory) lent += each.size;
  endpoint_.set_reset_time(function, partition_unit_.scrub_time(partitions.of(index).memory));
  endpoint_.set_reset_time(0, partition_unit_.scrub_time(lent));
}

GroupMember Chip::member_of(const FunctionPartition& partition) const {
  if (!partition.in_group()) return {};
  const auto cores =
      CoreLayout(config_).cores_of(partition_unit_.partitions().partition(partition));
  return {partition.group,
          partition.token,
          partition.token_max,
          partition.vip,
          SimTime{partition.task_timeout_us} * 1'000'000,
          static_cast<unsigned>(cores.size())};
}

// With one function more or less the engines of all are others.
void Chip::deal_bandwidth() {
  const auto& partitions = partition_unit_.partitions();
  const unsigned physical = config_.physical_functions();
  const auto& own = config_.virtual_functions;
  dma_.bandwidth().set_weights(0, {own.link_weight, own.link_weight, own.hbm_weight});
  for (unsigned i = 0; i < partitions.functions(); ++i) {
    const auto& partition = partitions.of(i);
    dma_.set_partition(physical + i, partitions.partition(i));
    if (partition.present()) {
      dma_.bandwidth().set_weights(
          physical + i, {partition.link_weight, partition.link_weight, partition.hbm_weight});
    } else {
      dma_.bandwidth().set_weights(physical + i, {});
    }
  }
}

void Chip::set_partition(unsigned function, const Partition& partition) {
  functions_[function]->set_partition(partition);
  dma_.set_partition(function, partition);
  mmu_.set_partition(function, partition);
  command_.dispatcher().set_partition(function, partition);
  aicore_programs_.set_partition(function, partition);
  aicpu_programs_.set_windows(function, CoreLayout(config_).cores_of(partition));
}

}  // namespace npu::model
