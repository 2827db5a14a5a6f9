// SPDX-License-Identifier: Apache-2.0
// How a workload listens to the stream of timed events.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "npu/platform/trace.hpp"

namespace npu::workloads {

// Where events come from; implemented by whoever composes the simulator. A platform that records
// nothing (a real card) may have a source without events.
class TraceSource {
 public:
  virtual ~TraceSource() = default;
  // Whether the machine has events at all.
  virtual bool has_events() const { return true; }
  // A sink hears every event emitted between add() and remove().
  virtual void add(platform::TraceSink& sink) = 0;
  virtual void remove(platform::TraceSink& sink) = 0;
  // What Tracer::track() was called with; empty for an unknown id.
  virtual std::string track_name(std::uint32_t track) const = 0;
  // Where units are on the PCI bus, by what names of their tracks begin with: "card0" and
  // "pci.link0" -> "01:00.0".
  virtual std::map<std::string, std::string> bus_addresses() const { return {}; }
};

// Listens as long as it lives.
class TraceSession {
 public:
  TraceSession(TraceSource& source, platform::TraceSink& sink) : source_(source), sink_(sink) {
    source_.add(sink_);
  }
  ~TraceSession() { source_.remove(sink_); }
  TraceSession(const TraceSession&) = delete;
  TraceSession& operator=(const TraceSession&) = delete;

 private:
  TraceSource& source_;
  platform::TraceSink& sink_;
};

}  // namespace npu::workloads
