// SPDX-License-Identifier: Apache-2.0
#include "model/mmu/mmu_memory.hpp"

#include <algorithm>
#include <cstring>

#include "model/mmu/host_page_port.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {
namespace {

constexpr std::uint64_t kElsewhere = UINT64_MAX;  // in place of a device-local address

// Bytes at a device-local address, at once; whether there is such memory.
template <class Socket>
bool move_now(TransactionPool& pool, Socket& socket, tlm::tlm_command command,
              std::uint64_t address, unsigned char* data, unsigned length, std::uint16_t rows = 1,
              std::uint32_t pitch = 0) {
  auto& trans = pool.allocate(command, address, data, length);
  Transaction::of(trans).rows = rows;
  Transaction::of(trans).pitch = pitch;
  const bool moved = socket->transport_dbg(trans) == length;
  trans.release();
  return moved;
}

}  // namespace

Completion MmuMemory::find_page(TaggedAddress address, Translation& page) {
  if (const auto* const known = tlb_.find(address)) {
    page = *known;
    return Completion::kSuccess;
  }
  const auto space = space_of_tagged(address);
  const auto& partition = partition_of(space);
  std::uint64_t table = tables_.context_base(function_of(space));
  if (table == 0) return Completion::kNotMapped;
  std::uint64_t index = vmid_of(space);
  for (unsigned level = kContextLevel;; --level) {
    abi::PageTableEntry entry{};
    if (!partition.has_memory(table, abi::kTableSize) ||
        !move_now(sim_.pool, sockets_.walker, tlm::TLM_READ_COMMAND,
                  partition.memory_base + table + sizeof entry * index,
                  reinterpret_cast<unsigned char*>(&entry.raw), sizeof entry.raw)) {
      return Completion::kBadTable;
    }
    if (!entry.valid()) return Completion::kNotMapped;
    if (level != kContextLevel && entry.leaf()) {
      const auto leaf = leaf_translation(entry, level, address, partition);
      if (leaf) page = *leaf;
      page.clean = page.write && !entry.dirty() && entry.is_local() && tables_.tells_of_use(space);
      page.partial = entry.partial() && level == 0 && tables_.residency_base(function_of(space));
      return leaf ? Completion::kSuccess : Completion::kBadTable;
    }
    if (level == 0) return Completion::kBadTable;
    table = entry.address();
    index = abi::table_index(address, level - 1);
  }
}

Completion MmuMemory::resolve(SpaceId vmid, std::uint64_t address, bool write, std::uint64_t& local,
                              bool whole) {
  if (!accesses_.has(vmid)) return Completion::kNotMapped;
  if (is_physical(vmid)) {
    const auto& partition = partition_of(vmid);
    local = partition.memory_base + address;
    return partition.has_memory(address, 1) ? Completion::kSuccess
                                            : Completion::kUnsupportedRequest;
  }
  if (address >> abi::kVirtualBits != 0) return Completion::kNotMapped;
  Translation page;
  const auto found = find_page(tagged_address(vmid, address), page);
  if (found != Completion::kSuccess) return found;
  if (page.host == HostPage::kProcess) return Completion::kNotMapped;
  if (!(write ? page.write : page.read)) return Completion::kForbidden;
  if (page.host == HostPage::kBus) return Completion::kNotMapped;
  if (page.peer != 0) return Completion::kNoPeer;
  if (whole && page.partial) return Completion::kNotMapped;
  local = page.translate(address);
  return Completion::kSuccess;
}

bool MmuMemory::knows(SpaceId vmid, std::uint64_t address, bool write) const {
  if (is_physical(vmid)) return true;
  if (address >> abi::kVirtualBits != 0 || !accesses_.has(vmid)) return false;
  const auto* const page = tlb_.find(tagged_address(vmid, address));
  return page != nullptr && !page->partial && (write ? page->write && !page->clean : page->read);
}

bool MmuMemory::shares(SpaceId space) const {
  return host_pages_ != nullptr && host_pages_->shares(space);
}

bool MmuMemory::exchange(std::uint64_t entry, std::uint64_t from, std::uint64_t to) {
  std::uint64_t now = 0;
  auto* const bytes = reinterpret_cast<unsigned char*>(&now);
  if (!move_now(sim_.pool, sockets_.walker, tlm::TLM_READ_COMMAND, entry, bytes, sizeof now) ||
      now != from) {
    return false;
  }
  now = to;
  return move_now(sim_.pool, sockets_.walker, tlm::TLM_WRITE_COMMAND, entry, bytes, sizeof now);
}

std::optional<std::uint64_t> MmuMemory::local(SpaceId vmid, std::uint64_t address) {
  std::uint64_t found = 0;
  if (resolve(vmid, address, false, found) != Completion::kSuccess) return std::nullopt;
  return found;
}

