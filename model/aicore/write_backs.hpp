// SPDX-License-Identifier: Apache-2.0
// Lines of the data cache on their way to memory. Their bytes leave at once and are in memory when
// the request is answered, in that of another card when it has the request; the program goes on
// meanwhile.
#pragma once

#include <algorithm>
#include <array>

#include "model/aicore/core_thread.hpp"
#include "model/aicore/data_cache.hpp"
#include "model/aicore/program_services.hpp"
#include "model/aicore/request_port.hpp"

namespace npu::model {

class WriteBacks {
 public:
  static constexpr unsigned kMost = 8;  // places of their requests are below that

  WriteBacks(ProgramServices& services, const CallStack& calls, CoreThread& thread,
             RequestPort& requests, unsigned core)
      : services_(services), calls_(calls), thread_(thread), requests_(requests), core_(core) {}

  // The line is clean afterwards.
  void begin(DataCache::Line& line);
  // Until the line at `address` is in memory, if it is on its way.
  void await(std::uint64_t address);
  // Until no more than `most` are on their way.
  void await_most(unsigned most);
  // Its request carries the bytes, to `line`.
  void carry(unsigned place, unsigned char* line) {
    lines_[place].carried = true;
    std::copy(lines_[place].data.begin(), lines_[place].data.end(), line);
  }
  void answered(unsigned place);
  void forget();

 private:
  struct Leaving {
    bool busy = false;
    bool carried = false;
    std::uint64_t address = 0;
    DataCache::Bytes64 data{};
  };
  static constexpr SimTime kLate = 2'000'000;  // ps, with order.rule=weakest: at most
  static constexpr std::uint64_t kShownGeneration = 0xFFFF'FFFF;

  void send(std::uint64_t argument);

  ProgramServices& services_;
  const CallStack& calls_;
  CoreThread& thread_;
  RequestPort& requests_;
  const unsigned core_;  // its number
  std::array<Leaving, kMost> lines_;
  unsigned leaving_ = 0;
};

}  // namespace npu::model
