// SPDX-License-Identifier: Apache-2.0
// What every model shares: the agenda, the transaction pool, the recorder, programs that
// count, files of programs, and whether orders are unfriendly.
#pragma once

#include <optional>

#include "model/core/agenda.hpp"
#include "model/core/counted_programs.hpp"
#include "model/core/legal_order.hpp"
#include "model/core/omission.hpp"
#include "model/core/program_files.hpp"
#include "model/core/recorder.hpp"
#include "model/core/transaction.hpp"

namespace npu::model {

inline SimTime ticks(Picoseconds time) {
  return static_cast<SimTime>(time.count());
}
inline SimTime ticks(Instant instant) {
  return ticks(instant.since_power_up());
}
inline Instant instant(SimTime time) {
  return Instant(Picoseconds(static_cast<std::int64_t>(time)));
}

struct Simulation {
  Agenda agenda{"agenda"};
  TransactionPool pool;
  Recorder recorder;
  CountedPrograms counted_programs;
  ProgramFiles program_files;
  // host.order.rule=weakest: models ask it which of the legal orders comes. None: their own.
  std::optional<LegalOrder> weakest;
  std::optional<Omission> omission;  // for tests

  bool omits(Synchronisation kind, const void* place) {
    return omission && omission->omits(kind, place);
  }

  void emit(std::uint32_t track, platform::Activity activity, SimTime begin, SimTime end,
            std::uint64_t cause = 0, std::uint64_t bytes = 0, std::uint64_t detail = 0) {
    if (!recorder.hears(activity)) return;
    recorder.emit({instant(begin), instant(end), cause, bytes, detail, track, activity});
  }
};

}  // namespace npu::model
