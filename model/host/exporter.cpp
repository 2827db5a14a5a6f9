// SPDX-License-Identifier: Apache-2.0
#include "model/host/exporter.hpp"

#include <algorithm>

namespace npu::model {
namespace {

// Simulated time between two looks at the sockets while there is work: short enough for a client
// not to notice, long enough for the looks not to count.
constexpr SimTime kSlice = 1'000'000;

}  // namespace

Exporter::Exporter(Simulation& simulation, HostCpus& cpus, HostPlatform& host, HostMemory& memory,
                   Interrupts& interrupts, ResourceLookup resources, Pacer* pacer)
    : simulation_(simulation),
      cpus_(cpus),
      host_(host),
      memory_(memory),
      interrupts_(interrupts),
      resources_(std::move(resources)),
      pacer_(pacer) {}

Status Exporter::add(platform::Bdf bdf, const std::string& socket) {
  auto function = std::make_unique<ExportedFunction>(host_, memory_, interrupts_, resources_, bdf);
  if (auto ready = function->prepare(); !ready) return ready;
  if (pacer_ != nullptr) function->before_access([this] { catch_up(); });
  if (auto listening = server_.listen(socket, *function); !listening) return listening;
  functions_.push_back(std::move(function));
  return {};
}

Status Exporter::add_window(const std::vector<PciFunction>& functions, const std::string& socket) {
  window_ = std::make_unique<EcamWindow>(host_, functions);
  return server_.listen(socket, *window_);
}

// A client's access finds the card where the clock outside says.
void Exporter::catch_up() {
  cpus_.synchronise();
  const SimTime allowed = pacer_->allowed();
  if (allowed > sim_now()) cpus_.spin(sim_now(), allowed);
}

// The next things that happen by themselves.
void Exporter::work() {
  cpus_.synchronise();
  if (pacer_ != nullptr) return catch_up();
  const SimTime next = simulation_.agenda.next_activity();
  if (next != UINT64_MAX) cpus_.spin(sim_now(), std::max(next, sim_now() + kSlice));
}

void Exporter::run(int wake, const std::function<bool()>& stopped) {
  server_.wake_on(wake);
  while (!stopped()) {
    cpus_.synchronise();
    const SimTime next = simulation_.agenda.next_activity();
    int timeout = -1;
    if (next != UINT64_MAX) timeout = pacer_ != nullptr ? pacer_->milliseconds_until(next) : 0;
    server_.serve(timeout);
    work();
  }
}

}  // namespace npu::model
