// SPDX-License-Identifier: Apache-2.0
#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "tests/unit/firmware/fake_machine.hpp"

extern "C" int npu_aicpu_main(npu::platform::AicpuPort& port);

namespace npu::test {
namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr std::size_t kStack = 64 * 1024;

}  // namespace

struct FakeMachine::Fibre {
  ucontext_t context{}, back{};
  std::vector<char> stack = std::vector<char>(kStack);
  FakePort* port = nullptr;

  static Fibre* starting;
  static void enter() {
    auto& self = *starting;
    self.port->result = npu_aicpu_main(*self.port);
    self.port->finished = true;
    swapcontext(&self.context, &self.back);
  }
};
FakeMachine::Fibre* FakeMachine::Fibre::starting = nullptr;

FakeMachine::FakeMachine(std::vector<abi::CoreType> types, unsigned threads)
    : cores(types.size()), running_(types.size()) {
  for (std::size_t i = 0; i < types.size(); ++i) cores[i].type = types[i];
  for (unsigned i = 0; i < threads; ++i) ports_.push_back(std::make_unique<FakePort>(*this, i));
  duration = [](std::uint32_t, std::uint32_t) { return 1000U; };
  result = [](std::uint32_t) { return 0U; };
  exception = [](std::uint32_t) { return 0U; };
}
FakeMachine::~FakeMachine() = default;

std::uint64_t FakeMachine::allocate(std::uint64_t size) {
  const std::uint64_t address = kBase + used_;
  used_ += (size + 63) / 64 * 64;
  memory_.resize(used_);
  return address;
}

void* FakeMachine::at(std::uint64_t address, std::uint64_t size) {
  if (address < kBase || address - kBase > used_ || size > used_ - (address - kBase)) {
    throw std::out_of_range("access outside of the fake machine's memory");
  }
  return memory_.data() + (address - kBase);
}

bool FakeMachine::memory_handshake() const {
  return run_.handshake == static_cast<std::uint32_t>(abi::HandshakeKind::kMemory);
}

void FakeMachine::run(std::uint64_t address) {
  header_ = address;
  run_ = get<abi::RunHeader>(address);
  for (auto& port : ports_) {
    auto fibre = std::make_unique<Fibre>();
    fibre->port = port.get();
    const auto i = port->thread();
    if (std::count(absent_threads.begin(), absent_threads.end(), i) != 0) port->finished = true;
    getcontext(&fibre->context);
    fibre->context.uc_stack.ss_sp = fibre->stack.data();
    fibre->context.uc_stack.ss_size = fibre->stack.size();
    makecontext(&fibre->context, Fibre::enter, 0);
    fibres_.push_back(std::move(fibre));
  }
  for (unsigned t = next_thread(); t < ports_.size(); t = next_thread()) {
    Fibre::starting = fibres_[t].get();
    swapcontext(&fibres_[t]->back, &fibres_[t]->context);
  }
  // In the memory handshake a core leaves without a word.
  advance(ports_[0]->now() + 2 * reaction);
}

// The one whose clock is behind all others'.
unsigned FakeMachine::next_thread() const {
  auto best = static_cast<unsigned>(ports_.size());
  for (unsigned i = 0; i < ports_.size(); ++i) {
    if (ports_[i]->finished) continue;
    if (best == ports_.size() || ports_[i]->now() < ports_[best]->now()) best = i;
  }
  return best;
}

void FakeMachine::wake(std::uint32_t core, std::uint64_t when) {
  if (cores[core].running || cores[core].missing || cores[core].exited) return;
  cores[core].next = std::min(cores[core].next, when);
  next_event_ = std::min(next_event_, when);
}

void FakeMachine::advance(std::uint64_t now) {
  while (next_event_ <= now) {
    const auto due = next_event_;
    next_event_ = kNever;
    for (std::uint32_t i = 0; i < cores.size(); ++i) {
      if (cores[i].next <= due) act(i, cores[i].next);
      next_event_ = std::min(next_event_, cores[i].next);
    }
  }
}

void FakeMachine::act(std::uint32_t i, std::uint64_t now) {
  auto& core = cores[i];
  core.next = kNever;
  if (core.hung) return;
  if (core.running) finish(i, now);
  const std::uint64_t line = run_.handshakes + i * sizeof(abi::Handshake);
  auto handshake = get<abi::Handshake>(line);
  if (!core.introduced) {
    if (handshake.aicpu_ready == 0) return;
    core.introduced = true;
    handshake.physical_core = i;
    handshake.core_type = static_cast<std::uint32_t>(core.type);
    handshake.aicore_done = i + 1;
    put(line, handshake);
  }
  if (memory_handshake()) {
    look_at_line(i, now);
  } else {
    look_at_register(i, now);
  }
}

void FakeMachine::look_at_register(std::uint32_t i, std::uint64_t now) {
  auto& core = cores[i];
  if (core.data_main == abi::DataMainBase::kNothing) return;
  if (core.last == 0) {
    core.cond = abi::Cond::kIdle;
    core.last = abi::DataMainBase::kIdle;
  }
  if (core.data_main == abi::DataMainBase::kExit) {
    core.cond = abi::Cond::kExited;
    core.exited = true;
  } else if (core.data_main != core.last && core.data_main != abi::DataMainBase::kIdle) {
    core.last = core.id = core.data_main;
    core.cond = core.id;
    start(i, run_.payloads + (2 * i + (core.id & 1)) * sizeof(abi::DispatchPayload), now);
  }
}

