// SPDX-License-Identifier: Apache-2.0
// A core's accesses to device memory, through its data cache.
#pragma once

#include "model/aicpu/aicpu_stores.hpp"
#include "model/aicpu/aicpu_work.hpp"

namespace npu::model {

class AicpuMemory {
 public:
  AicpuMemory(AicpuShared& shared, unsigned number, AicpuThread& thread, PollRounds& rounds,
              AicpuStores::Owner& owner, AicpuWork& work);

  // A launch begins with an empty data cache (platform/aicpu_port.hpp).
  void begin();
  void reset();

  // Calls of the program.
  std::uint64_t load(std::uint64_t address, unsigned bytes);
  void store(std::uint64_t address, unsigned bytes, std::uint64_t value);
  std::uint64_t fetch_add(std::uint64_t address, unsigned bytes, std::uint64_t value);
  std::uint64_t compare_exchange(std::uint64_t address, unsigned bytes, std::uint64_t expected,
                                 std::uint64_t desired);
  void read(std::uint64_t address, void* data, Bytes length);
  void write(std::uint64_t address, const void* data, Bytes length);
  void invalidate(std::uint64_t address, Bytes length);
  void barrier();
  // When all stores are.
  SimTime stores_done() const { return stores_.all_done(); }

  // Past the cache, for time alone.
  void read_past(std::uint64_t address, Bytes length) { requests_.read(address, length); }
  void answered(Completion completion) { requests_.answered(completion); }

  bool caches(std::uint64_t address) const { return cache_.holds(thread_.space(), address); }
  // Or will, when the read in flight is answered.
  bool holds(SpaceId vmid, std::uint64_t address, Bytes length) const {
    return cache_.holds(vmid, address, length) || fetch_.meets(vmid, address, length);
  }
  // Somebody has written there. Whether a line went for it.
  bool drop(SpaceId vmid, std::uint64_t address, Bytes length) {
    fetch_.written(vmid, address, length);
    return cache_.drop(vmid, address, length);
  }

 private:
  static constexpr std::uint64_t kNoLine = UINT64_MAX;
  using Line = std::array<unsigned char, CoherentCache::kLine>;

  bool same_line(std::uint64_t address);
  unsigned char* line(std::uint64_t address);
  void prefetch(std::uint64_t begin, const unsigned char* bytes);
  void follow_pointers(const unsigned char* bytes);
  bool fetch_early(std::uint64_t begin, Line& line);
  unsigned char* missed_line(std::uint64_t begin, std::uint64_t address);
  void check_alignment(std::uint64_t address, unsigned bytes, bool write);
  void post(std::uint64_t address, const void* data, Bytes length, bool releases);
  std::uint64_t modify(std::uint64_t address, unsigned bytes,
                       std::uint64_t (*change)(std::uint64_t, std::uint64_t, std::uint64_t),
                       std::uint64_t a, std::uint64_t b);

  AicpuShared& shared_;
  const unsigned number_;
  AicpuThread& thread_;
  PollRounds& rounds_;
  AicpuWork& work_;
  const SimTime l1_hit_, l1_other_line_;
  CoherentCache cache_;
  AicpuRequests requests_;
  LineFetch fetch_;
  AicpuStores stores_;
  std::uint64_t last_line_ = kNoLine;  // of the program's last load
};

}  // namespace npu::model
