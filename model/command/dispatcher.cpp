// SPDX-License-Identifier: Apache-2.0
#include "model/command/dispatcher.hpp"

#include <algorithm>

#include "model/command/queue_slot.hpp"
#include "model/config/core_layout.hpp"

namespace npu::model {

using abi::FaultCode;

namespace {

// Faults of host addresses, as the engines tell them.
bool is_host_fault(FaultCode code) {
  return code >= FaultCode::kHostAddress && code <= FaultCode::kPoisoned;
}

}  // namespace

void Dispatcher::connect(DmaRequestPort& dma) {
  dma_ = &dma;
  dma.connect(*this);
}

void Dispatcher::connect(Pool& pool, KernelPort& cores) {
  pool.port = &cores;
  cores.connect(*this);
  for (const auto& partition : pool.partitions) {
    for (std::size_t i = 0; i < pool.free.size(); ++i) pool.free[i] |= partition.all()[i];
    pool.known = pool.free;
  }
}

void Dispatcher::connect_aicore(KernelPort& cores) {
  const CoreLayout layout(shared_.config);
  for (unsigned f = 0; f < shared_.config.functions(); ++f) {
    aicore_.partitions.emplace_back(layout.cores_of(shared_.config.partition(f)));
  }
  connect(aicore_, cores);
}

void Dispatcher::connect_aicpu(KernelPort& cores) {
  for (unsigned f = 0; f < shared_.config.functions(); ++f) {
    aicpu_.partitions.emplace_back(shared_.config.partition(f).own_aicpus());
  }
  connect(aicpu_, cores);
}

// Cores are with who has them: what others have is taken from the free ones of nobody.
void Dispatcher::set_partition(unsigned function, const Partition& partition) {
  aicore_.set(function, CorePartition(CoreLayout(shared_.config).cores_of(partition)));
  aicpu_.set(function, CorePartition(partition.own_aicpus()));
}

void Dispatcher::Pool::set(unsigned function, CorePartition partition) {
  if (function >= partitions.size()) return;  // no cores of this kind
  for (std::size_t i = 0; i < known.size(); ++i) {
    const std::uint64_t fresh = partition.all()[i] & ~known[i];
    known[i] |= fresh;
    free[i] |= fresh;
  }
  partitions[function] = std::move(partition);
}

bool Dispatcher::cores_idle(const Partition& partition) const {
  return aicore_.idle(CorePartition(CoreLayout(shared_.config).cores_of(partition)).all());
}

bool Dispatcher::aicpus_idle(const Partition& partition) const {
  return aicpu_.idle(CorePartition(partition.own_aicpus()).all());
}

bool Dispatcher::Pool::idle(const Mask& cores) const {
  for (std::size_t i = 0; i < cores.size(); ++i) {
    if ((cores[i] & known[i] & ~free[i]) != 0) return false;
  }
  return true;
}

void Dispatcher::Waiters::remove(QueueSlot& slot) {
  slots.erase(std::remove(slots.begin(), slots.end(), &slot), slots.end());
}

// The one of two to be served first.
QueueSlot* Dispatcher::before(QueueSlot* a, QueueSlot* b, unsigned last) {
  if (a->priority() != b->priority()) return a->priority() > b->priority() ? a : b;
  // The first one behind the last served, in a circle.
  return a->number() - last - 1 < b->number() - last - 1 ? a : b;
}

// The same for cores, which members of a group have in turns.
QueueSlot* Dispatcher::before(const Pool& pool, QueueSlot* a, QueueSlot* b) const {
  bool tie = true;
  const bool first =
      &pool == &aicore_ && turns_.before(a->function().number, b->function().number, tie);
  return tie ? before(a, b, pool.waiters.last) : first ? a : b;
}

// A mask is of AI Cores. Without a port there are no cores.
Dispatcher::Mask Dispatcher::usable(const Pool& pool, const QueueSlot& slot,
                                    abi::QueueOpcode opcode) {
  if (pool.partitions.empty()) return {};
  const auto& partition = pool.partitions[slot.function().number];
  if (opcode == abi::QueueOpcode::kLaunchAicpu) return partition.all();
  return partition.of_card(slot.queue()->mqd.core_mask);
}

bool Dispatcher::has_core(const QueueSlot& slot, const QueueCommand& launch) const {
  const auto mask = usable(pool_of(launch.opcode()), slot, launch.opcode());
  return launch.mixed ? clusters_.any(mask) : mask != Mask{};
}

// The lowest core, or cluster of a mixed launch, that the slot's kernel may run on; -1: none.
int Dispatcher::place_for(const Pool& pool, const Mask& free, const QueueSlot& slot) const {
  const auto& launch = *slot.launching();
  const auto mask = usable(pool, slot, launch.opcode());
  if (launch.mixed) return clusters_.free_one(mask, free, launch.cores);
  return launch.cores != 0 ? free_core_of_first(free, mask, launch.cores) : free_core(free, mask);
}

int Dispatcher::free_core(const Mask& free, const Mask& usable) {
  for (std::size_t i = 0; i < usable.size(); ++i) {
    const std::uint64_t found = free[i] & usable[i];
    if (found != 0) return static_cast<int>(64 * i) + __builtin_ctzll(found);
  }
  return -1;
}

// The same of the lowest `count` cores of the mask.
int Dispatcher::free_core_of_first(const Mask& free, const Mask& usable, unsigned count) {
  for (std::size_t i = 0; i < usable.size(); ++i) {
    for (std::uint64_t left = usable[i]; left != 0; left &= left - 1) {
      const auto bit = static_cast<unsigned>(__builtin_ctzll(left));
      if ((free[i] >> bit & 1) != 0) return static_cast<int>(64 * i + bit);
      if (--count == 0) return -1;
    }
  }
  return -1;
}

void Dispatcher::want_dma(QueueSlot& slot) {
  dma_waiters_.slots.push_back(&slot);
  serve_dma();
}

void Dispatcher::want_cores(QueueSlot& slot) {
  auto& pool = pool_of(slot.launching()->opcode());
  pool.waiters.slots.push_back(&slot);
  if (&pool == &aicore_) turns_.wants(slot.function().number);
  serve_cores(pool);
}

void Dispatcher::cancel(QueueSlot& slot) {
  dma_waiters_.remove(slot);
  aicore_.waiters.remove(slot);
  aicpu_.waiters.remove(slot);
}

void Dispatcher::serve_dma() {
  for (;;) {
    QueueSlot* best = nullptr;
    const QueueFunction* asked = nullptr;  // for it; most are of one
    bool free = false;
    for (auto* slot : dma_waiters_.slots) {
      if (asked != &slot->function()) {
        asked = &slot->function();
        free = dma_->can_request(asked->number);
      }
      if (!free) continue;
      best = best == nullptr ? slot : before(best, slot, dma_waiters_.last);
    }
    if (best == nullptr) return;
    dma_waiters_.remove(*best);
    dma_waiters_.last = best->number();
    best->dma_granted();
  }
}

void Dispatcher::serve_cores(Pool& pool) {
  while (pool.free != Mask{}) {
    QueueSlot* best = nullptr;
    Mask others = held(pool);  // free for a block that does not need a whole cluster
    for (std::size_t i = 0; i < others.size(); ++i) others[i] = pool.free[i] & ~others[i];
    const auto place = [&](const QueueSlot& slot) {
      return place_for(pool, slot.launching()->mixed ? pool.free : others, slot);
    };
    for (auto* slot : pool.waiters.slots) {
      if (place(*slot) < 0 || !has_turn(pool, *slot)) continue;
      best = best == nullptr ? slot : before(pool, best, slot);
    }
    if (best == nullptr) return;
    start_block(pool, *best, static_cast<unsigned>(place(*best)));
  }
}

// A mixed launch would wait without end if others took single cores of every cluster: while one
// waits and no launch is more urgent, the cluster that is nearest to being free is left alone.
Dispatcher::Mask Dispatcher::held(const Pool& pool) {
  const QueueSlot* first = nullptr;
  unsigned most = 0;  // urgent
  for (auto* slot : pool.waiters.slots) {
    most = std::max<unsigned>(most, slot->priority());
    const bool mixed = slot->launching()->mixed && has_turn(pool, *slot);
    if (mixed && (first == nullptr || slot->priority() > first->priority())) first = slot;
  }
  if (first == nullptr || first->priority() < most) return {};
  const auto& launch = *first->launching();
  return clusters_.nearest(usable(pool, *first, launch.opcode()), pool.free, launch.cores);
}

void Dispatcher::start_block(Pool& pool, QueueSlot& slot, unsigned place) {
  pool.waiters.last = slot.number();
  const unsigned lanes = slot.launching()->mixed ? clusters_.lanes() : 1;
  const bool mixed = slot.launching()->mixed;
  const SimTime timeout = slot.launching()->timeout;
  KernelBlock block = slot.take_block(lanes);
  if (block.block + 1 == block.blocks) pool.waiters.remove(slot);
  for (unsigned role = 0; role < lanes; ++role) {
    const unsigned core = mixed ? clusters_.core(place, role) : place;
    pool.free[core / 64] &= ~(std::uint64_t{1} << core % 64);
    block.role = role;
    if (&pool == &aicore_) block_started(core, block, slot.function().number, timeout);
    pool.port->start(core, block);
  }
  slot.block_started();
}

bool Dispatcher::runs_other(unsigned core, unsigned function) const {
  return core < running_.size() && running_[core].busy && running_[core].function != function;
}

// At its maximum a member waits, though cores are free.
bool Dispatcher::has_turn(const Pool& pool, const QueueSlot& slot) {
  if (&pool != &aicore_ || !turns_.shares(slot.function().number)) return true;
  const SimTime when = turns_.may_start(slot.function().number);
  if (when <= sim_now()) return true;
  if (when < next_turn_) {
    next_turn_ = when;
    shared_.sim.agenda.at<&Dispatcher::turn_came>(when, *this);
  }
  return false;
}

void Dispatcher::turn_came(std::uint64_t) {
  if (next_turn_ > sim_now()) return;
  next_turn_ = UINT64_MAX;
  serve_cores(aicore_);
}

void Dispatcher::block_started(unsigned core, const KernelBlock& block, unsigned function,
                               SimTime timeout) {
  if (running_.size() <= core) running_.resize(aicore_.port->cores());
  auto& run = running_[core];
  run.since = sim_now();
  run.context = block.context;
  run.function = function;
  run.busy = true;
  turns_.started(function);
  const SimTime of_group = turns_.timeout(function);
  if (timeout == 0 || (of_group != 0 && of_group < timeout)) timeout = of_group;
  run.deadline = timeout == 0 ? UINT64_MAX : run.since + timeout;
  watch(core);
}

// One event is enough for a core: when it comes, a later block may have another deadline.
void Dispatcher::watch(unsigned core) {
  auto& run = running_[core];
  if (run.deadline >= run.looked_at) return;
  run.looked_at = run.deadline;
  shared_.sim.agenda.at<&Dispatcher::look_at>(run.deadline, *this, core);
}

void Dispatcher::look_at(std::uint64_t core) {
  auto& run = running_[core];
  if (run.looked_at != sim_now()) return;  // there was an earlier one
  run.looked_at = UINT64_MAX;
  if (!run.busy) return;
  if (run.deadline > sim_now()) return watch(static_cast<unsigned>(core));
  run.timed_out = true;
  aicore_.port->stop(run.context);
}

void Dispatcher::dma_left(const DmaRequest& done) {
  auto& command = shared_.commands.at(done.context);
  command.fault = done.fault;
  command.host_fault = is_host_fault(done.fault.code);
  command.slot->work_done(command);
}

void Dispatcher::block_done(unsigned core, const KernelBlock& block, const CommandFault& fault) {
  auto& command = shared_.commands.at(block.context);
  auto& pool = pool_of(command.opcode());
  pool.free[core / 64] |= std::uint64_t{1} << core % 64;
  CommandFault placed = fault;
  placed.block = block.block;
  if (&pool == &aicore_) {
    auto& ran = running_[core];
    turns_.ended(command.slot->function().number, sim_now() - ran.since);
    if (ran.timed_out) placed.code = FaultCode::kTaskTimeout;
    ran.deadline = UINT64_MAX;
    ran.busy = ran.timed_out = false;
  }
  placed.core = pool.partitions[command.slot->function().number].of_driver(core) + 1;
  shared_.sim.agenda.note_progress();
  command.slot->block_ended(command, placed);
  serve_cores(pool);
}

void Dispatcher::stop(QueueSlot& slot) {
  shared_.commands.for_each_of(slot, [this](QueueCommand& command) {
    if (!command.taken || command.done != 0) return;
    command.given_up = true;
    if (command.blocks_out > 0) pool_of(command.opcode()).port->stop(command.handle);
    if (abi::find_dma_operation(command.entry.opcode)) dma_->stop(command.handle);
  });
}

void Dispatcher::reset(unsigned function) {
  for (unsigned core = 0; core < running_.size(); ++core) {
    auto& run = running_[core];
    if (!run.busy || run.function != function) continue;
    turns_.ended(function, sim_now() - run.since);
    run.deadline = UINT64_MAX;
    run.busy = run.timed_out = false;
  }
  for (auto* pool : {&aicore_, &aicpu_}) {
    if (pool->partitions.empty()) continue;
    for (std::size_t i = 0; i < pool->free.size(); ++i) {
      Mask::value_type own = pool->partitions[function].all()[i];
      // Others of its group go on.
      for (unsigned bit = 0; pool == &aicore_ && bit < 64; ++bit) {
        if (runs_other(static_cast<unsigned>(64 * i) + bit, function)) {
          own &= ~(std::uint64_t{1} << bit);
        }
      }
      pool->free[i] |= own;
    }
  }
}

}  // namespace npu::model
