// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/hbm.hpp"

#include <algorithm>

#include "model/core/work_watch.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {
namespace {

using hbm::Clock;
using hbm::kNever;

// Of a payload, what most requests use of it: all but the data of small ones.
constexpr std::size_t kPayloadBytes = sizeof(PooledPayload) - Transaction::kInlineData;

// Fidelity `run`: clocks of completions that the wheels hold.
constexpr Clock kPlannedSpan = 4096;

// A refresh or a queue in front delays when a burst is served, not how long its data takes: what
// is known to complete lies this far ahead at most.
// (Not so with fidelity `run`, which knows it all at once: what is later than the wheel holds waits
// in the agenda.)
Clock wheel_span(const hbm::ClockDomain& clocks, const HbmConfig& config) {
  const auto& t = config.timings;
  const Clock latency = t.cl + t.cwl + t.tdqsck + t.burst_clocks;
  const Clock ahead = config.fidelity == HbmFidelity::kRun ? kPlannedSpan : 0;
  return ahead + latency + 8 + clocks.ceil(ticks(config.frontend)) +
         clocks.ceil(ticks(config.backend));
}

}  // namespace

Hbm::Hbm(const sc_core::sc_module_name& name, Simulation& simulation, const HbmConfig& config,
         unsigned ports, std::string_view track_name)
    : sc_module(name),
      port_sockets("port_socket", ports),
      simulation_(simulation),
      config_(config),
      track_(simulation.recorder.track(track_name)),
      memory_(config.installed),
      ecc_(config.timings.burst, config.installed),
      clocks_(config.timings.clock_hz),
      burst_shift_(static_cast<unsigned>(__builtin_ctzll(config.timings.burst))),
      frontend_(ticks(config.frontend)),
      backend_(ticks(config.backend)),
      channels_(config, done_),
      reads_(wheel_span(clocks_, config)),
      writes_(wheel_span(clocks_, config)) {
  for (unsigned port = 0; port < ports; ++port) {
    ports_.push_back(std::make_unique<Port>(*this, static_cast<std::uint16_t>(port)));
    port_sockets[port].bind(*ports_[port]);
  }
  const auto& t = config.timings;
  read_latency_ = Clock{t.cl} + t.tdqsck + t.burst_clocks;
  write_latency_ = Clock{t.cwl} + t.burst_clocks;
}

bool Hbm::inside(const tlm::tlm_generic_payload& payload, Bytes extent) const {
  return extent != 0 && extent <= config_.installed &&
         payload.get_address() <= config_.installed - extent;
}

void Hbm::move_bytes(tlm::tlm_generic_payload& payload, unsigned rows, Bytes pitch) {
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  auto* data = payload.get_data_ptr();
  if (data == nullptr) return;  // timing only
  if (rows > 1) return move_rows(payload, rows, pitch);
  if (payload.is_write()) {
    memory_.write(payload.get_address(), data, payload.get_data_length());
  } else {
    memory_.read(payload.get_address(), data, payload.get_data_length());
  }
}

[[gnu::noinline]] void Hbm::move_rows(tlm::tlm_generic_payload& payload, unsigned rows,
                                      Bytes pitch) {
  auto* data = payload.get_data_ptr();
  const Bytes piece = payload.get_data_length() / rows;
  std::uint64_t address = payload.get_address();
  for (unsigned row = 0; row < rows; ++row, address += pitch, data += piece) {
    if (payload.is_write()) {
      memory_.write(address, data, piece);
    } else {
      memory_.read(address, data, piece);
    }
  }
}

unsigned Hbm::Port::transport_dbg(tlm::tlm_generic_payload& payload) {
  const auto* info = payload.get_extension<Transaction>();
  const Bytes extent = info == nullptr ? payload.get_data_length() : info->extent(payload);
  if (!hbm_.inside(payload, extent)) return 0;
  const bool strided = info != nullptr && info->rows > 1;
  hbm_.move_bytes(payload, strided ? info->rows : 1, strided ? info->pitch : 0);
  return payload.get_data_length();
}

