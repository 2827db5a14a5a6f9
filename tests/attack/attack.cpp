// SPDX-License-Identifier: Apache-2.0
#include "tests/attack/attack.hpp"

#include <algorithm>

namespace npu::attack {

Attack::Attack(platform::Platform& host, std::uint64_t seed, unsigned cards)
    : world_(host, seed), random_(seed) {
  open(cards);
}

void Attack::open(unsigned cards) {
  world_.occupancy.resize(cards);
  world_.sure_faults.resize(cards);
  world_.maybe_faults.resize(cards);
  driver::DeviceOptions options;
  options.ring = random_.percent(50) ? driver::RingPlacement::kDeviceMemory
                                     : driver::RingPlacement::kHostMemory;
  world_.compacts = options.compact_on_demand = !random_.percent(10);
  for (unsigned card = 0; card < cards; ++card) {
    auto opened = driver::Device::open_index(world_.host, card, options);
    if (!opened) return world_.find("open: " + text(opened));
    world_.cards.push_back(std::move(*opened));
  }
  for (auto left = 1 + random_.below(4); left > 0; --left) {
    workers_.push_back(std::make_unique<Worker>(world_, random_.bits()));
    workers_.back()->open();
  }
}

void Attack::round(unsigned operations) {
  world_.alone = random_.percent(50);
  if (world_.alone) return random_.in(workers_)->run(operations);
  std::vector<std::unique_ptr<platform::Task>> tasks;
  const auto each = operations / static_cast<unsigned>(workers_.size()) + 1;
  for (auto& worker : workers_) {
    auto task = world_.host.tasks().spawn("attacker", [&worker, each] { worker->run(each); });
    if (!task) return world_.find("spawn: " + text(task));
    tasks.push_back(std::move(*task));
  }
  for (auto& task : tasks) task->join();
}

void Attack::look_for_faults(unsigned card) {
  auto& device = *world_.cards[card];
  const auto fault = device.take_fault();
  const auto sure = world_.sure_faults[card], maybe = world_.maybe_faults[card];
  world_.sure_faults[card] = world_.maybe_faults[card] = 0;
  if (!fault) return world_.find("take_fault(): " + text(fault));
  if (!*fault) {
    if (sure > 0) world_.find(fmt::format("card {}: {} faults but no report", card, sure));
    return;
  }
  const auto overflow = (*fault)->overflow;
  if (sure + maybe == 0 || (sure + maybe == 1 && overflow) || (sure > 1 && !overflow)) {
    world_.find(fmt::format("card {}: {} to {} faults provoked, but found {}{}", card, sure,
                            sure + maybe, describe(**fault), overflow ? " and more" : ""));
  }
  if (!random_.percent(30)) return;
  const auto reset = device.reset_queue();  // also gives events back that have seen faults
  if (!reset) world_.find("reset_queue(): " + text(reset));
}

void Attack::look_at_cards() {
  for (unsigned card = 0; card < world_.cards.size(); ++card) {
    const auto now = world_.cards[card]->memory_statistics();
    const auto& wanted = world_.occupancy[card];
    if (now.used() != wanted.used || now.free + wanted.used != now.total || now.quarantined != 0) {
      world_.find(
          fmt::format("card {}: {} of {} bytes must be in use, {} are, {} free, {} in "
                      "quarantine",
                      card, wanted.used, now.total, now.used(), now.free, now.quarantined));
    }
    if (now.largest_free_block > now.free || now.huge_pages_free * driver::kPageSize != now.free) {
      world_.find(fmt::format("card {}: {} free, {} in one piece, {} pages", card, now.free,
                              now.largest_free_block, now.huge_pages_free));
    }
    look_for_faults(card);
  }
}

const World& Attack::run(std::uint64_t operations) {
  while (world_.operation < operations && !world_.give_up()) {
    const auto left = operations - world_.operation;
    round(static_cast<unsigned>(std::min<std::uint64_t>(left, 1 + random_.below(200))));
    look_at_cards();
    if (random_.percent(2)) random_.in(workers_)->verify_all();
  }
  if (!world_.give_up()) end();
  return world_;
}

void Attack::end() {
  for (auto& worker : workers_) worker->verify_all();
  for (auto& worker : workers_) worker->close();
  for (unsigned card = 0; card < world_.cards.size(); ++card) {
    const auto now = world_.cards[card]->memory_statistics();
    if (now.largest_free_block != now.total || now.allocations != 0) {
      world_.find(
          fmt::format("card {}: everything given back, but {} of {} bytes are free, {} in "
                      "one piece, {} allocations",
                      card, now.free, now.total, now.largest_free_block, now.allocations));
    }
  }
  for (auto& card : world_.cards) {
    if (const auto ended = card->shutdown(); !ended) world_.find("shutdown(): " + text(ended));
  }
}

}  // namespace npu::attack
