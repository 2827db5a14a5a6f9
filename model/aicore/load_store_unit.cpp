// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/load_store_unit.hpp"

#include <cstring>

#include "model/core/work_watch.hpp"

namespace npu::model {

using abi::FaultCode;

namespace {

constexpr std::uint64_t kMemoryAddress = (std::uint64_t{1} << 56) - 1;  // abi::InstructionFault

bool accessible(std::uint64_t address, unsigned bytes) {
  const bool size = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  return size && address % bytes == 0;
}

std::uint64_t value_in(const DataCache::Bytes64& line, std::uint64_t address, unsigned bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, line.data() + address % DataCache::kLine, bytes);
  return value;
}

}  // namespace

LoadStoreUnit::LoadStoreUnit(CoreParts& core, MemoryReads& reads, WriteBacks& write_backs,
                             LocalMemory& local)
    : number_(core.number),
      config_(core.services.config),
      clock_(core.services.clock),
      thread_(core.thread),
      calls_(core.calls),
      polls_(core.polls),
      reads_(reads),
      write_backs_(write_backs),
      local_(local),
      ub_(core.sizes[static_cast<std::size_t>(platform::LocalBuffer::kUb)]),
      statistics_(core.statistics),
      cache_(config_.cache_lines, config_.cache_ways) {}

// --- memory --------------------------------------------------------------------------------

std::uint64_t LoadStoreUnit::load(std::uint64_t address, unsigned bytes) {
  thread_.enter();
  if (!accessible(address, bytes)) {
    thread_.raise_fault(FaultCode::kInstruction, address & kMemoryAddress, false, bytes);
  }
  if (detail::work_watch != nullptr) tell_access(address, bytes, false);
  const SimTime begin = thread_.local();
  Look look;
  look.bytes = static_cast<std::uint8_t>(bytes);
  look.address = address;
  look.kind = cache_.find(DataCache::line_of(address)) ? Look::Kind::kHit : Look::Kind::kMiss;
  const auto& line = line_for(address);
  look.value = value_in(line.data, address, bytes);
  if (look.kind == Look::Kind::kMiss) look.line = line.data;
  polls_.looked(look, begin);
  return look.value;
}

void LoadStoreUnit::store(std::uint64_t address, unsigned bytes, std::uint64_t value) {
  polls_.enter_effect();
  if (!accessible(address, bytes)) {
    thread_.raise_fault(FaultCode::kInstruction, address & kMemoryAddress, true, bytes);
  }
  if (detail::work_watch != nullptr) tell_access(address, bytes, true);
  auto& line = line_for(address);
  std::memcpy(line.data.data() + address % DataCache::kLine, &value, bytes);
  line.dirty = true;
}

void LoadStoreUnit::tell_access(std::uint64_t address, unsigned bytes, bool write) const {
  if (watch_ != nullptr) watch_->accessed_memory();
  const WorkWatch::Instruction by{calls_.block().cause, number_,
                                  static_cast<unsigned>(platform::Pipe::kScalar), calls_.issued()};
  detail::work_watch->accessed({calls_.space(), by, write, address, 1, bytes, bytes});
}

DataCache::Line& LoadStoreUnit::line_for(std::uint64_t address) {
  const std::uint64_t line = DataCache::line_of(address);
  if (auto* const held = cache_.find(line)) {
    ++statistics_.cache_hits;
    spend_clocks(config_.cache_hit_clocks);
    return *held;
  }
  ++statistics_.cache_misses;
  return fill(line);
}

DataCache::Line& LoadStoreUnit::fill(std::uint64_t address) {
  DataCache::Line& line = cache_.victim(address);
  write_back(line);
  DataCache::Bytes64 data;
  if (!polls_.line_before(address, data)) {
    write_backs_.await(address);
    reads_.read(address, data.data(), data.size(), polls_.open());
  }
  cache_.fill(line, address, data);
  return line;
}

void LoadStoreUnit::write_back(DataCache::Line& line) {
  if (!line.dirty) return;
  polls_.spoil();
  write_backs_.begin(line);
}

void LoadStoreUnit::drop(DataCache::Line& line) {
  write_back(line);
  DataCache::drop(line);
}

void LoadStoreUnit::clean_invalidate(std::uint64_t address) {
  thread_.enter();
  const SimTime begin = thread_.local();
  Look look;
  look.kind = Look::Kind::kDrop;
  look.address = DataCache::line_of(address);
  spend_clocks(config_.dcci_clocks);
  if (auto* const line = cache_.find(look.address)) drop(*line);
  polls_.looked(look, begin);
}

void LoadStoreUnit::clean_invalidate_all() {
  thread_.enter();
  const SimTime begin = thread_.local();
  Look look;
  look.kind = Look::Kind::kDropAll;
  spend_clocks(config_.dcci_clocks);
  for (auto& line : cache_.lines()) drop(line);
  polls_.looked(look, begin);
}

void LoadStoreUnit::memory_barrier() {
  polls_.enter_effect();
  spend_clocks(config_.issue_clocks);
  const SimTime begin = thread_.local();
  write_backs_.await_most(0);
  thread_.reach(sim_now());
  statistics_.memory_wait += thread_.local() - begin;
  thread_.waited(platform::ScalarWait::kMemory, begin);
}

// --- UB ------------------------------------------------------------------------------------

void LoadStoreUnit::ub_fault(FaultCode code, std::uint32_t offset, bool write) {
  constexpr auto kUb = static_cast<unsigned>(platform::LocalBuffer::kUb) + 1;
  const auto field = write ? abi::FaultyField::kTo : abi::FaultyField::kFrom;
  thread_.raise_fault(code, thread_.at_fault(field, platform::Pipe::kScalar, offset, kUb), write,
                      sizeof(std::uint32_t));
}

void LoadStoreUnit::check_ub(std::uint32_t offset, bool write) {
  if (offset % sizeof(std::uint32_t) != 0) ub_fault(FaultCode::kLocalAlignment, offset, write);
  if (offset + sizeof(std::uint32_t) > ub_) ub_fault(FaultCode::kLocalBuffer, offset, write);
}

std::uint32_t LoadStoreUnit::load_ub(std::uint32_t offset) {
  polls_.enter_effect();
  spend_clocks(config_.ub_clocks);
  check_ub(offset, false);
  statistics_.events.add(CoreEvent::kUbReads, 1);
  statistics_.events.add(CoreEvent::kUbScalarReads, 1);
  if (watch_ != nullptr) watch_->accessed_ub(offset, false);
  return local_.load_ub(offset);
}

void LoadStoreUnit::store_ub(std::uint32_t offset, std::uint32_t value) {
  polls_.enter_effect();
  spend_clocks(config_.ub_clocks);
  check_ub(offset, true);
  statistics_.events.add(CoreEvent::kUbWrites, 1);
  statistics_.events.add(CoreEvent::kUbScalarWrites, 1);
  if (watch_ != nullptr) watch_->accessed_ub(offset, true);
  local_.store_ub(offset, value);
}

}  // namespace npu::model
