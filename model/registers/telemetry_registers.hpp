// SPDX-License-Identifier: Apache-2.0
// What a function shows of its card to management software (abi/telemetry.hpp): its own cores,
// AICPUs, memory errors and events; function 0 also what is one for the whole card.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/config/chip_config.hpp"
#include "model/registers/card_registers.hpp"
#include "model/telemetry/card_telemetry.hpp"
#include "model/telemetry/ecc_record.hpp"
#include "model/telemetry/event_log.hpp"

namespace npu::model {

class TelemetryRegisters {
 public:
  // Installs itself behind the telemetry registers of `registers`. All outlive it.
  TelemetryRegisters(CardRegisters& registers, const ChipConfig& config, CardTelemetry& card);
  TelemetryRegisters(const TelemetryRegisters&) = delete;
  TelemetryRegisters& operator=(const TelemetryRegisters&) = delete;

  // The function has another part of the card now.
  void set_partition(const Partition& partition);
  // Behind CardRegisters::function_reset().
  void reset();
  // A read has found `bits` flipped at `address` of the card's memory; nothing if it is not the
  // function's.
  void memory_error(std::uint64_t address, unsigned bits);
  // The AI Cores' clock is another one (CardTelemetry::core_mhz()).
  void core_clock_changed();

 private:
  // What only grows, as it stood at the last reset, and the difference since.
  struct Counters {
    std::vector<SimTime> cores, aicpus;
    std::array<SimTime, abi::kVmids> spaces{};
    SimTime cube = 0, vector = 0;
    HbmBytes memory;
    CardTelemetry::LinkBytes received{}, sent{};
  };
  bool sees_card() const { return registers_.function() == 0; }
  SpaceId space(unsigned vmid) const { return space_of(registers_.function(), vmid); }
  Counters count() const;
  SimTime pipe_busy(platform::Pipe pipe) const;
  void set_constants();
  void show_capability();
  void show_clocks();
  void show_traffic();
  void show_link();
  void show_errors();
  void show_windows();
  void inject(abi::EccInject value);
  void clear_errors();
  void log(abi::EventKind kind, abi::Severity severity, std::uint64_t address,
           std::uint64_t detail = 0);
  // R reads as `value()`.
  template <class R, class F>
  void show(F value) {
    registers_.bank().on_read<R>(
        [value] { return R::from_raw(static_cast<typename R::raw_type>(value())); });
  }

  CardRegisters& registers_;
  const ChipConfig& config_;
  CardTelemetry& card_;
  Partition partition_;
  std::vector<unsigned> cores_;
  Counters at_reset_;
  EccRecord errors_;
  EventLog events_;
};

}  // namespace npu::model
