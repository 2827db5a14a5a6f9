// SPDX-License-Identifier: Apache-2.0
#include "model/registers/telemetry_registers.hpp"

#include <algorithm>
#include <map>

#include "model/config/core_layout.hpp"
#include "model/config/link_rate.hpp"

namespace npu::model {
namespace {

constexpr SimTime kNanosecond = 1000;

template <class Clock>
Clock clocks(std::uint64_t rated_hz, std::uint64_t present_mhz) {
  return Clock{}
      .template set<typename Clock::Rated>(static_cast<std::uint32_t>(rated_hz / 1'000'000))
      .template set<typename Clock::Present>(static_cast<std::uint32_t>(present_mhz));
}

std::uint64_t name_word(const std::string& name, std::uint32_t word) {
  std::uint64_t raw = 0;
  for (std::size_t i = 8 * word; i < std::min<std::size_t>(name.size(), 8 * word + 8); ++i) {
    raw |= std::uint64_t{static_cast<unsigned char>(name[i])} << 8 * (i % 8);
  }
  return raw;
}

}  // namespace

TelemetryRegisters::TelemetryRegisters(CardRegisters& registers, const ChipConfig& config,
                                       CardTelemetry& card)
    : registers_(registers),
      config_(config),
      card_(card),
      partition_(config.partition(registers.function())),
      cores_(CoreLayout(config).cores_of(partition_)),
      at_reset_{std::vector<SimTime>(cores_.size()),
                std::vector<SimTime>(partition_.aicpus),
                {},
                0,
                0,
                {},
                {},
                {}} {
  show_capability();
  show_clocks();
  show_traffic();
  show_link();
  show_errors();
  show_windows();
  registers_.on_fault([this](const ReportedFault& fault) {
    log(abi::EventKind::kFault, abi::Severity::kNotice, fault.address,
        static_cast<std::uint64_t>(fault.code));
  });
  set_constants();
}

void TelemetryRegisters::show_capability() {
  using Capability = abi::TelemetryCapability;
  show<Capability>([this] {
    return Capability{}
        .set<Capability::Cores>(1)
        .set<Capability::Aicpus>(1)
        .set<Capability::Memory>(sees_card() ? 1 : 0)
        .set<Capability::Link>(sees_card() && card_.has_link() ? 1 : 0)
        .set<Capability::Ecc>(1)
        .set<Capability::Spaces>(1)
        .set<Capability::Hccs>(sees_card() ? 1 : 0)
        .set<Capability::EventWords>(sizeof(abi::LoggedEvent) / 8)
        .raw;
  });
}

void TelemetryRegisters::show_clocks() {
  show<abi::CoreClock>(
      [this] { return clocks<abi::CoreClock>(config_.aicore.clock_hz, card_.core_mhz()).raw; });
}

void TelemetryRegisters::set_constants() {
  auto& bank = registers_.bank();
  const auto aicpu_hz = config_.aicpu.clock_hz;  // they keep it
  bank.set(clocks<abi::AicpuClock>(aicpu_hz, aicpu_hz / 1'000'000));
  bank.set(abi::HbmClock::from_raw(
      static_cast<std::uint32_t>(config_.hbm.timings.clock_hz / 1'000'000)));
  bank.set(abi::HbmPeakRate::from_raw(hbm_bytes_per_second(config_.hbm)));
}

SimTime TelemetryRegisters::pipe_busy(platform::Pipe pipe) const {
  SimTime sum = 0;
  for (const auto core : cores_) sum += card_.pipe_busy(core, pipe);
  return sum;
}

void TelemetryRegisters::show_traffic() {
  show<abi::CubeBusy>(
      [this] { return (pipe_busy(platform::Pipe::kCube) - at_reset_.cube) / kNanosecond; });
  show<abi::VectorBusy>(
      [this] { return (pipe_busy(platform::Pipe::kVector) - at_reset_.vector) / kNanosecond; });
  if (!sees_card()) return;
  show<abi::HbmBytesRead>([this] { return card_.memory().read - at_reset_.memory.read; });
  show<abi::HbmBytesWritten>([this] { return card_.memory().written - at_reset_.memory.written; });
}

void TelemetryRegisters::show_link() {
  show<abi::LinkRate>([this] {
    LinkConfig trained = config_.link;
    if (card_.has_link()) {
      trained.generation = card_.link().generation;
      trained.lanes = card_.link().lanes;
    }
    return link_bytes_per_second(trained);
  });
  if (!sees_card()) return;
  const auto of = [this](TlpKind kind, bool sent) {
    return [this, at = static_cast<std::size_t>(kind), sent]() -> Bytes {
      if (!card_.has_link()) return 0;
      return sent ? card_.sent()[at] - at_reset_.sent[at]
                  : card_.received()[at] - at_reset_.received[at];
    };
  };
  show<abi::LinkRxPosted>(of(TlpKind::kPosted, false));
  show<abi::LinkRxNonPosted>(of(TlpKind::kNonPosted, false));
  show<abi::LinkRxCompletion>(of(TlpKind::kCompletion, false));
  show<abi::LinkTxPosted>(of(TlpKind::kPosted, true));
  show<abi::LinkTxNonPosted>(of(TlpKind::kNonPosted, true));
  show<abi::LinkTxCompletion>(of(TlpKind::kCompletion, true));
}

void TelemetryRegisters::show_errors() {
  show<abi::EccSingle>([this] { return errors_.since_reset().singles; });
  show<abi::EccDouble>([this] { return errors_.since_reset().doubles; });
  show<abi::EccRecordedSingle>([this] { return errors_.recorded().singles; });
  show<abi::EccRecordedDouble>([this] { return errors_.recorded().doubles; });
  show<abi::EccIsolatedSingle>([this] { return errors_.isolated().singles; });
  show<abi::EccIsolatedDouble>([this] { return errors_.isolated().doubles; });
  show<abi::HealthStatus>([this] {
    using Health = abi::HealthStatus;
    return Health{}
        .set<Health::Worst>(static_cast<std::uint32_t>(events_.worst()))
        .set<Health::MemorySingle>(events_.is_up(abi::EventKind::kMemorySingle) ? 1 : 0)
        .set<Health::MemoryDouble>(events_.is_up(abi::EventKind::kMemoryDouble) ? 1 : 0)
        .set<Health::Temperature>(events_.is_up(abi::EventKind::kTemperature) ? 1 : 0)
        .raw;
  });
  show<abi::EventLogCount>([this] { return events_.count(); });
  registers_.tell_isolated_pages([this] { return errors_.any_isolated(); });
  auto& bank = registers_.bank();
  bank.on_write<abi::EccInject>([this](abi::EccInject value) { inject(value); });
  bank.on_write<abi::EccClear>([this](abi::EccClear value) {
    if (value.get<abi::EccClear::Record>() != 0) clear_errors();
    registers_.bank().set(abi::EccClear{});
  });
}

void TelemetryRegisters::show_windows() {
  registers_.add_window(abi::kCoreBusyWindow, [this](std::uint32_t core) -> std::uint64_t {
    if (core >= cores_.size()) return 0;
    return (card_.core_busy(cores_[core]) - at_reset_.cores[core]) / kNanosecond;
  });
  registers_.add_window(abi::kAicpuBusyWindow, [this](std::uint32_t aicpu) -> std::uint64_t {
    if (aicpu >= partition_.aicpus) return 0;
    return (card_.aicpu_busy(partition_.first_aicpu + aicpu) - at_reset_.aicpus[aicpu]) /
           kNanosecond;
  });
  registers_.add_window(abi::kSpaceBusyWindow, [this](std::uint32_t vmid) -> std::uint64_t {
    return (card_.space_busy(space(vmid)) - at_reset_.spaces[vmid]) / kNanosecond;
  });
  registers_.add_window(abi::kChipNameWindow,
                        [this](std::uint32_t word) { return name_word(config_.name, word); });
  registers_.add_window(abi::kEventLogWindow,
                        [this](std::uint32_t word) { return events_.word(word); });
  registers_.add_window(abi::kIsolatedPagesWindow,
                        [this](std::uint32_t word) { return errors_.isolated_page(word); });
}

void TelemetryRegisters::clear_errors() {
  errors_.clear();
  for (const auto kind : {abi::EventKind::kMemorySingle, abi::EventKind::kMemoryDouble}) {
    events_.end(kind, registers_.device_time());
  }
}

// A function reaches its own memory alone, here as everywhere.
void TelemetryRegisters::inject(abi::EccInject value) {
  const auto address = registers_.bank().get<abi::EccInjectAddress>().raw;
  registers_.bank().set(abi::EccInject{});
  if (address >= partition_.memory) return;
  card_.inject_error(partition_.memory_base + address, value.get<abi::EccInject::Bits>());
}

void TelemetryRegisters::memory_error(std::uint64_t address, unsigned bits) {
  if (address < partition_.memory_base || address - partition_.memory_base >= partition_.memory)
    return;
  const std::uint64_t local = address - partition_.memory_base;
  errors_.add(local, bits);
  const bool corrected = bits == 1;
  log(corrected ? abi::EventKind::kMemorySingle : abi::EventKind::kMemoryDouble,
      corrected ? abi::Severity::kMinor : abi::Severity::kCritical, local);
}

void TelemetryRegisters::core_clock_changed() {
  if (card_.core_mhz() == config_.aicore.clock_hz / 1'000'000) {
    events_.end(abi::EventKind::kTemperature, registers_.device_time());
  } else {
    log(abi::EventKind::kTemperature, abi::Severity::kMajor, 0, card_.core_mhz());
  }
}

void TelemetryRegisters::log(abi::EventKind kind, abi::Severity severity, std::uint64_t address,
                             std::uint64_t detail) {
  abi::LoggedEvent event;
  event.kind = kind;
  event.severity = severity;
  event.time_ns = registers_.device_time();
  event.address = address;
  event.detail = detail;
  events_.add(event);
}

TelemetryRegisters::Counters TelemetryRegisters::count() const {
  Counters now;
  for (const auto core : cores_) now.cores.push_back(card_.core_busy(core));
  for (unsigned i = 0; i < partition_.aicpus; ++i) {
    now.aicpus.push_back(card_.aicpu_busy(partition_.first_aicpu + i));
  }
  for (unsigned vmid = 0; vmid < abi::kVmids; ++vmid) {
    now.spaces[vmid] = card_.space_busy(space(vmid));
  }
  now.cube = pipe_busy(platform::Pipe::kCube);
  now.vector = pipe_busy(platform::Pipe::kVector);
  now.memory = card_.memory();
  if (!card_.has_link()) return now;
  now.received = card_.received();
  now.sent = card_.sent();
  return now;
}

// Of cores that it had before nothing changes; what it gets counts from now on.
void TelemetryRegisters::set_partition(const Partition& partition) {
  std::map<unsigned, SimTime> cores, aicpus;
  for (std::size_t i = 0; i < cores_.size(); ++i) cores[cores_[i]] = at_reset_.cores[i];
  for (unsigned i = 0; i < partition_.aicpus; ++i) {
    aicpus[partition_.first_aicpu + i] = at_reset_.aicpus[i];
  }
  const SimTime cube = pipe_busy(platform::Pipe::kCube) - at_reset_.cube;
  const SimTime vector = pipe_busy(platform::Pipe::kVector) - at_reset_.vector;
  partition_ = partition;
  cores_ = CoreLayout(config_).cores_of(partition_);
  const auto now = count();
  at_reset_.cores = now.cores;
  at_reset_.aicpus = now.aicpus;
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    if (const auto had = cores.find(cores_[i]); had != cores.end())
      at_reset_.cores[i] = had->second;
  }
  for (unsigned i = 0; i < partition_.aicpus; ++i) {
    const auto had = aicpus.find(partition_.first_aicpu + i);
    if (had != aicpus.end()) at_reset_.aicpus[i] = had->second;
  }
  at_reset_.cube = now.cube - cube;
  at_reset_.vector = now.vector - vector;
}

void TelemetryRegisters::reset() {
  at_reset_ = count();
  errors_.function_reset();
  events_.function_reset();
  set_constants();
  log(abi::EventKind::kReset, abi::Severity::kNotice, 0);
}

}  // namespace npu::model