// Inlines what it calls, as one small function after the other would be felt.
[[gnu::flatten]] tlm::tlm_sync_enum Hbm::Port::nb_transport_fw(tlm::tlm_generic_payload& payload,
                                                               tlm::tlm_phase& phase,
                                                               sc_core::sc_time&) {
  sc_assert(phase == tlm::BEGIN_REQ);
  hbm_.request(payload, number_);
  return tlm::TLM_ACCEPTED;
}

void Hbm::Port::b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) {
  SC_REPORT_FATAL(hbm_.name(), "takes nb_transport only (model/core/transaction.hpp)");
}

std::uint32_t Hbm::new_pending(tlm::tlm_generic_payload& payload, std::uint16_t port) {
  if (free_pending_ == kNoTag) {
    free_pending_ = static_cast<std::uint32_t>(pending_.size());
    pending_.emplace_back();
    pending_.back().remaining = kNoTag;
    reads_.make_room(pending_.size());
    writes_.make_room(pending_.size());
  }
  const std::uint32_t tag = free_pending_;
  Pending& pending = pending_[tag];
  free_pending_ = pending.remaining;
  pending = {&payload, sim_now(), 0, 0, port, payload.is_write()};
  return tag;
}

void Hbm::request(tlm::tlm_generic_payload& payload, std::uint16_t port) {
  sc_assert(payload.get_byte_enable_ptr() == nullptr);
  const std::uint32_t tag = new_pending(payload, port);
  const auto& info = Transaction::of(payload);
  if (!inside(payload, info.extent(payload))) return refuse(tag);
  const unsigned rows = info.rows;
  move_bytes(payload, rows, info.pitch);
  if (ecc_.any()) check(payload);
  const bool write = payload.is_write();
  (write ? traffic_.written : traffic_.read) += payload.get_data_length();
  if (write) {
    ++writes_pending_;
    if (observer_ != nullptr && payload.get_data_ptr() != nullptr) {
      if (detail::work_watch != nullptr) detail::write_cause = info.cause;
      observer_->bytes_written(payload.get_address(), info.extent(payload));
    }
  }
  const std::uint64_t address = payload.get_address();
  const std::uint64_t last = address + payload.get_data_length() - 1;
  if (rows <= 1) {
    submit(tag, address >> burst_shift_, (last >> burst_shift_) + 1, write);
  } else {
    submit_rows(tag, payload);
  }
  if (channels_.planned()) expect_completion(tag);
  if (!awake_) arm();
}

[[gnu::noinline]] void Hbm::check(tlm::tlm_generic_payload& payload) {
  auto& info = Transaction::of(payload);
  const unsigned rows = std::max<unsigned>(info.rows, 1);
  const hbm::Extents extents{payload.get_address(), payload.get_data_length() / rows, rows,
                             info.pitch};
  if (!ecc_.meets(payload.is_write(), extents)) return;
  payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  info.completion = Completion::kPoisoned;
}

[[gnu::noinline]] void Hbm::submit_rows(std::uint32_t tag,
                                        const tlm::tlm_generic_payload& payload) {
  const auto& info = Transaction::of(payload);
  const Bytes piece = payload.get_data_length() / info.rows;
  std::uint64_t address = payload.get_address();
  for (unsigned row = 0; row < info.rows; ++row, address += info.pitch) {
    const std::uint64_t last = address + piece - 1;
    submit(tag, address >> burst_shift_, (last >> burst_shift_) + 1, payload.is_write());
  }
}

void Hbm::refuse(std::uint32_t tag) {
  auto& payload = *pending_[tag].payload;
  payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  Transaction::of(payload).completion = Completion::kUnsupportedRequest;
  if (payload.is_write()) ++writes_pending_;
  simulation_.agenda.at<&Hbm::complete_refused>(sim_now() + frontend_ + backend_, *this, tag);
}