std::optional<std::uint64_t> MmuMemory::bus(SpaceId vmid, std::uint64_t address) {
  if (!accesses_.has(vmid) || is_physical(vmid) || address >> abi::kVirtualBits != 0) {
    return std::nullopt;
  }
  Translation page;
  const auto found = find_page(tagged_address(vmid, address), page);
  if (found != Completion::kSuccess || page.host != HostPage::kBus) return std::nullopt;
  return page.translate(address);
}

Completion MmuMemory::read(SpaceId vmid, std::uint64_t address, void* data, Bytes length) {
  auto* out = static_cast<unsigned char*>(data);
  std::uint64_t local = 0;
  while (length > 0) {
    const Bytes piece = std::min(length, abi::entry_span(0) - address % abi::entry_span(0));
    const auto moved = move(tlm::TLM_READ_COMMAND, vmid, address, out, piece, local);
    if (moved != Completion::kSuccess) return moved;
    out += piece;
    address += piece;
    length -= piece;
  }
  return Completion::kSuccess;
}

// Rows of one page at a time; one that lies in two on its own.
Completion MmuMemory::read_rows(SpaceId vmid, std::uint64_t address, std::uint32_t rows,
                                Bytes row_bytes, std::uint64_t pitch, void* data) {
  constexpr Bytes kMost = 2_MiB;  // at once, so that lengths fit into a payload
  auto* out = static_cast<unsigned char*>(data);
  while (rows > 0) {
    const Bytes to_page = abi::entry_span(0) - address % abi::entry_span(0);
    Bytes count = 1;
    if (row_bytes <= to_page && pitch > 0) count += (to_page - row_bytes) / pitch;
    if (shares(vmid)) count = 1;  // it may be a page of the host's
    count = std::min({count, Bytes{rows}, Bytes{UINT16_MAX},
                      std::max<Bytes>(kMost / std::max<Bytes>(row_bytes, 1), 1)});
    std::uint64_t local = address;
    bool several = count > 1;
    auto moved = several ? resolve(vmid, address, false, local) : Completion::kNotMapped;
    if (moved == Completion::kNotMapped) {  // or of the host's, which knows no rows
      moved = read(vmid, address, out, row_bytes);
      several = false;
      count = 1;
    }
    if (several && moved == Completion::kSuccess &&
        !move_now(sim_.pool, sockets_.hbm, tlm::TLM_READ_COMMAND, local, out,
                  static_cast<unsigned>(count * row_bytes), static_cast<std::uint16_t>(count),
                  static_cast<std::uint32_t>(pitch))) {
      moved = Completion::kUnsupportedRequest;
    }
    if (moved != Completion::kSuccess) return moved;
    out += count * row_bytes;
    address += count * pitch;
    rows -= static_cast<std::uint32_t>(count);
  }
  return Completion::kSuccess;
}

// Pages that lie side by side in the memory, too.
const std::byte* MmuMemory::direct_pointer(SpaceId vmid, std::uint64_t address, Bytes length,
                                           DirectMemoryUser& user) {
  constexpr Bytes kMost = 64_MiB;
  std::uint64_t first = 0;
  if (direct_memory_ == nullptr || length > kMost ||
      resolve(vmid, address, false, first, true) != Completion::kSuccess) {
    return nullptr;
  }
  const Bytes to_page = abi::entry_span(0) - address % abi::entry_span(0);
  for (Bytes done = to_page; done < length; done += abi::entry_span(0)) {
    std::uint64_t local = 0;
    const auto found = resolve(vmid, address + done, false, local, true);
    if (found != Completion::kSuccess || local != first + done) return nullptr;
  }
  return direct_memory_->direct_pointer(first, length, user);
}

Completion MmuMemory::write(Writer writer, SpaceId vmid, std::uint64_t address, const void* data,
                            Bytes length) {
  // The payload's pointer is not const for either direction.
  auto* in = static_cast<unsigned char*>(const_cast<void*>(data));
  std::uint64_t local = 0;
  while (length > 0) {
    const Bytes piece = std::min(length, abi::entry_span(0) - address % abi::entry_span(0));
    const auto moved = move(tlm::TLM_WRITE_COMMAND, vmid, address, in, piece, local);
    if (moved != Completion::kSuccess) return moved;
    if (watch_ != nullptr) {
      watch_->written(writer, vmid, address, piece);
      const bool another = vmid != space_of(0, abi::kVmidPhysical) && local != kElsewhere;
      if (another) watch_->written_local(writer, local, piece);
    }
    in += piece;
    address += piece;
    length -= piece;
  }
  return Completion::kSuccess;
}

// Of a page of the host's. Whoever waits for such a write on the host is told.
bool MmuMemory::move_on_host(tlm::tlm_command command, SpaceId vmid, std::uint64_t address,
                             unsigned char* data, Bytes length) {
  const bool write = command == tlm::TLM_WRITE_COMMAND;
  if (!accesses_.has(vmid) || is_physical(vmid) || host_pages_ == nullptr) return false;
  auto* const bytes = on_host(vmid, address, length, write);
  if (bytes == nullptr) return false;
  if (write) {
    std::memcpy(bytes, data, length);
    host_pages_->written(bytes, length);
  } else {
    std::memcpy(data, bytes, length);
  }
  return true;
}

