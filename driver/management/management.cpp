// SPDX-License-Identifier: Apache-2.0
#include "npu/driver/management.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "driver/management/busy_fraction.hpp"
#include "driver/management/telemetry_reader.hpp"
#include "npu/abi/registers.hpp"

namespace npu::driver {
namespace {

constexpr unsigned kWordsOfEvent = sizeof(abi::LoggedEvent) / 8;

// Several registers, one after another; the first that fails counts.
template <class... R>
Status read_all(TelemetryReader& reader, R&... registers) {
  Status status;
  const auto one = [&](auto& value) {
    if (!status) return;
    auto read = reader.read<std::decay_t<decltype(value)>>();
    if (read) {
      value = *read;
    } else {
      status = forward_error(read);
    }
  };
  (one(registers), ...);
  return status;
}

std::uint64_t sum_of(const std::vector<std::uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

}  // namespace

Management::Management(ManagementAccess& card) : card_(card) {}
Management::~Management() = default;

Status Management::require(bool there, const char* what) {
  if (there) return {};
  return fail(ErrorCode::kUnsupported, fmt::format("{} shows no {}", to_string(card_.bdf()), what));
}

Result<abi::TelemetryCapability> Management::capability() {
  return TelemetryReader(card_).read<abi::TelemetryCapability>();
}

Result<CardIdentity> Management::identity() {
  TelemetryReader reader(card_);
  abi::DeviceIndex index;
  abi::QueueCores cores;
  abi::CoreTopology topology;
  if (auto ok = read_all(reader, index, cores, topology); !ok) return forward_error(ok);
  CardIdentity who;
  for (std::uint32_t i = 0; i < abi::kChipNameWindow.words; ++i) {
    const auto word = reader.word(abi::kChipNameWindow, i);
    if (!word) return forward_error(word);
    for (unsigned byte = 0; byte < 8; ++byte) {
      const char letter = static_cast<char>(*word >> (8 * byte) & 0xFF);
      if (letter != 0) who.chip += letter;
    }
  }
  const auto ids = card_.read_config(abi::pci::kVendorId);
  const auto subsystem = card_.read_config(abi::pci::kSubsystemVendor);
  who.vendor = static_cast<std::uint16_t>(ids);
  who.device = static_cast<std::uint16_t>(ids >> 16);
  who.subsystem_vendor = static_cast<std::uint16_t>(subsystem);
  who.subsystem = static_cast<std::uint16_t>(subsystem >> 16);
  who.revision = static_cast<std::uint8_t>(card_.read_config(abi::pci::kRevision));
  who.index = index.raw;
  who.clusters = topology.get<abi::CoreTopology::Clusters>();
  who.vector_cores = who.clusters * topology.get<abi::CoreTopology::VectorCores>();
  who.aicpus = cores.get<abi::QueueCores::Aicpus>();
  if (who.cores() > abi::kCoreBusyWindow.words || who.aicpus > abi::kAicpuBusyWindow.words) {
    return fail(ErrorCode::kBadDevice,
                fmt::format("{}: {} AI Cores and {} AICPUs", to_string(card_.bdf()), who.cores(),
                            who.aicpus));
  }
  return who;
}

Result<CardClocks> Management::clocks() {
  TelemetryReader reader(card_);
  abi::CoreClock cores;
  abi::AicpuClock aicpus;
  abi::HbmClock hbm;
  if (auto ok = read_all(reader, cores, aicpus, hbm); !ok) return forward_error(ok);
  return CardClocks{{cores.get<abi::CoreClock::Rated>(), cores.get<abi::CoreClock::Present>()},
                    {aicpus.get<abi::AicpuClock::Rated>(), aicpus.get<abi::AicpuClock::Present>()},
                    hbm.get<abi::HbmClock::Command>()};
}

Result<Picoseconds> Management::time() {
  const auto now = TelemetryReader(card_).read<abi::DeviceTime>();
  if (!now) return forward_error(now);
  // A card that is gone reads as all ones, which no clock shows.
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max() / 1000;
  if (now->raw > kMost) {
    return fail(ErrorCode::kDeviceLost, fmt::format("a device time of {} ns", now->raw));
  }
  return Picoseconds(static_cast<std::int64_t>(now->raw) * 1000);
}

Result<std::vector<Percent>> Management::measure(Meter meter, std::vector<std::uint64_t> busy,
                                                 std::uint64_t units_each) {
  const auto now = TelemetryReader(card_).read<abi::DeviceTime>();
  if (!now) return forward_error(now);
  auto& before = samples_[meter];
  before.busy_ns.resize(busy.size());
  before.said.resize(busy.size());
  const bool reset = now->raw < before.time_ns;
  const std::uint64_t elapsed = counted_since(before.time_ns, now->raw, reset);
  if (elapsed == 0) return before.said;
  for (std::size_t i = 0; i < busy.size(); ++i) {
    before.said[i] =
        busy_percent(counted_since(before.busy_ns[i], busy[i], reset), elapsed, units_each);
  }
  before.time_ns = now->raw;
  before.busy_ns = std::move(busy);
  return before.said;
}

Result<std::vector<std::uint64_t>> Management::busy_words(abi::WordWindow window, unsigned first,
                                                          unsigned count) {
  TelemetryReader reader(card_);
  std::vector<std::uint64_t> words;
  for (unsigned i = first; i < first + count; ++i) {
    const auto word = reader.word(window, i);
    if (!word) return forward_error(word);
    words.push_back(*word);
  }
  return words;
}

// Cores in the order of a core mask: cube cores, or coupled ones, come first.
Result<std::vector<std::uint64_t>> Management::core_busy(CoreKind kind, const CardIdentity& who) {
  switch (kind) {
    case CoreKind::kCube:
      return busy_words(abi::kCoreBusyWindow, 0, who.clusters);
    case CoreKind::kVector:
      return busy_words(abi::kCoreBusyWindow, who.clusters, who.vector_cores);
    default:
      return busy_words(abi::kCoreBusyWindow, 0, who.cores());
  }
}

Result<Percent> Management::core_use(CoreKind kind) {
  const auto known = capability();
  if (!known) return forward_error(known);
  const bool there = known->get<abi::TelemetryCapability::Cores>() != 0;
  if (auto ok = require(there, "busy times of cores"); !ok) return forward_error(ok);
  const auto who = identity();
  if (!who) return forward_error(who);
  std::uint64_t busy = 0;
  std::uint64_t units = who->cores();
  if (kind != CoreKind::kAll && who->vector_cores == 0) {
    TelemetryReader reader(card_);
    abi::CubeBusy cube;
    abi::VectorBusy vector;
    if (auto ok = read_all(reader, cube, vector); !ok) return forward_error(ok);
    busy = kind == CoreKind::kCube ? cube.raw : vector.raw;
  } else {
    const auto each = core_busy(kind, *who);
    if (!each) return forward_error(each);
    busy = sum_of(*each);
    units = each->size();
  }
  constexpr Meter kMeters[] = {Meter::kCores, Meter::kCube, Meter::kVector};
  const auto said = measure(kMeters[static_cast<unsigned>(kind)], {busy}, units);
  if (!said) return forward_error(said);
  return said->front();
}

Result<std::vector<Percent>> Management::core_uses(CoreKind kind) {
  const auto known = capability();
  if (!known) return forward_error(known);
  const auto who = identity();
  if (!who) return forward_error(who);
  const bool there = known->get<abi::TelemetryCapability::Cores>() != 0;
  const bool coupled = who->vector_cores == 0;
  if (auto ok = require(there && !(coupled && kind == CoreKind::kVector), "such cores"); !ok) {
    return forward_error(ok);
  }
  auto busy = core_busy(kind, *who);
  if (!busy) return forward_error(busy);
  constexpr Meter kMeters[] = {Meter::kEachCore, Meter::kEachCube, Meter::kEachVector};
  return measure(kMeters[static_cast<unsigned>(kind)], std::move(*busy), 1);
}

Result<std::vector<Percent>> Management::aicpu_uses() {
  const auto known = capability();
  if (!known) return forward_error(known);
  const bool there = known->get<abi::TelemetryCapability::Aicpus>() != 0;
  if (auto ok = require(there, "busy times of AICPUs"); !ok) return forward_error(ok);
  const auto who = identity();
  if (!who) return forward_error(who);
  auto busy = busy_words(abi::kAicpuBusyWindow, 0, who->aicpus);
  if (!busy) return forward_error(busy);
  return measure(Meter::kAicpus, std::move(*busy), 1);
}

Result<std::vector<HccsLinkUse>> Management::hccs_links() {
  const auto known = capability();
  if (!known) return forward_error(known);
  const bool there = known->get<abi::TelemetryCapability::Hccs>() != 0;
  if (auto ok = require(there, "messages of HCCS links"); !ok) return forward_error(ok);
  TelemetryReader reader(card_);
  std::vector<HccsLinkUse> links;
  unsigned cards = 1, counted = 0;
  for (unsigned first = 0; first < cards; first += abi::HccsWord::kCards) {
    const auto up = reader.read<abi::HccsLinks>(abi::HccsWord::offset_of(first));
    if (!up) return forward_error(up);
    const auto told = up->get<abi::HccsLinks::Cards>();
    cards = static_cast<unsigned>(std::min<std::uint64_t>(told, abi::kMaxHccsCards));
    for (unsigned card = first; card < first + abi::HccsWord::kCards; ++card) {
      if ((up->raw & abi::HccsWord::bit_of(card)) == 0) continue;
      if (const unsigned begin = card - card % abi::kHccsSentWindow.words; begin != counted) {
        reader.write(abi::HccsCounted::from_raw(counted = begin));
      }
      const auto sent = reader.word(abi::kHccsSentWindow, card - counted);
      const auto received = reader.word(abi::kHccsReceivedWindow, card - counted);
      if (!sent) return forward_error(sent);
      if (!received) return forward_error(received);
      links.push_back({card, *sent, *received});
    }
  }
  if (counted != 0) reader.write(abi::HccsCounted{});
  return links;
}

Result<HbmTraffic> Management::hbm_traffic() {
  const auto known = capability();
  if (!known) return forward_error(known);
  const bool there = known->get<abi::TelemetryCapability::Memory>() != 0;
  if (auto ok = require(there, "traffic of the memory"); !ok) return forward_error(ok);
  TelemetryReader reader(card_);
  abi::HbmBytesRead read;
  abi::HbmBytesWritten written;
  abi::HbmPeakRate peak;
  if (auto ok = read_all(reader, read, written, peak); !ok) return forward_error(ok);
  return HbmTraffic{read.raw, written.raw, peak.raw};
}

Result<Percent> Management::hbm_bandwidth_use() {
  const auto traffic = hbm_traffic();
  if (!traffic) return forward_error(traffic);
  // As busy time: what the bytes take at the peak rate.
  const double seconds = static_cast<double>(traffic->read + traffic->written) /
                         static_cast<double>(traffic->peak_rate);
  const auto said = measure(Meter::kHbm, {static_cast<std::uint64_t>(seconds * 1e9)}, 1);
  if (!said) return forward_error(said);
  return said->front();
}

Result<LinkUse> Management::link_use() {
  const auto known = capability();
  if (!known) return forward_error(known);
  const bool there = known->get<abi::TelemetryCapability::Link>() != 0;
  if (auto ok = require(there, "traffic of the link"); !ok) return forward_error(ok);
  TelemetryReader reader(card_);
  abi::LinkRxPosted rx_posted;
  abi::LinkRxNonPosted rx_non_posted;
  abi::LinkRxCompletion rx_completion;
  abi::LinkTxPosted tx_posted;
  abi::LinkTxNonPosted tx_non_posted;
  abi::LinkTxCompletion tx_completion;
  abi::LinkRate rate;
  if (auto ok = read_all(reader, rx_posted, rx_non_posted, rx_completion, tx_posted, tx_non_posted,
                         tx_completion, rate);
      !ok) {
    return forward_error(ok);
  }
  return LinkUse{{rx_posted.raw, rx_non_posted.raw, rx_completion.raw},
                 {tx_posted.raw, tx_non_posted.raw, tx_completion.raw},
                 rate.raw};
}

Result<MemoryErrors> Management::memory_errors() {
  const auto known = capability();
  if (!known) return forward_error(known);
  const bool there = known->get<abi::TelemetryCapability::Ecc>() != 0;
  if (auto ok = require(there, "errors of the memory"); !ok) return forward_error(ok);
  TelemetryReader reader(card_);
  abi::EccSingle single;
  abi::EccDouble multi;
  abi::EccRecordedSingle recorded_single;
  abi::EccRecordedDouble recorded_multi;
  abi::EccIsolatedSingle isolated_single;
  abi::EccIsolatedDouble isolated_multi;
  if (auto ok = read_all(reader, single, multi, recorded_single, recorded_multi, isolated_single,
                         isolated_multi);
      !ok) {
    return forward_error(ok);
  }
  return MemoryErrors{{single.raw, multi.raw},
                      {recorded_single.raw, recorded_multi.raw},
                      {isolated_single.raw, isolated_multi.raw}};
}

Status Management::clear_error_record() {
  const auto known = capability();
  if (!known) return forward_error(known);
  const bool there = known->get<abi::TelemetryCapability::Ecc>() != 0;
  if (auto ok = require(there, "errors of the memory"); !ok) return ok;
  TelemetryReader(card_).write(abi::EccClear{}.set<abi::EccClear::Record>(1));
  return {};
}

Status Management::inject_error(std::uint64_t address, unsigned bits) {
  if (bits < 1 || bits > 2) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{} flipped bits; 1 or 2", bits));
  }
  const auto known = capability();
  if (!known) return forward_error(known);
  const bool there = known->get<abi::TelemetryCapability::Ecc>() != 0;
  if (auto ok = require(there, "errors of the memory"); !ok) return ok;
  TelemetryReader writer(card_);
  writer.write(abi::EccInjectAddress::from_raw(address));
  writer.write(abi::EccInject{}.set<abi::EccInject::Bits>(bits));
  return {};
}

Result<Alarms> Management::alarms() {
  const auto status = TelemetryReader(card_).read<abi::HealthStatus>();
  if (!status) return forward_error(status);
  return Alarms{status->get<abi::HealthStatus::MemorySingle>() != 0,
                status->get<abi::HealthStatus::MemoryDouble>() != 0,
                status->get<abi::HealthStatus::Temperature>() != 0};
}

Result<abi::Severity> Management::health() {
  const auto status = TelemetryReader(card_).read<abi::HealthStatus>();
  if (!status) return forward_error(status);
  return static_cast<abi::Severity>(status->get<abi::HealthStatus::Worst>());
}

Result<std::uint32_t> Management::event_count() {
  const auto count = TelemetryReader(card_).read<abi::EventLogCount>();
  if (!count) return forward_error(count);
  return count->raw;
}

Result<std::vector<abi::LoggedEvent>> Management::events_since(std::uint32_t seen) {
  const auto count = event_count();
  if (!count) return forward_error(count);
  const std::uint32_t held = std::min(*count - seen, abi::kEventLogRecords);
  std::vector<abi::LoggedEvent> events;
  for (std::uint32_t number = *count - held + 1; number != *count + 1; ++number) {
    const std::uint32_t place = (number - 1) % abi::kEventLogRecords;
    const auto words = busy_words(abi::kEventLogWindow, place * kWordsOfEvent, kWordsOfEvent);
    if (!words) return forward_error(words);
    abi::LoggedEvent event;
    std::memcpy(static_cast<void*>(&event), words->data(), sizeof event);
    // One that has been overwritten meanwhile is a later one.
    if (event.number == number) events.push_back(event);
  }
  return events;
}

}  // namespace npu::driver