Clock Hbm::arrival_clock(SimTime now) {
  if (now != arrival_time_) {  // many requests come at one time
    arrival_time_ = now;
    arrival_clock_ = clocks_.ceil(now + frontend_);
  }
  return arrival_clock_;
}

void Hbm::submit(std::uint32_t tag, std::uint64_t first, std::uint64_t end, bool write) {
  const Clock arrived = horizon();
  pending_[tag].remaining += static_cast<std::uint32_t>(end - first);
  const Clock last = channels_.submit(tag, first, end, arrived, write);
  if (last == kNever) return expect_service(arrived + 1);
  Pending& pending = pending_[tag];
  pending.last = std::max(pending.last, last + (write ? write_latency_ : read_latency_));
}

void Hbm::expect_completion(std::uint32_t tag) {
  const Pending& pending = pending_[tag];
  hbm::CompletionWheel& wheel = pending.write ? writes_ : reads_;
  if (pending.last - horizon() <= kPlannedSpan / 2) return wheel.add(pending.last, tag);
  const SimTime end = pending.write ? clocks_.time(pending.last) : read_end(pending.last);
  simulation_.agenda.at<&Hbm::complete_late>(end, *this, tag);
}

void Hbm::complete_late(std::uint64_t tag) {
  complete(static_cast<std::uint32_t>(tag));
}

void Hbm::expect_service(Clock clock) {
  const bool writes = writes_pending_ != 0;
  if (clock >= expected_ && writes == expected_with_writes_) return;  // answered no earlier
  if (clock >= kNever) return;
  expected_ = clock;
  expected_with_writes_ = writes;
  SimTime answer = read_end(clock + read_latency_);
  if (writes) answer = std::min(answer, clocks_.time(clock + write_latency_));
  advance_at_ = std::min(advance_at_, answer);
}

// Enters what the channels have served into the list of completions.
void Hbm::collect() {
  for (const auto& burst : done_) __builtin_prefetch(&pending_[burst.tag], 1);
  for (const auto& burst : done_) {
    Pending& pending = pending_[burst.tag];
    pending.last =
        std::max(pending.last, burst.issued + (burst.write ? write_latency_ : read_latency_));
    pending.remaining -= burst.bursts;
    if (pending.remaining == 0) (burst.write ? writes_ : reads_).add(pending.last, burst.tag);
  }
  done_.clear();
}

void Hbm::log_refreshes(unsigned channel) {
  for (const auto& refresh : refresh_log_) {
    simulation_.emit(track_, platform::Activity::kHbmRefresh, clocks_.time(refresh.begin),
                     clocks_.time(refresh.end), 0, 0,
                     channel * config_.timings.pseudo_channels + refresh.pseudo_channel);
  }
  refresh_log_.clear();
}

void Hbm::advance_channels(Clock clock, bool all) {
  advance_at_ = kNotArmed;
  expected_ = kNever;
  const bool heard = simulation_.recorder.hears(platform::Activity::kHbmRefresh);
  channels_.for_each(all, [&](unsigned number, hbm::Channel& channel) {
    channel.engine().log_refreshes(heard ? &refresh_log_ : nullptr);
    channel.advance(clock);
    collect();
    if (heard) log_refreshes(number);
    expect_service(channel.earliest_service());
  });
}

void Hbm::wake(std::uint64_t when) {
  if (armed_for_ == when) armed_for_ = kNotArmed;
  const SimTime now = sim_now();
  awake_ = true;
  if (advance_at_ <= now) advance_channels(horizon(), false);
  complete_due(now);
  awake_ = false;
  arm();
}

void Hbm::arm() {
  SimTime next = advance_at_;
  if (writes_.next() != kNever) next = std::min(next, clocks_.time(writes_.next()));
  if (reads_.next() != kNever) next = std::min(next, read_end(reads_.next()));
  if (next >= armed_for_) return;
  armed_for_ = std::max(next, sim_now());
  simulation_.agenda.at<&Hbm::wake>(armed_for_, *this, armed_for_);
}

