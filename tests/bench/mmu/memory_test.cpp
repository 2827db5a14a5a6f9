// SPDX-License-Identifier: Apache-2.0
// Device memory by virtual address without time, strided requests, and who is told of writes.
#include <gmock/gmock.h>

#include <array>

#include "mmu_bench.hpp"

namespace npu::test {
namespace {

using model::Writer;
using testing::ElementsAre;
using testing::IsEmpty;

struct Told {
  Writer writer;
  unsigned vmid;
  std::uint64_t address;
  Bytes length;
  friend bool operator==(const Told& a, const Told& b) {
    return a.writer == b.writer && a.vmid == b.vmid && a.address == b.address &&
           a.length == b.length;
  }
};

class Ear : public model::MemoryWatch::Snooper {
 public:
  void snoop(Writer writer, model::SpaceId vmid, std::uint64_t address, Bytes length) override {
    told.push_back({writer, vmid, address, length});
  }
  std::vector<Told> told;
};

struct Listened {
  Listened() {
    bench.tables.map(3, kVirtual, 6 * kPage);
    bench.tables.map(3, kVirtual + kPage, 9 * kPage);
    bench.enable();
    watch.add_snooper(ear);
    bench.mmu.connect(watch, {Writer::kDma, Writer::kAiCore});
  }
  MmuBench bench;
  model::MemoryWatch watch;
  Ear ear;
};

// Two rows of four bytes.
model::Completion strided(MmuBench& bench, std::uint64_t address, std::uint32_t pitch,
                          tlm::tlm_command command = tlm::TLM_READ_COMMAND) {
  auto& trans = bench.sim.pool.allocate(command, address, nullptr, 8);
  auto& info = model::Transaction::of(trans);
  info.vmid = 3;
  info.rows = 2;
  info.pitch = pitch;
  info.context = bench.issued;
  send_request(bench.clients[0], trans);
  bench.run(10_us);
  return bench.response(bench.issued++).completion;
}

TEST(MmuMemory, AccessAcrossPagesFollowsTheTablesAndTakesNoTime) {
  Listened l;
  const auto begin = model::sim_now();
  const std::array<unsigned char, 4> out{1, 2, 3, 4};
  EXPECT_EQ(l.bench.mmu.memory().write(Writer::kAicpu, 3, kVirtual + kPage - 2, out.data(), 4),
            Completion::kSuccess);
  EXPECT_EQ(l.bench.memory0.bytes[7 * kPage - 1], 2);
  EXPECT_EQ(l.bench.memory0.bytes[9 * kPage], 3);
  std::array<unsigned char, 4> in{};
  EXPECT_EQ(l.bench.mmu.memory().read(3, kVirtual + kPage - 2, in.data(), 4), Completion::kSuccess);
  EXPECT_EQ(in, out);
  EXPECT_EQ(model::sim_now(), begin);
  EXPECT_EQ(l.bench.sim.agenda.pending(), 0u);
}

TEST(MmuMemory, NothingIsCountedAndTheTlbIsNotFilled) {
  Listened l;
  unsigned char byte = 0;
  l.bench.mmu.memory().read(3, kVirtual, &byte, 1);
  EXPECT_EQ(l.bench.mmu.statistics().hits + l.bench.mmu.statistics().walks, 0u);
  l.bench.read(3, kVirtual);
  EXPECT_EQ(l.bench.mmu.statistics().misses, 1u);
}

TEST(MmuMemory, DeviceLocalAddressesAreTakenAsTheyAre) {
  Listened l;
  const unsigned char byte = 9;
  EXPECT_EQ(l.bench.mmu.memory().write(Writer::kAicpu, 0, 77, &byte, 1), Completion::kSuccess);
  EXPECT_EQ(l.bench.memory0.bytes[77], 9);
  EXPECT_EQ(l.bench.mmu.memory().write(Writer::kAicpu, 0, kInstalled, &byte, 1),
            Completion::kUnsupportedRequest);
}

TEST(MmuMemory, EveryFailureHasItsCodeAndStopsAtItsPage) {
  Listened l;
  l.bench.tables.map(3, kVirtual + 2 * kPage, 8 * kPage, true, false);
  l.bench.tables.set(
      3, kVirtual + 3 * kPage, 0,
      abi::PageTableEntry::page(abi::PageTableEntry::peer_target(1, 0), true, true).raw);
  l.bench.tables.map(3, kVirtual + 4 * kPage, kInstalled);
  std::array<unsigned char, 4> data{7, 7, 7, 7};
  auto write = [&](std::uint64_t at) {
    return l.bench.mmu.memory().write(Writer::kAicpu, 3, at, data.data(), 4);
  };
  EXPECT_EQ(write(kVirtual + 2 * kPage - 2), Completion::kForbidden);
  EXPECT_EQ(l.bench.memory0.bytes[10 * kPage - 1], 7);
  EXPECT_EQ(l.bench.memory0.bytes[8 * kPage], 0);
  EXPECT_EQ(write(kVirtual + 3 * kPage), Completion::kNoPeer);
  EXPECT_EQ(write(kVirtual + 4 * kPage), Completion::kBadTable);
  EXPECT_EQ(write(kVirtual + 5 * kPage), Completion::kNotMapped);
  EXPECT_EQ(write(std::uint64_t{1} << 48), Completion::kNotMapped);
  EXPECT_EQ(l.bench.mmu.memory().read(16, 0, data.data(), 4), Completion::kNotMapped);
}

struct WithPeer {
  static constexpr std::uint64_t kPeer = kVirtual + kPage;

