// SPDX-License-Identifier: Apache-2.0
// Device memory by virtual address without time, and who is told of writes. What the TLB holds is
// used but not touched, other tables are read, and nothing is counted. kUnsupportedRequest: no
// memory there.
#pragma once

#include <tlm.h>

#include "model/core/device_memory_port.hpp"
#include "model/core/simulation.hpp"
#include "model/mmu/access_generations.hpp"
#include "model/mmu/walker.hpp"

namespace npu::model {

class HostPagePort;

class MmuMemory final : public DeviceMemoryPort {
 public:
  using Socket = tlm::tlm_initiator_socket<>;

  using PeerSocket = tlm::tlm_initiator_socket<32, tlm::tlm_base_protocol_types, 1,
                                               sc_core::SC_ZERO_OR_MORE_BOUND>;
  struct Sockets {
    Socket& hbm;                  // for bytes of memory
    Socket& walker;               // for bytes of tables
    PeerSocket* peers = nullptr;  // for bytes of other cards; null: kNoPeer
    MmuMemory* plain = nullptr;   // the same memory without `peers`
  };
  // `tables`: what the functions say of theirs.
  MmuMemory(Simulation& sim, const Tlb& tlb, const Walker::Listener& tables,
            AccessGenerations& accesses, const Sockets& sockets)
      : sim_(sim), tlb_(tlb), tables_(tables), accesses_(accesses), sockets_(sockets) {}

  // Tells `watch` of writes from now on.
  void connect(MemoryWatch& watch) { watch_ = &watch; }
  // Pages of the host in spaces that share them; without it there are none.
  void connect(HostPagePort& pages) { host_pages_ = &pages; }
  // Whose bytes direct_pointer() gives, of device-local addresses.
  void connect(DirectMemory& direct_memory) { direct_memory_ = &direct_memory; }

  Completion read(SpaceId vmid, std::uint64_t address, void* data, Bytes length) override;
  Completion read_rows(SpaceId vmid, std::uint64_t address, std::uint32_t rows, Bytes row_bytes,
                       std::uint64_t pitch, void* data) override;
  std::optional<std::uint64_t> local(SpaceId vmid, std::uint64_t address) override;
  // Where it lies on the bus; nothing: it is no memory of the host's (abi/page_table.hpp: Host).
  std::optional<std::uint64_t> bus(SpaceId vmid, std::uint64_t address);
  bool knows(SpaceId vmid, std::uint64_t address, bool write) const override;
  Completion write(Writer writer, SpaceId vmid, std::uint64_t address, const void* data,
                   Bytes length) override;
  const std::byte* direct_pointer(SpaceId vmid, std::uint64_t address, Bytes length,
                                  DirectMemoryUser& user) override;
  void give_back(const std::byte* from, Bytes length, DirectMemoryUser& user) override {
    direct_memory_->give_back(from, length, user);
  }
  bool pages_may_leave(SpaceId vmid) const override;
  bool reaches(SpaceId vmid, std::uint64_t address, Bytes length, bool write) override;
  Hold hold(SpaceId vmid) override;
  void release(Hold hold) override;
  DeviceMemoryPort& of_this_card() override {
    return sockets_.plain != nullptr ? *sockets_.plain : *this;
  }

  // The host's pages are in it, where its own tables map nothing.
  bool shares(SpaceId space) const;
  // Replaces a table's entry at once, unless it is no longer `from`.
  bool exchange(std::uint64_t entry, std::uint64_t from, std::uint64_t to);

 private:
  // `whole`: kNotMapped of a page with parts, or of the host's.
  Completion resolve(SpaceId vmid, std::uint64_t address, bool write, std::uint64_t& local,
                     bool whole = false);
  bool move_on_host(tlm::tlm_command command, SpaceId vmid, std::uint64_t address,
                    unsigned char* data, Bytes length);
  std::byte* on_host(SpaceId vmid, std::uint64_t address, Bytes length, bool write);
  bool parts_are_there(SpaceId space, const Translation& page, std::uint64_t offset, Bytes size);
  Completion find_page(TaggedAddress address, Translation& page);
  Completion move(tlm::tlm_command command, SpaceId vmid, std::uint64_t address,
                  unsigned char* data, Bytes length, std::uint64_t& local);
  Completion move_at_peer(tlm::tlm_command command, SpaceId vmid, std::uint64_t address,
                          unsigned char* data, Bytes length);
  const Partition& partition_of(SpaceId space) const {
    return tables_.partition(function_of(space));
  }

  Simulation& sim_;
  const Tlb& tlb_;
  const Walker::Listener& tables_;
  AccessGenerations& accesses_;
  const Sockets sockets_;
  MemoryWatch* watch_ = nullptr;
  DirectMemory* direct_memory_ = nullptr;
  HostPagePort* host_pages_ = nullptr;
};

}  // namespace npu::model
