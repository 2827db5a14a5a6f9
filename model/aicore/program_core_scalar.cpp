// SPDX-License-Identifier: Apache-2.0
// The scalar unit's own accesses: memory through the data cache, UB, registers.
#include <algorithm>
#include <cstring>

#include "model/aicore/program_core.hpp"

namespace npu::model {

using abi::FaultCode;

namespace {

constexpr std::uint64_t kShownGeneration = 0xFFFF'FFFF;
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

// --- requests ------------------------------------------------------------------------------

void ProgramCore::request(bool write, std::uint64_t address, Bytes length, std::uint32_t slot) {
  ++under_way_;
  ++statistics_.requests;
  owner_.send(number_, {write, address, 1, length, 0, slot}, block_);
}

void ProgramCore::answered(std::uint32_t slot, Completion completion, std::uint64_t address,
                           bool write, Bytes length) {
  --under_way_;
  const auto pipe = static_cast<platform::Pipe>(slot >> kPipeShift);
  const bool scalar = pipe == platform::Pipe::kScalar;
  const std::uint32_t place = slot & ((1U << kPipeShift) - 1);
  if (completion != Completion::kSuccess && !cut_) {
    fail({device_fault(completion), address, block_.vmid, write, length}, pipe,
         scalar ? issued_ : units_->pipes.instruction_of(pipe, place));
  }
  if (cut_) {
    if (under_way_ == 0) sim_.agenda.notify(wake_);
    return;
  }
  if (!scalar) return units_->pipes.answered(pipe, place, length);
  if (slot == kReadSlot) {
    --answers_;
  } else {
    written_back(slot);
  }
  if (waits_.what != Waits::kNothing && satisfied(waits_)) wake_thread();
}

void ProgramCore::translated(std::uint32_t slot) {
  const auto pipe = static_cast<platform::Pipe>(slot >> kPipeShift);
  if (cut_ || pipe == platform::Pipe::kScalar) return;
  units_->pipes.translated(pipe, slot & ((1U << kPipeShift) - 1));
}

void ProgramCore::await_answers(unsigned most) {
  wait_for({Waits::kAnswers, platform::Pipe::kScalar, platform::CrossScope::kCluster, most});
  local_ = std::max(local_, sim_now());
}

// Past the data cache.
void ProgramCore::read_memory(std::uint64_t address, void* data, Bytes length) {
  const SimTime begin = local_;
  local_ += clock_.clocks(config_.miss_clocks);
  catch_up();
  ++answers_;
  request(false, address, length, kReadSlot);
  await_answers(0);
  statistics_.memory_wait += local_ - begin;
  const auto completion = services_.memory.read(block_.vmid, address, data, length);
  if (completion != Completion::kSuccess) {
    raise_fault(device_fault(completion), address, false, length);
  }
}

// --- data cache ----------------------------------------------------------------------------

std::uint64_t ProgramCore::load(std::uint64_t address, unsigned bytes) {
  enter();
  if (!accessible(address, bytes)) {
    raise_fault(FaultCode::kInstruction, address & kMemoryAddress, false, bytes);
  }
  const SimTime begin = local_;
  Look look;
  look.bytes = static_cast<std::uint8_t>(bytes);
  look.address = address;
  look.kind =
      units_->cache.find(DataCache::line_of(address)) ? Look::Kind::kHit : Look::Kind::kMiss;
  const auto& line = line_for(address);
  look.value = value_in(line.data, address, bytes);
  if (look.kind == Look::Kind::kMiss) look.line = line.data;
  looked(look, begin);
  return look.value;
}

void ProgramCore::store(std::uint64_t address, unsigned bytes, std::uint64_t value) {
  enter_effect();
  if (!accessible(address, bytes)) {
    raise_fault(FaultCode::kInstruction, address & kMemoryAddress, true, bytes);
  }
  auto& line = line_for(address);
  std::memcpy(line.data.data() + address % DataCache::kLine, &value, bytes);
  line.dirty = true;
}

DataCache::Line& ProgramCore::line_for(std::uint64_t address) {
  const std::uint64_t line = DataCache::line_of(address);
  if (auto* const held = units_->cache.find(line)) {
    ++statistics_.cache_hits;
    spend(clock_.clocks(config_.cache_hit_clocks));
    return *held;
  }
  ++statistics_.cache_misses;
  return fill(line);
}

DataCache::Line& ProgramCore::fill(std::uint64_t address) {
  DataCache::Line& line = units_->cache.victim(address);
  if (line.dirty) {
    spoil();
    write_back(line);
  }
  DataCache::Bytes64 data;
  read_line(address, data);
  units_->cache.fill(line, address, data);
  return line;
}

void ProgramCore::read_line(std::uint64_t line, DataCache::Bytes64& data) {
  if (const Look* const before = replayed(Look::Kind::kMiss, line)) {
    const SimTime sampled = local_ + (before->end - before->begin);
    data = before->line;
    local_ = sampled;
    if (sampled < changed_at_) return;
    // As the answer would: ahead of programs that go on at that time, AICPUs' stores among them.
    sim_.agenda.at<&ProgramCore::sample>(sampled, *this, line);
    sync_to(sampled);
    data = sample_;
    if (sample_completion_ != Completion::kSuccess) {
      raise_fault(device_fault(sample_completion_), line, false, DataCache::kLine);
    }
    return;
  }
  await_write_back(line);
  read_memory(line, data.data(), data.size());
}

void ProgramCore::sample(std::uint64_t line) {
  sample_completion_ = services_.memory.read(block_.vmid, line, sample_.data(), sample_.size());
}

// The line's bytes leave; they are in memory when the request is answered. The program goes on.
void ProgramCore::write_back(DataCache::Line& line) {
  await_write_back(line.address);
  wait_for({Waits::kWriteBacks, platform::Pipe::kScalar, platform::CrossScope::kCluster,
            kWriteBacks - 1});
  catch_up();
  unsigned slot = 0;
  while (write_backs_[slot].busy) ++slot;
  write_backs_[slot] = {true, line.address, line.data};
  ++writing_back_;
  line.dirty = false;
  ++under_way_;
  sim_.agenda.at<&ProgramCore::send_write_back>(
      sim_now() + clock_.clocks(config_.write_back_clocks), *this,
      (generation_ & kShownGeneration) << 32 | slot);
}

void ProgramCore::send_write_back(std::uint64_t argument) {
  if (argument >> 32 != (generation_ & kShownGeneration)) return;  // forgotten by a reset
  const auto slot = static_cast<std::uint32_t>(argument);
  --under_way_;
  request(true, write_backs_[slot].address, DataCache::kLine, slot);
}

void ProgramCore::await_write_back(std::uint64_t line) {
  const bool leaving =
      std::any_of(write_backs_.begin(), write_backs_.end(),
                  [&](const WriteBack& each) { return each.busy && each.address == line; });
  if (!leaving) return;
  wait_for({Waits::kWriteBacks});
  local_ = std::max(local_, sim_now());
}

void ProgramCore::written_back(unsigned slot) {
  WriteBack& line = write_backs_[slot];
  line.busy = false;
  --writing_back_;
  const auto completion = services_.memory.write(Writer::kAiCore, block_.vmid, line.address,
                                                 line.data.data(), line.data.size());
  if (completion == Completion::kSuccess) return;
  fail({device_fault(completion), line.address, block_.vmid, true, line.data.size()},
       platform::Pipe::kScalar, issued_);
}

void ProgramCore::drop(DataCache::Line& line) {
  if (line.dirty) {
    spoil();
    write_back(line);
  }
  DataCache::drop(line);
}

void ProgramCore::clean_invalidate(std::uint64_t address) {
  enter();
  const SimTime begin = local_;
  Look look;
  look.kind = Look::Kind::kDrop;
  look.address = DataCache::line_of(address);
  spend(clock_.clocks(config_.dcci_clocks));
  if (auto* const line = units_->cache.find(look.address)) drop(*line);
  looked(look, begin);
}

void ProgramCore::clean_invalidate_all() {
  enter();
  const SimTime begin = local_;
  Look look;
  look.kind = Look::Kind::kDropAll;
  spend(clock_.clocks(config_.dcci_clocks));
  for (auto& line : units_->cache.lines()) drop(line);
  looked(look, begin);
}

void ProgramCore::memory_barrier() {
  enter_effect();
  spend(clock_.clocks(config_.issue_clocks));
  const SimTime begin = local_;
  wait_for({Waits::kWriteBacks});
  local_ = std::max(local_, sim_now());
  statistics_.memory_wait += local_ - begin;
}

// --- UB and registers ----------------------------------------------------------------------

void ProgramCore::ub_fault(FaultCode code, std::uint32_t offset, bool write) {
  constexpr auto kUb = static_cast<unsigned>(platform::LocalBuffer::kUb) + 1;
  const auto field = write ? abi::FaultyField::kTo : abi::FaultyField::kFrom;
  raise_fault(code, at_fault(field, platform::Pipe::kScalar, offset, kUb), write,
              sizeof(std::uint32_t));
}

std::uint32_t ProgramCore::load_ub(std::uint32_t offset) {
  enter_effect();
  spend(clock_.clocks(config_.ub_clocks));
  if (offset % 4 != 0) ub_fault(FaultCode::kLocalAlignment, offset);
  if (Bytes{offset} + 4 > buffer_size(platform::LocalBuffer::kUb)) {
    ub_fault(FaultCode::kLocalBuffer, offset);
  }
  return units_->memory.load_ub(offset);
}

void ProgramCore::store_ub(std::uint32_t offset, std::uint32_t value) {
  enter_effect();
  spend(clock_.clocks(config_.ub_clocks));
  if (offset % 4 != 0) ub_fault(FaultCode::kLocalAlignment, offset, true);
  if (Bytes{offset} + 4 > buffer_size(platform::LocalBuffer::kUb)) {
    ub_fault(FaultCode::kLocalBuffer, offset, true);
  }
  units_->memory.store_ub(offset, value);
}

std::uint64_t ProgramCore::data_main_base() {
  enter();
  const SimTime begin = local_;
  Look look;
  look.kind = Look::Kind::kRegister;
  const Look* const before = replayed(Look::Kind::kRegister, 0);
  spend(clock_.clocks(config_.register_clocks));
  if (before != nullptr && local_ < changed_at_) {
    look.value = before->value;
  } else {
    sync_to(local_);
    look.value = window_.data_main_base();
  }
  looked(look, begin);
  return look.value;
}

void ProgramCore::set_cond(std::uint32_t value) {
  enter_effect();
  spend(ticks(config_.set_cond));
  sim_.agenda.at<&ProgramCore::show_cond>(local_ + ticks(config_.cond_visible), *this,
                                          (generation_ & kShownGeneration) << 32 | value);
}

void ProgramCore::show_cond(std::uint64_t argument) {
  if (argument >> 32 != (generation_ & kShownGeneration)) return;
  window_.set_cond(static_cast<std::uint32_t>(argument));
  owner_.cond_changed(number_);
}

std::uint64_t ProgramCore::system_counter() {
  enter();
  const SimTime begin = local_;
  Look look;
  look.kind = Look::Kind::kCounter;
  spend(clock_.clocks(config_.register_clocks));
  look.value = counter_at(local_);
  looked(look, begin);
  return look.value;
}

void ProgramCore::executed(std::uint64_t instructions) {
  if (instructions == 0 || cut_) return;
  statistics_.executed += instructions;
  constexpr unsigned kPercent = 100;
  spend(clock_.clocks(instructions * kPercent) / config_.scalar_ipc_percent);
}

void ProgramCore::scalar(unsigned cycles) {
  enter();
  spend(clock_.clocks(cycles));
}

}  // namespace npu::model