void Hbm::complete_due(SimTime now) {
  const Clock written = clocks_.floor(now);
  complete_until(writes_, written);
  const Clock read = now >= backend_ ? clocks_.floor(now - backend_) : -1;
  complete_until(reads_, read);
}

// Of many outstanding requests neither the payloads nor the list fit in the first-level cache:
// those of the next two are fetched while one is answered.
[[gnu::flatten]] void Hbm::complete_until(hbm::CompletionWheel& wheel, Clock clock) {
  while (wheel.next() <= clock) {
    const std::uint32_t tag = wheel.pop();
    if (wheel.next() <= clock) {
      const std::uint32_t next = wheel.front();
      __builtin_prefetch(&pending_[wheel.behind(next)]);
      const auto* payload = reinterpret_cast<const char*>(pending_[next].payload);
      for (std::size_t line = 0; line < kPayloadBytes; line += 64) {
        __builtin_prefetch(payload + line, 1);
      }
    }
    complete(tag);
  }
}

// A bit per channel that the transaction touched, modulo 64.
std::uint64_t Hbm::channels_of(const tlm::tlm_generic_payload& payload) const {
  const auto& info = Transaction::of(payload);
  const unsigned rows = std::max<unsigned>(info.rows, 1);
  const Bytes piece = payload.get_data_length() / rows;
  std::uint64_t mask = 0;
  for (unsigned row = 0; row < rows; ++row) {
    const std::uint64_t address = payload.get_address() + row * info.pitch;
    mask |= channels_.touched_by(address >> burst_shift_, (address + piece - 1) >> burst_shift_);
  }
  return mask;
}

void Hbm::complete_refused(std::uint64_t tag) {
  complete(static_cast<std::uint32_t>(tag));
}

void Hbm::complete(std::uint32_t tag) {
  Pending& pending = pending_[tag];
  auto& payload = *pending.payload;
  const std::uint16_t port = pending.port;
  const bool write = pending.write;
  if (write) --writes_pending_;
  const auto activity = write ? platform::Activity::kHbmWrite : platform::Activity::kHbmRead;
  if (simulation_.recorder.hears(activity) && payload.is_response_ok()) {
    simulation_.emit(track_, activity, pending.begin, sim_now(), Transaction::of(payload).cause,
                     payload.get_data_length(), channels_of(payload));
  }
  pending.remaining = free_pending_;
  free_pending_ = tag;
  if (write && Transaction::of(payload).posted) {  // reads are answered
    payload.release();
    return;
  }
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const auto answer = port_sockets[port]->nb_transport_bw(payload, phase, delay);
  sc_assert(answer == tlm::TLM_COMPLETED);
}

// What has fallen due by now did so at the old pace.
void Hbm::set_refresh_pace(unsigned channel, unsigned pace) {
  channels_.use_all();
  advance_channels(horizon(), true);
  channels_.set_refresh_pace(channel, pace);
  if (!awake_) arm();
}

HbmStatistics Hbm::statistics() {
  const Clock now = horizon();
  if (!channels_.planned()) {
    if (simulation_.recorder.hears(platform::Activity::kHbmRefresh)) channels_.use_all();
    advance_channels(now, true);
  }
  if (!awake_) arm();
  const auto [counts, bus] = channels_.sums(now);
  HbmStatistics sum;
  sum.bursts_read = counts.reads;
  sum.bursts_written = counts.writes;
  sum.row_hits = counts.row_hits;
  sum.row_misses = counts.reads + counts.writes - counts.row_hits;
  sum.activates = counts.activates;
  sum.precharges = counts.precharges;
  sum.refreshes = counts.refreshes;
  const auto time = [this](Clock clocks) {
    return Picoseconds(static_cast<std::int64_t>(clocks_.time(clocks)));
  };
  sum.data = time(bus.data);
  sum.refresh = time(bus.refresh);
  sum.turnaround = time(bus.turnaround);
  sum.row = time(bus.row);
  sum.column = time(bus.column);
  sum.idle = time(bus.idle);
  return sum;
}

}  // namespace npu::model
