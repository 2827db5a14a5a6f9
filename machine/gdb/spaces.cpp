// SPDX-License-Identifier: Apache-2.0
#include "machine/gdb/spaces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "npu/platform/aicore_port.hpp"

namespace npu::gdb {
namespace {

// Bits 60..63. A local buffer: 40..55 thread, 32..39 buffer. Global memory: 48..59 thread.
constexpr unsigned kGlobal = 0xD, kLocal = 0xE;
constexpr unsigned kKindShift = 60, kThreadShift = 40, kBufferShift = 32, kOwnerShift = 48;
constexpr std::array<const char*, platform::kLocalBuffers> kBuffers{"L1", "L0A", "L0B", "L0C",
                                                                    "UB"};

unsigned kind_of(std::uint64_t address) {
  return static_cast<unsigned>(address >> kKindShift);
}

std::uint64_t field(std::uint64_t address, unsigned shift, unsigned bits) {
  return address >> shift & ((std::uint64_t{1} << bits) - 1);
}

}  // namespace

Spaces::Global Spaces::global(Thread* thread, std::uint64_t address) {
  const unsigned kind = kind_of(address);
  if (kind == kGlobal) {
    thread = threads_.find(field(address, kOwnerShift, kKindShift - kOwnerShift));
    address = field(address, 0, kOwnerShift);
  } else if (kind != 0) {
    return {nullptr, address};
  }
  return {thread == nullptr ? nullptr : thread->run->core(), address};
}

unsigned char* Spaces::local(std::uint64_t address, std::size_t bytes) {
  Thread* const thread = threads_.find(field(address, kThreadShift, 16));
  if (kind_of(address) != kLocal || thread == nullptr || thread->run->core() == nullptr) {
    return nullptr;
  }
  const auto buffer = static_cast<unsigned>(field(address, kBufferShift, 8));
  return thread->run->core()->debug_local(buffer, field(address, 0, kBufferShift), bytes);
}

bool Spaces::read(Thread* thread, std::uint64_t address, unsigned char* to, std::size_t bytes) {
  if (own_.read(address, to, bytes)) {
    code_.hide(address, to, bytes);
    threads_.hide(address, to, bytes);
    return true;
  }
  if (kind_of(address) == kLocal) {
    const auto* const from = local(address, bytes);
    if (from != nullptr) std::memcpy(to, from, bytes);
    return from != nullptr;
  }
  const auto [core, place] = global(thread, address);
  if (core == nullptr) return read_watched(address, to, bytes);
  auto& memory = core->debug_memory();
  return memory.reaches(core->debug_space(), place, bytes, false) &&
         memory.read(core->debug_space(), place, to, bytes) == model::Completion::kSuccess;
}

// What is or was watched can be read by the host, too, which has no global memory: it may be who
// stops. gdb takes its watches out while all stands still.
bool Spaces::read_watched(std::uint64_t address, unsigned char* to, std::size_t bytes) {
  for (const auto* const watches : {&watches_, &before_}) {
    for (const auto& each : *watches) {
      if (address < each.given || address - each.given >= each.length) continue;
      const auto place = each.address + (address - each.given);
      return each.memory->reaches(each.space, place, bytes, false) &&
             each.memory->read(each.space, place, to, bytes) == model::Completion::kSuccess;
    }
  }
  return false;
}

bool Spaces::write(Thread* thread, std::uint64_t address, const unsigned char* from,
                   std::size_t bytes) {
  if (own_.write(address, from, bytes)) return true;
  if (kind_of(address) == kLocal) {
    auto* const to = local(address, bytes);
    if (to != nullptr) std::memcpy(to, from, bytes);
    return to != nullptr;
  }
  const auto [core, place] = global(thread, address);
  if (core == nullptr) return false;
  auto& memory = core->debug_memory();
  return memory.reaches(core->debug_space(), place, bytes, true) &&
         memory.write(model::Writer::kDma, core->debug_space(), place, from, bytes) ==
             model::Completion::kSuccess;
}

std::string Spaces::windows(const Thread& thread) const {
  std::string text;
  const std::uint64_t id = thread.id;
  auto* const core = thread.run->core();
  for (unsigned i = 0; core != nullptr && i < kBuffers.size(); ++i) {
    Bytes size = 0;
    for (Bytes step = Bytes{1} << 30; step != 0; step /= 2) {
      if (core->debug_local(i, size, step) != nullptr) size += step;
    }
    if (size == 0) continue;
    text += fmt::format(
        "{}: {:5} {:#x}, {} bytes\n", threads_.name(thread), kBuffers[i],
        std::uint64_t{kLocal} << kKindShift | id << kThreadShift | std::uint64_t{i} << kBufferShift,
        size);
  }
  return text + fmt::format("{}: {:5} {:#x}\n", threads_.name(thread), "GM",
                            std::uint64_t{kGlobal} << kKindShift | id << kOwnerShift);
}

bool Spaces::watch(Thread* thread, std::uint64_t address, Bytes length) {
  unsigned char byte = 0;
  if (own_.read(address, &byte, 1)) return false;
  const auto [core, place] = global(thread, address);
  if (core == nullptr) return false;
  auto& memory = core->debug_memory();
  if (!memory.reaches(core->debug_space(), place, length, false)) return false;
  watches_.push_back({&memory, core->debug_space(), place, address, length,
                      memory.local(core->debug_space(), place)});
  return true;
}

void Spaces::unwatch(std::uint64_t address, Bytes length) {
  const auto is_it = [&](const Watch& each) {
    return each.given == address && each.length == length;
  };
  const auto found = std::find_if(watches_.begin(), watches_.end(), is_it);
  if (found == watches_.end()) return;
  before_.erase(std::remove_if(before_.begin(), before_.end(), is_it), before_.end());
  before_.push_back(*found);
  watches_.erase(found);
}

std::optional<std::uint64_t> Spaces::met(const model::DeviceMemoryPort& memory,
                                         model::SpaceId space, std::uint64_t address,
                                         Bytes length) const {
  for (const auto& each : watches_) {
    if (each.memory == &memory && each.space == space && each.address < address + length &&
        address < each.address + each.length) {
      return each.given;
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Spaces::met_local(const model::DeviceMemoryPort& memory,
                                               std::uint64_t address, Bytes length) const {
  for (const auto& each : watches_) {
    if (each.memory == &memory && each.local && *each.local < address + length &&
        address < *each.local + each.length) {
      return each.given;
    }
  }
  return std::nullopt;
}

}  // namespace npu::gdb
