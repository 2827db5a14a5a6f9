// SPDX-License-Identifier: Apache-2.0
// How long instructions keep their pipe busy (hardware.md H15).
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/aicore/function_times.hpp"
#include "model/config/program_core_config.hpp"
#include "model/core/agenda.hpp"
#include "npu/platform/aicore_port.hpp"

namespace npu::model {

// Lengths of time in clocks of a core. A card that is hot leaves clocks out, so that cores do less;
// performance counters count by the full clock (assumed).
class CoreClock {
 public:
  explicit CoreClock(std::uint64_t hz) : rated_mhz_(hz < 1'000'000 ? 1 : hz / 1'000'000) {}
  std::uint64_t rated_mhz() const { return rated_mhz_; }
  std::uint64_t mhz() const { return mhz_; }
  // From now on, 1 to 100; at least 1 MHz.
  void set_percent(unsigned percent) { mhz_ = std::max(rated_mhz_ * percent / 100, kSlowest); }
  SimTime clocks(std::uint64_t count) const {
    return count / mhz_ * 1'000'000 + count % mhz_ * 1'000'000 / mhz_;
  }
  // Hundredths of a clock.
  SimTime percent(std::uint64_t count) const {
    return count / mhz_ * 10'000 + count % mhz_ * 10'000 / mhz_;
  }

 private:
  static constexpr std::uint64_t kSlowest = 1;

  std::uint64_t rated_mhz_;
  std::uint64_t mhz_ = rated_mhz_;
};

// What one request moves of a copy.
struct RowsPart {
  std::uint64_t address;  // or what the alignment of its rows follows from
  Bytes bytes;
  Bytes row_bytes;    // of the copy's rows, or of all of it where they follow one another
  Bytes begun;        // rows of a strided copy that begin here
  Bytes element = 0;  // of a transposing copy; 0: it is none
};

class InstructionTimes {
 public:
  InstructionTimes(const ProgramCoreConfig& config, const CoreClock& clock)
      : config_(config), clock_(clock), functions_(config.vector) {}

  // `ran_empty`: nothing is right before it in its pipe.
  SimTime of(const platform::LoadL0& load, bool ran_empty) const;
  SimTime of(const platform::Mmad& mmad, bool ran_empty) const;
  SimTime of(const platform::Vector& vector, bool ran_empty) const;
  SimTime of(const FunctionBody& function) const;
  // FixPipe's `bytes` on their way to another local buffer.
  SimTime of(const LocalPathConfig& path, Bytes bytes) const;
  // What a request takes of its path's rate.
  SimTime of(const CopyPathConfig& path, const RowsPart& part) const;
  // Of a path's rate that rows of so many bytes get, at least 1.
  static std::uint64_t row_percent(const CopyPathConfig& path, Bytes row_bytes);

 private:
  std::uint64_t transposition(const platform::Vector& vector) const;

  const ProgramCoreConfig& config_;
  const CoreClock& clock_;
  const FunctionTimes functions_;
};

}  // namespace npu::model
