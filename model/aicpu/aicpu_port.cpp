// SPDX-License-Identifier: Apache-2.0
#include "model/aicpu/aicpu_port.hpp"

#include <cstring>

#include "model/aicpu/aicpu_core.hpp"

namespace npu::model {

unsigned AicpuProgramPort::thread() const {
  return core_.thread();
}
unsigned AicpuProgramPort::threads() const {
  return core_.threads();
}
std::uint64_t AicpuProgramPort::arguments() const {
  return core_.arguments();
}
unsigned AicpuProgramPort::core_windows() const {
  return core_.registers().windows();
}
std::uint64_t AicpuProgramPort::counter_hz() const {
  return core_.counter_hz();
}

// What the program has executed takes its time first.
template <class Call>
void AicpuProgramPort::act(Call&& call) {
  run_.act([&] {
    core_.executed(run_.take_executed());
    call();
  });
}
template <class Call>
auto AicpuProgramPort::ask(Call&& call) {
  return run_.ask([&] {
    core_.executed(run_.take_executed());
    return call();
  });
}

// --- memory ---------------------------------------------------------------------------------

std::uint64_t AicpuProgramPort::load(std::uint64_t address, unsigned bytes) {
  return ask([&] { return core_.memory().load(address, bytes); });
}
void AicpuProgramPort::store(std::uint64_t address, unsigned bytes, std::uint64_t value) {
  act([&] { core_.memory().store(address, bytes, value); });
}
std::uint64_t AicpuProgramPort::fetch_add(std::uint64_t address, unsigned bytes,
                                          std::uint64_t value) {
  return ask([&] { return core_.memory().fetch_add(address, bytes, value); });
}
std::uint64_t AicpuProgramPort::compare_exchange(std::uint64_t address, unsigned bytes,
                                                 std::uint64_t expected, std::uint64_t desired) {
  return ask([&] { return core_.memory().compare_exchange(address, bytes, expected, desired); });
}
// The bytes are an answer.
void AicpuProgramPort::read(std::uint64_t address, void* data, Bytes length) {
  const bool read = ask([&] {
    core_.memory().read(address, data, length);
    return true;
  });
  if (!read) std::memset(data, 0, length);
}
void AicpuProgramPort::write(std::uint64_t address, const void* data, Bytes length) {
  act([&] { core_.memory().write(address, data, length); });
}
void AicpuProgramPort::invalidate(std::uint64_t address, Bytes length) {
  const void* const from = __builtin_return_address(0);
  act([&] {
    if (core_.omits(Synchronisation::kAicpuInvalidate, from)) return;
    core_.memory().invalidate(address, length);
  });
}
void AicpuProgramPort::barrier() {
  const void* const from = __builtin_return_address(0);
  act([&] {
    if (core_.omits(Synchronisation::kAicpuBarrier, from)) return;
    core_.memory().barrier();
  });
}

// --- registers, time ------------------------------------------------------------------------

std::uint32_t AicpuProgramPort::load_register(unsigned core, std::uint32_t offset) {
  return ask([&] { return core_.registers().load(core, offset); });
}
void AicpuProgramPort::store_register(unsigned core, std::uint32_t offset, std::uint32_t value) {
  act([&] { core_.registers().store(core, offset, value); });
}
std::uint64_t AicpuProgramPort::system_counter() {
  return ask([&] { return core_.system_counter(); });
}
void AicpuProgramPort::compute(unsigned instructions) {
  act([&] { core_.compute(instructions); });
}
bool AicpuProgramPort::poll_again(std::uint64_t deadline) {
  return ask([&] { return core_.polls().poll_again(deadline); });
}
void AicpuProgramPort::phase(platform::AicpuPhase phase, std::uint32_t task) {
  act([&] { core_.phases().enter(phase, task); });
}

}  // namespace npu::model
