// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/program_port.hpp"

#include "model/aicore/program_core.hpp"

namespace npu::model {

using platform::CrossScope;
using platform::Pipe;

// --- what costs nothing and goes on for ever ------------------------------------------------

const platform::KernelCall& ProgramPort::call() const {
  return core_.call();
}
unsigned ProgramPort::physical_core() const {
  return core_.physical_core();
}
abi::CoreType ProgramPort::core_type() const {
  return core_.core_type();
}
Bytes ProgramPort::buffer_size(platform::LocalBuffer buffer) const {
  return core_.buffer_size(buffer);
}
bool ProgramPort::has_vector_functions() const {
  return core_.has_vector_functions();
}
bool ProgramPort::has_transposing_copies() const {
  return core_.has_transposing_copies();
}
std::uint64_t ProgramPort::counter_hz() const {
  return core_.registers().counter_hz();
}

// What the program has executed takes its time first. `from`: where in the program the call is.
template <class Call>
void ProgramPort::act(const void* from, Call&& call) {
  run_.act([&] {
    core_.executed(from, run_.take_executed());
    call();
  });
}
template <class Call>
auto ProgramPort::ask(const void* from, Call&& call) {
  return run_.ask([&] {
    core_.executed(from, run_.take_executed());
    return call();
  });
}

// --- pipes ----------------------------------------------------------------------------------

void ProgramPort::issue(const platform::CopyIn& instruction) {
  act(__builtin_return_address(0), [&] { core_.issue().issue(instruction); });
}
void ProgramPort::issue(const platform::CopyOut& instruction) {
  act(__builtin_return_address(0), [&] { core_.issue().issue(instruction); });
}
void ProgramPort::issue(const platform::LoadL0& instruction) {
  act(__builtin_return_address(0), [&] { core_.issue().issue(instruction); });
}
void ProgramPort::issue(const platform::Mmad& instruction) {
  act(__builtin_return_address(0), [&] { core_.issue().issue(instruction); });
}
void ProgramPort::issue(const platform::Fixpipe& instruction) {
  act(__builtin_return_address(0), [&] { core_.issue().issue(instruction); });
}
void ProgramPort::issue(const platform::Vector& instruction) {
  act(__builtin_return_address(0), [&] { core_.issue().issue(instruction); });
}
void ProgramPort::issue(const platform::VectorFunction& instruction) {
  act(__builtin_return_address(0), [&] { core_.issue().issue(instruction); });
}
void ProgramPort::set_store_reduction(const platform::StoreReduction& reduction) {
  act(__builtin_return_address(0), [&] { core_.issue().set_store_reduction(reduction); });
}
void ProgramPort::set_flag(Pipe from, Pipe to, unsigned id) {
  act(__builtin_return_address(0), [&] { core_.issue().set_flag(from, to, id); });
}
void ProgramPort::wait_flag(Pipe from, Pipe to, unsigned id) {
  act(__builtin_return_address(0), [&] { core_.issue().wait_flag(from, to, id); });
}
void ProgramPort::pipe_barrier(Pipe pipe) {
  act(__builtin_return_address(0), [&] { core_.issue().pipe_barrier(pipe); });
}
void ProgramPort::set_cross_flag(Pipe pipe, CrossScope scope, unsigned flag) {
  act(__builtin_return_address(0), [&] { core_.issue().set_cross_flag(pipe, scope, flag); });
}
void ProgramPort::wait_cross_flag(Pipe pipe, CrossScope scope, unsigned flag) {
  act(__builtin_return_address(0), [&] { core_.issue().wait_cross_flag(pipe, scope, flag); });
}

// --- the scalar unit ------------------------------------------------------------------------

std::uint64_t ProgramPort::load(std::uint64_t address, unsigned bytes) {
  return ask(__builtin_return_address(0), [&] { return core_.memory().load(address, bytes); });
}
void ProgramPort::store(std::uint64_t address, unsigned bytes, std::uint64_t value) {
  act(__builtin_return_address(0), [&] { core_.memory().store(address, bytes, value); });
}
void ProgramPort::clean_invalidate(std::uint64_t address) {
  const void* const from = __builtin_return_address(0);
  act(from, [&] {
    if (core_.omits(Synchronisation::kCoreClean, from)) return;
    core_.memory().clean_invalidate(address);
  });
}
void ProgramPort::clean_invalidate_all() {
  const void* const from = __builtin_return_address(0);
  act(from, [&] {
    if (core_.omits(Synchronisation::kCoreClean, from)) return;
    core_.memory().clean_invalidate_all();
  });
}
void ProgramPort::memory_barrier() {
  const void* const from = __builtin_return_address(0);
  act(from, [&] {
    if (core_.omits(Synchronisation::kCoreBarrier, from)) return;
    core_.memory().memory_barrier();
  });
}
std::uint32_t ProgramPort::load_ub(std::uint32_t offset) {
  return ask(__builtin_return_address(0), [&] { return core_.memory().load_ub(offset); });
}
void ProgramPort::store_ub(std::uint32_t offset, std::uint32_t value) {
  act(__builtin_return_address(0), [&] { core_.memory().store_ub(offset, value); });
}
std::uint64_t ProgramPort::data_main_base() {
  return ask(__builtin_return_address(0), [&] { return core_.registers().data_main_base(); });
}
void ProgramPort::set_cond(std::uint32_t value) {
  act(__builtin_return_address(0), [&] { core_.registers().set_cond(value); });
}
std::uint64_t ProgramPort::system_counter() {
  return ask(__builtin_return_address(0), [&] { return core_.registers().system_counter(); });
}
void ProgramPort::scalar(unsigned cycles) {
  act(__builtin_return_address(0), [&] { core_.scalar(cycles); });
}
void ProgramPort::set_up(const platform::SetUp& set_up) {
  act(__builtin_return_address(0), [&] { core_.set_up(set_up); });
}
bool ProgramPort::poll_again(std::uint64_t deadline) {
  return ask(__builtin_return_address(0), [&] { return core_.polls().poll_again(deadline); });
}
int ProgramPort::invoke(const platform::KernelCall& call) {
  return ask(__builtin_return_address(0), [&] { return core_.invoke(call); });
}
void ProgramPort::trap(std::uint16_t code) {
  run_.end([&] { core_.trap(code); });
}

}  // namespace npu::model
