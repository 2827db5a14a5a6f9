// SPDX-License-Identifier: Apache-2.0
#include "tests/attack/queues/campaign.hpp"

#include "npu/abi/pci.hpp"

namespace npu::attack {

void Campaign::open_card() {
  world_.cards.clear();
  driver::DeviceOptions options;
  options.ring = random_.percent(50) ? driver::RingPlacement::kDeviceMemory
                                     : driver::RingPlacement::kHostMemory;
  auto opened = driver::Device::open_index(world_.host, 0, options);
  if (!opened) return world_.find("open: " + text(opened));
  world_.cards.push_back(std::move(*opened));
  // The manager's own memory stays.
  auto first = driver::ProcessContext::open(world_.card());
  if (!first) return world_.find("open() of a process: " + text(first));
  if (const auto closed = (*first)->close(); !closed) world_.find("close(): " + text(closed));
  used_ = world_.card().memory_statistics().used();
}

void Campaign::open_processes() {
  for (auto left = 1 + random_.below(3); left > 0; --left) {
    processes_.push_back(std::make_unique<QueueProcess>(world_, random_.bits()));
    processes_.back()->all = &processes_;
    processes_.back()->disturbed = random_.percent(50);
    owners_.push_back(std::make_unique<QueueOwner>(*processes_.back()));
  }
  for (auto& owner : owners_) owner->open();
}

// Off the bus for a while, or reset as a whole.
void Campaign::stop_card() {
  auto& host = world_.host;
  world_.pass(any_time(random_, 3_ms));
  world_.stopped = true;
  world_.count("stop");
  const auto bdf = world_.card().info().bdf();
  if (random_.percent(50)) {
    const auto reset = host.reset_function(bdf);
    if (!reset) world_.find("reset_function(): " + text(reset));
    return;
  }
  constexpr std::uint32_t kBoth = abi::pci::kCommandBusMaster | abi::pci::kCommandMemory;
  const std::uint32_t off = random_.percent(70) ? abi::pci::kCommandBusMaster : kBoth;
  const auto before = host.pci().read(bdf, abi::pci::kCommand, 2);
  host.pci().write(bdf, abi::pci::kCommand, 2, before & ~off);
  world_.pass(any_time(random_, 200_us));
  host.pci().write(bdf, abi::pci::kCommand, 2, before);
}

// The card's own ring, which compute queues have nothing to do with.
void Campaign::reset_ring_now_and_then(const bool& over) {
  while (!over && !world_.give_up()) {
    world_.pass(any_time(random_, 2_ms) + 100_us);
    world_.dma->lock();
    const auto reset = world_.card().reset_queue();
    world_.dma->unlock();
    if (!reset && !world_.stopped) world_.find("reset_queue(): " + text(reset));
  }
}

void Campaign::let_loose(bool stop) {
  std::vector<std::unique_ptr<platform::Task>> owners, others;
  bool over = false;
  const auto spawn = [&](auto& tasks, auto body) {
    auto task = world_.host.tasks().spawn("attacker", body);
    if (!task) return world_.find("spawn: " + text(task));
    tasks.push_back(std::move(*task));
  };
  std::vector<std::unique_ptr<Disturber>> disturbers;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    const auto operations = static_cast<unsigned>(40 + random_.below(160));
    spawn(owners, [this, i, operations] { owners_[i]->run(operations); });
    if (!processes_[i]->disturbed || !processes_[i]->healer) continue;
    disturbers.push_back(std::make_unique<Disturber>(*processes_[i], random_.bits()));
    spawn(others, [&over, disturber = disturbers.back().get()] { disturber->run(over); });
  }
  if (stop) {
    stop_card();
  } else if (random_.percent(30)) {
    spawn(others, [this, &over] { reset_ring_now_and_then(over); });
  }
  for (auto& task : owners) task->join();
  over = true;
  for (auto& task : others) task->join();
  for (const auto& process : processes_) process->disturbed = false;
}

void Campaign::close_processes() {
  for (auto& owner : owners_) owner->end();
  owners_.clear();
  processes_.clear();
}

void Campaign::expect_nothing_left() {
  const auto now = driver::queue_statistics(world_.card());
  const auto left = now.processes + now.mapped_processes + now.queues + now.pasids +
                    now.doorbell_pages + now.queue_ids;
  if (left != 0) {
    world_.find(fmt::format("left: {} processes, {} mapped, {} queues, {} PASIDs, {} pages, {} ids",
                            now.processes, now.mapped_processes, now.queues, now.pasids,
                            now.doorbell_pages, now.queue_ids));
  }
  if (now.faults_lost != 0) world_.find(fmt::format("{} faults lost", now.faults_lost));
  const auto used = world_.card().memory_statistics().used();
  if (used != used_) world_.find(fmt::format("{} bytes in use, were {}", used, used_));
  for (const auto& fault : driver::take_stray_faults(world_.card())) {
    world_.find(fmt::format("a fault of nobody: {}, page {}, doorbell {}, value {:#x}",
                            abi::to_string(fault.code), fault.page, fault.doorbell, fault.address));
  }
  const auto fault = world_.card().take_fault();
  if (!fault) world_.find("take_fault(): " + text(fault));
  if (fault && *fault) world_.find("of the card's own ring: " + describe(**fault));
}

void Campaign::round(bool stop) {
  open_processes();
  if (!world_.give_up()) let_loose(stop);
  close_processes();
  if (!stop && !world_.give_up()) expect_nothing_left();
}

void Campaign::run() {
  const bool stops = random_.percent(25);
  const auto rounds = 1 + random_.below(2) + (stops ? 1 : 0);
  for (std::uint64_t i = 0; i < rounds && !world_.give_up(); ++i) {
    if (world_.cards.empty() || world_.stopped || random_.percent(30)) {
      if (!world_.cards.empty()) {
        const auto ended = world_.card().shutdown();
        if (!ended && !world_.stopped) world_.find("shutdown(): " + text(ended));
      }
      world_.stopped = false;
      open_card();
      if (world_.cards.empty()) return;
    }
    round(stops && i == 0);
  }
  const auto ended = world_.card().shutdown();
  if (!ended && !world_.stopped) world_.find("shutdown(): " + text(ended));
}

}  // namespace npu::attack