  WithPeer() : peer("peer", bench.sim, 4 * kPage) {
    bench.mmu.peer_socket.bind(peer.socket);
    bench.tables.map(3, kVirtual, 6 * kPage);
    bench.tables.set(
        3, kPeer, 0,
        abi::PageTableEntry::page(abi::PageTableEntry::peer_target(1, kPage), true, true).raw);
    bench.enable();
  }
  MmuBench bench;
  StandInMemory peer;
  std::array<unsigned char, 4> data{1, 2, 3, 4};
};

TEST(MmuMemory, CoresReachAPeersMemoryAndOthersDoNot) {
  WithPeer w;
  auto& cores = w.bench.mmu.core_memory();
  EXPECT_EQ(cores.write(Writer::kAiCore, 3, WithPeer::kPeer - 2, w.data.data(), 4),
            Completion::kSuccess);
  EXPECT_EQ(w.bench.memory0.bytes[7 * kPage - 1], 2);
  EXPECT_EQ(w.peer.bytes[kPage], 3);
  std::array<unsigned char, 4> found{};
  EXPECT_EQ(cores.read(3, WithPeer::kPeer - 2, found.data(), 4), Completion::kSuccess);
  EXPECT_EQ(found, w.data);
  EXPECT_FALSE(cores.local(3, WithPeer::kPeer)) << "nobody tells of writes there";
  EXPECT_EQ(w.bench.mmu.memory().read(3, WithPeer::kPeer, found.data(), 1), Completion::kNoPeer);
  EXPECT_EQ(w.bench.mmu.memory().write(Writer::kAicpu, 3, WithPeer::kPeer, found.data(), 1),
            Completion::kNoPeer);
}

TEST(MmuMemory, AWriteToAPeerNeedsNoBytes) {
  WithPeer w;
  w.peer.latency = kMemoryLatency;
  auto& trans = w.bench.sim.pool.allocate_timing(tlm::TLM_WRITE_COMMAND, WithPeer::kPeer, 128);
  model::Transaction::of(trans).vmid = 3;
  model::Transaction::of(trans).context = w.bench.issued;
  const auto begin = model::sim_now();
  send_request(w.bench.clients[1], trans);
  w.bench.run(10_us);
  EXPECT_EQ(w.bench.response(w.bench.issued).completion, Completion::kSuccess);
  EXPECT_GE(w.bench.response(w.bench.issued).when, begin + kMemoryLatency);
  ASSERT_EQ(w.peer.seen.size(), 1U);
  EXPECT_EQ(w.peer.seen[0].address, kPage);
}

TEST(MmuMemory, GiantPagesAreFound) {
  MmuBench bench;
  bench.tables.map_giant(5, kVirtual, kGiant);
  bench.enable();
  bench.memory0.bytes[kGiant + 700 * kPage / 2] = 5;
  unsigned char byte = 0;
  EXPECT_EQ(bench.mmu.memory().read(5, kVirtual + 350 * kPage, &byte, 1), Completion::kSuccess);
  EXPECT_EQ(byte, 5);
}

// Remembers what it is asked for.
class DirectMemoryOnRequest : public model::DirectMemory {
 public:
  const std::byte* direct_pointer(Bytes address, Bytes length, model::DirectMemoryUser&) override {
    asked.emplace_back(address, length);
    return bytes.data();
  }
  void give_back(const std::byte*, Bytes, model::DirectMemoryUser&) override {}
  std::vector<std::pair<Bytes, Bytes>> asked;
  std::array<std::byte, 1> bytes{};
};
struct Nobody : model::DirectMemoryUser {
  void invalidate_direct(const std::byte*, Bytes) override {}
};

TEST(MmuMemory, BytesAreLentWhereTheirPagesLieSideBySide) {
  Listened l;
  DirectMemoryOnRequest direct_memory;
  Nobody user;
  l.bench.tables.map(3, kVirtual + 2 * kPage, 10 * kPage);  // behind that of the page before
  l.bench.tables.map(3, kVirtual + 4 * kPage, 12 * kPage);
  EXPECT_EQ(l.bench.mmu.memory().direct_pointer(3, kVirtual, 8, user), nullptr) << "nobody lends";
  l.bench.mmu.connect(direct_memory);
  EXPECT_EQ(l.bench.mmu.memory().direct_pointer(3, kVirtual + kPage - 4, 8, user), nullptr)
      << "far apart";
  EXPECT_EQ(l.bench.mmu.memory().direct_pointer(3, kVirtual + 3 * kPage - 4, 8, user), nullptr)
      << "a gap";
  EXPECT_EQ(l.bench.mmu.memory().direct_pointer(3, kVirtual + 5 * kPage, 8, user), nullptr)
      << "not mapped";
  EXPECT_NE(l.bench.mmu.memory().direct_pointer(3, kVirtual + 2 * kPage - 4, 8, user), nullptr);
  EXPECT_NE(l.bench.mmu.memory().direct_pointer(0, 77, 2 * kPage, user), nullptr) << "device-local";
  EXPECT_THAT(direct_memory.asked, ElementsAre(std::pair<Bytes, Bytes>{10 * kPage - 4, 8},
                                               std::pair<Bytes, Bytes>{77, 2 * kPage}));
}

// What lies at each address of the pages of Listened.
unsigned char at(std::uint64_t address) {
  return static_cast<unsigned char>(address * 37 >> 3);
}

struct Patterned : Listened {
  Patterned() {
    const auto fill = [this](std::uint64_t page, std::uint64_t from) {
      for (std::uint64_t i = 0; i < kPage; ++i)
        bench.memory0.bytes[page * kPage + i] = at(from + i);
    };
    fill(6, kVirtual);
    fill(9, kVirtual + kPage);
  }
  // How many rows are what lies at `from`.
  unsigned right(std::uint64_t from, unsigned rows, unsigned row_bytes, std::uint64_t pitch) {
    data.assign(rows * row_bytes, 0xEE);
    moved = bench.mmu.memory().read_rows(3, from, rows, row_bytes, pitch, data.data());
    for (unsigned row = 0; row < rows; ++row) {
      for (unsigned i = 0; i < row_bytes; ++i) {
        if (data[row * row_bytes + i] != at(from + row * pitch + i)) return row;
      }
    }
    return rows;
  }
  model::Completion moved{};
  std::vector<unsigned char> data;
};

TEST(MmuRows, AreReadToOneAnothersEndAcrossPages) {
  Patterned p;
  constexpr std::uint64_t kBorder = kVirtual + kPage, kPitch = 4195;
  // The 140th row lies in two pages; it ends with the first, it begins with the second.
  for (const std::uint64_t before : {50, 100, 0}) {
    EXPECT_EQ(p.right(kBorder - before - 140 * kPitch, 300, 100, kPitch), 300u) << before;
    EXPECT_EQ(p.moved, Completion::kSuccess);
  }
  EXPECT_EQ(p.right(kVirtual + 5, 3, 100, 0), 3u) << "the same row again and again";
  EXPECT_EQ(p.right(kVirtual, 300, 1, 1), 300u) << "that touch each other";
  EXPECT_EQ(p.right(kVirtual + 7, 4, 900'000, 1000), 4u) << "of more bytes than fit at a time";
  EXPECT_EQ(p.bench.mmu.statistics().hits + p.bench.mmu.statistics().walks, 0u);
}

TEST(MmuRows, EndAtThePageThatFails) {
  Patterned p;
  constexpr std::uint64_t kEnd = kVirtual + 2 * kPage;  // of what is mapped
  EXPECT_EQ(p.right(kEnd - 3 * 5000, 8, 100, 5000), 3u);
  EXPECT_EQ(p.moved, Completion::kNotMapped);
  p.bench.tables.map(3, kEnd, 8 * kPage, false, true);
  EXPECT_EQ(p.right(kEnd - 3 * 5000, 8, 100, 5000), 3u);
  EXPECT_EQ(p.moved, Completion::kForbidden);
  p.bench.tables.map(3, kEnd, kInstalled - kPage);
  p.bench.memory0.verdict = [](tlm::tlm_generic_payload& trans) {
    return trans.get_address() < kInstalled - kPage ? Completion::kSuccess
                                                    : Completion::kUnsupportedRequest;
  };
  EXPECT_EQ(p.right(kEnd - 3 * 5000, 8, 100, 5000), 3u);
  EXPECT_EQ(p.moved, Completion::kUnsupportedRequest);
}

TEST(MmuWatch, TimedWritesAreToldByVirtualAddressAndWhoTheClientIs) {
  Listened l;
  l.bench.issue(true, 3, kVirtual + 5, 0x5A, 1);
  EXPECT_THAT(l.ear.told, IsEmpty()) << "before the bytes have moved";
  l.bench.run(10_us);
  l.bench.access(true, 0, 0x40, 0);
  l.bench.access(false, 3, kVirtual + 5, 1);
  EXPECT_THAT(l.ear.told, ElementsAre(Told{Writer::kAiCore, 3, kVirtual + 5, 1},
                                      Told{Writer::kDma, 0, 0x40, 1}));
}

TEST(MmuWatch, WritesWithoutTimeAreToldPageByPageAndFailedOnesNot) {
  Listened l;
  const std::array<unsigned char, 4> out{};
  l.bench.mmu.memory().write(Writer::kAicpu, 3, kVirtual + kPage - 1, out.data(), 4);
  l.bench.mmu.memory().write(Writer::kAicpu, 4, kVirtual, out.data(), 4);
  EXPECT_THAT(l.ear.told, ElementsAre(Told{Writer::kAicpu, 3, kVirtual + kPage - 1, 1},
                                      Told{Writer::kAicpu, 3, kVirtual + kPage, 3}));
}

TEST(MmuWatch, RowsOfAStridedWriteAreToldOneByOne) {
  Listened l;
  strided(l.bench, kVirtual + 5, 1000, tlm::TLM_WRITE_COMMAND);
  EXPECT_THAT(l.ear.told, ElementsAre(Told{Writer::kDma, 3, kVirtual + 5, 4},
                                      Told{Writer::kDma, 3, kVirtual + 1005, 4}));
}

TEST(MmuStrided, AllRowsLieInOnePage) {
  Listened l;
  EXPECT_EQ(strided(l.bench, kVirtual, kPage - 4), Completion::kSuccess);
  EXPECT_DEATH(strided(l.bench, kVirtual, kPage - 3), "");
}

}  // namespace
}  // namespace npu::test
