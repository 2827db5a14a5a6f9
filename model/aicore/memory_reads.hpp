// SPDX-License-Identifier: Apache-2.0
// Reads of the scalar unit past its data cache: of lines that it misses, and of images.
#pragma once

#include <algorithm>
#include <optional>

#include "model/aicore/core_thread.hpp"
#include "model/aicore/data_cache.hpp"
#include "model/aicore/program_services.hpp"
#include "model/aicore/request_port.hpp"

namespace npu::model {

class MemoryReads {
 public:
  static constexpr std::uint32_t kPlace = 0x100;       // of all that the thread waits for
  static constexpr std::uint32_t kAhead = 0x400'0000;  // of others, with the launch they are of

  MemoryReads(ProgramServices& services, const CallStack& calls, CoreThread& thread,
              RequestPort& requests, ProgramCoreStatistics& statistics)
      : services_(services),
        calls_(calls),
        thread_(thread),
        requests_(requests),
        statistics_(statistics) {}

  // Ends when the answer is there; then the bytes are taken.
  // `polls`: in a round of a poll loop.
  void read(std::uint64_t address, void* data, Bytes length, bool polls = false);
  // For time alone, and does not wait.
  void send(std::uint64_t address, Bytes length);
  // Until no more than `most` are in flight.
  void await(unsigned most);
  // `bytes`: of a line of another card's memory, as it was when that had its turn; else null.
  void answered(std::uint64_t address, const unsigned char* bytes) {
    --in_flight_;
    if (bytes == nullptr) return;
    carried_from_ = address;
    std::copy_n(bytes, carried_.size(), carried_.begin());
  }
  // Of something that may be wanted later; await_ahead() is until all of that is there.
  void send_ahead(std::uint64_t address, Bytes length);
  void await_ahead();
  void ahead_answered(std::uint32_t place) {
    if (place == ahead_place() && ahead_ > 0) --ahead_;
  }
  void forget() { in_flight_ = ahead_ = 0; }

 private:
  // A block may end before the answers come.
  std::uint32_t ahead_place() const {
    return kAhead | static_cast<std::uint32_t>(calls_.generation() % kAhead);
  }
  void wait_for(const unsigned& reads, unsigned most);

  ProgramServices& services_;
  const CallStack& calls_;
  CoreThread& thread_;
  RequestPort& requests_;
  ProgramCoreStatistics& statistics_;
  unsigned in_flight_ = 0, ahead_ = 0;
  std::optional<std::uint64_t> carried_from_;
  DataCache::Bytes64 carried_{};
};

}  // namespace npu::model