// Null: no such bytes there.
std::byte* MmuMemory::on_host(SpaceId vmid, std::uint64_t address, Bytes length, bool write) {
  if (const auto there = bus(vmid, address)) {
    return host_pages_->find_bus(vmid, *there, length, write);
  }
  return shares(vmid) ? host_pages_->find(vmid, address, length, write) : nullptr;
}

bool MmuMemory::pages_may_leave(SpaceId vmid) const {
  return accesses_.has(vmid) && !is_physical(vmid) && (tables_.tells_of_use(vmid) || shares(vmid));
}

bool MmuMemory::reaches(SpaceId vmid, std::uint64_t address, Bytes length, bool write) {
  while (length > 0) {
    const std::uint64_t offset = address % abi::entry_span(0);
    const Bytes piece = std::min(length, abi::entry_span(0) - offset);
    Translation page;
    const auto found = find_page(tagged_address(vmid, address), page);
    const bool in_process =
        shares(vmid) && (page.host == HostPage::kProcess || found == Completion::kNotMapped);
    const bool hosts = in_process || page.host == HostPage::kBus;
    if (hosts && on_host(vmid, address, piece, write) == nullptr) return false;
    address += piece;
    length -= piece;
    if (in_process) continue;
    if (found != Completion::kSuccess) return false;
    if (!(write ? page.write && !page.clean : page.read)) return false;
    if (hosts) continue;
    if (page.partial && !parts_are_there(vmid, page, offset, piece)) return false;
  }
  return true;
}

// By the map in memory.
bool MmuMemory::parts_are_there(SpaceId space, const Translation& page, std::uint64_t offset,
                                Bytes size) {
  const auto& partition = partition_of(space);
  const auto base = tables_.residency_base(function_of(space));
  if (!base) return true;
  Residency parts;
  const std::uint64_t number = (page.base - partition.memory_base) >> abi::kPageShift;
  const bool read =
      move_now(sim_.pool, sockets_.walker, tlm::TLM_READ_COMMAND,
               partition.memory_base + *base + number * abi::kResidencyLine,
               reinterpret_cast<unsigned char*>(parts.bits.data()), sizeof parts.bits);
  return read && parts.first_missing(offset, size) == abi::kPageParts;
}

// One more than generation and VMID, or 0: not translated.
DeviceMemoryPort::Hold MmuMemory::hold(SpaceId vmid) {
  if (is_physical(vmid) || !accesses_.has(vmid)) return 0;
  return (accesses_.begin(vmid) << 8 | vmid) + 1U;
}

void MmuMemory::release(Hold hold) {
  if (hold == 0) return;
  accesses_.end(static_cast<SpaceId>((hold - 1) & 0xFF), (hold - 1) >> 8);
}

// Only function 0's, as Mmu::can_leave() has it.
Completion MmuMemory::move_at_peer(tlm::tlm_command command, SpaceId vmid, std::uint64_t address,
                                   unsigned char* data, Bytes length) {
  Translation page;
  const bool leaves = sockets_.peers != nullptr && sockets_.peers->size() != 0 &&
                      function_of(vmid) == 0 &&
                      find_page(tagged_address(vmid, address), page) == Completion::kSuccess;
  if (!leaves) return Completion::kNoPeer;
  auto& trans =
      sim_.pool.allocate(command, page.translate(address), data, static_cast<unsigned>(length));
  auto& info = Transaction::of(trans);
  info.peer = page.peer;
  const bool moved = (*sockets_.peers)->transport_dbg(trans) == length;
  const auto completion = info.completion;
  trans.release();
  return moved ? Completion::kSuccess : completion;
}

// Within one page.
Completion MmuMemory::move(tlm::tlm_command command, SpaceId vmid, std::uint64_t address,
                           unsigned char* data, Bytes length, std::uint64_t& local) {
  const auto resolved = resolve(vmid, address, command == tlm::TLM_WRITE_COMMAND, local);
  const bool on_host =
      resolved == Completion::kNotMapped && move_on_host(command, vmid, address, data, length);
  if (on_host) {
    local = kElsewhere;
    return Completion::kSuccess;
  }
  if (resolved == Completion::kNoPeer) {
    local = kElsewhere;
    return move_at_peer(command, vmid, address, data, length);
  }
  if (resolved != Completion::kSuccess) return resolved;
  const bool moved =
      move_now(sim_.pool, sockets_.hbm, command, local, data, static_cast<unsigned>(length));
  return moved ? Completion::kSuccess : Completion::kUnsupportedRequest;
}

}  // namespace npu::model