void FakeMachine::look_at_line(std::uint32_t i, std::uint64_t now) {
  auto& core = cores[i];
  const std::uint64_t line = run_.handshakes + i * sizeof(abi::Handshake);
  auto handshake = get<abi::Handshake>(line);
  if (handshake.control != 0) {
    core.exited = true;
  } else if (handshake.task_sequence != core.sequence) {
    core.sequence = handshake.task_sequence;
    handshake.task_status = 1;
    put(line, handshake);
    start(i, handshake.task, now);
  }
}

void FakeMachine::start(std::uint32_t i, std::uint64_t payload, std::uint64_t now) {
  auto& core = cores[i];
  const auto what = get<abi::DispatchPayload>(payload);
  core.payload = payload;
  core.running = true;
  running_[i] = static_cast<std::uint32_t>(log.size());
  log.push_back({what.task, what.block, what.role, i, now, kNever});
  const std::uint32_t length = duration(what.task, what.block);
  core.exception = exception(what.task);
  core.hung = length == kHang || core.exception != 0;
  core.next = core.hung ? kNever : now + length;
  next_event_ = std::min(next_event_, core.next);
}

void FakeMachine::finish(std::uint32_t i, std::uint64_t now) {
  auto& core = cores[i];
  core.running = false;
  log[running_[i]].end = now;
  auto payload = get<abi::DispatchPayload>(core.payload);
  payload.result = result(payload.task);
  if (payload.record != 0) {
    auto record = get<abi::TaskRecord>(payload.record);
    record.begun = log[running_[i]].begin;
    record.ended = now;
    put(payload.record, record);
  }
  if (!memory_handshake()) {
    if (payload.result != 0) put(core.payload, payload);
    core.cond = abi::Cond::kFinished | core.id;
    return;
  }
  const std::uint64_t line = run_.handshakes + i * sizeof(abi::Handshake);
  auto handshake = get<abi::Handshake>(line);
  handshake.task_result = payload.result;
  handshake.done_sequence = core.sequence;
  handshake.task_status = 0;
  put(line, handshake);
}

void FakeMachine::written(std::uint64_t address, std::uint64_t now) {
  const std::uint64_t end = run_.handshakes + run_.workers * sizeof(abi::Handshake);
  if (address < run_.handshakes || address >= end) return;
  wake(static_cast<std::uint32_t>((address - run_.handshakes) / sizeof(abi::Handshake)),
       now + reaction);
}

// --- port ------------------------------------------------------------------------------------

unsigned FakePort::threads() const {
  return static_cast<unsigned>(machine_.ports_.size());
}
std::uint64_t FakePort::arguments() const {
  return machine_.header_;
}
unsigned FakePort::core_windows() const {
  return static_cast<unsigned>(machine_.cores.size());
}

// Whoever is behind goes first; then the cores catch up with this thread's time.
void FakePort::take_turn(std::uint64_t cost) {
  if (machine_.next_thread() != thread_) {
    auto& fibre = *machine_.fibres_[thread_];
    swapcontext(&fibre.context, &fibre.back);
  }
  machine_.advance(now_);
  now_ += cost;
}

std::uint64_t FakePort::load(std::uint64_t address, unsigned bytes) {
  take_turn(3);
  std::uint64_t value = 0;
  std::memcpy(&value, machine_.at(address, bytes), bytes);
  return value;
}
void FakePort::store(std::uint64_t address, unsigned bytes, std::uint64_t value) {
  take_turn(1);
  std::memcpy(machine_.at(address, bytes), &value, bytes);
  machine_.written(address, now_);
}
std::uint64_t FakePort::fetch_add(std::uint64_t address, unsigned bytes, std::uint64_t value) {
  take_turn(20);
  std::uint64_t before = 0;
  std::memcpy(&before, machine_.at(address, bytes), bytes);
  const std::uint64_t after = before + value;
  std::memcpy(machine_.at(address, bytes), &after, bytes);
  return before;
}
std::uint64_t FakePort::compare_exchange(std::uint64_t address, unsigned bytes,
                                         std::uint64_t expected, std::uint64_t desired) {
  take_turn(20);
  std::uint64_t before = 0;
  std::memcpy(&before, machine_.at(address, bytes), bytes);
  if (before == expected) std::memcpy(machine_.at(address, bytes), &desired, bytes);
  return before;
}
void FakePort::read(std::uint64_t address, void* data, Bytes length) {
  take_turn(3 * (length / 64 + 1));
  std::memcpy(data, machine_.at(address, length), length);
}
void FakePort::write(std::uint64_t address, const void* data, Bytes length) {
  take_turn(length / 64 + 1);
  std::memcpy(machine_.at(address, length), data, length);
}
void FakePort::barrier() {
  take_turn(10);
}
std::uint32_t FakePort::load_register(unsigned core, std::uint32_t offset) {
  ++machine_.register_loads;
  take_turn(100);
  const auto& state = machine_.cores.at(core);
  if (!state.open) return ~std::uint32_t{0};
  return offset == abi::CoreStatus::kOffset ? state.exception : state.cond;
}
void FakePort::store_register(unsigned core, std::uint32_t offset, std::uint32_t value) {
  take_turn(5);
  auto& state = machine_.cores.at(core);
  if (offset == abi::FastPathEnable::kOffset) state.open = value == abi::FastPathEnable::kOpen;
  if (offset != abi::DataMainBase::kOffset || !state.open) return;
  // A core that is still at the last value would never see it.
  state.data_main = value;
  machine_.wake(core, now_ + machine_.reaction);
}
bool FakePort::poll_again(std::uint64_t deadline) {
  now_ += 1;
  return now_ < deadline;
}

}  // namespace npu::test
