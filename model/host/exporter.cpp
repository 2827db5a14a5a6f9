// SPDX-License-Identifier: Apache-2.0
#include "model/host/exporter.hpp"

#include <algorithm>

namespace npu::model {
namespace {

// Simulated time between two looks at the sockets while there is work: short enough for a client
// not to notice, long enough for the looks not to count.
constexpr SimTime kSlice = 1'000'000;
// Time in which nothing happens passes no faster than this at a time, between looks of a
// millisecond: it may be the client who ends it.
constexpr SimTime kLeap = 1'000'000'000;
// What is made up for at a time, with work to do, when the models are slower than the pacer.
constexpr SimTime kBehind = 100'000'000;

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
  for (const auto& served : functions_) {
    if (served->bdf() == bdf) {
      return fail(ErrorCode::kAlreadyExists, to_string(bdf) + " has a socket already");
    }
  }
  auto function = std::make_unique<ExportedFunction>(host_, memory_, interrupts_, resources_, bdf);
  if (auto ready = function->prepare(); !ready) return ready;
  if (pacer_ != nullptr) function->before_access([this] { catch_up(); });
  function->on_virtual_functions([this] { virtual_functions_changed(); });
  if (auto listening = server_.listen(socket, *function); !listening) return listening;
  sockets_.push_back({function.get(), socket, host_.physical_of(bdf)});
  functions_.push_back(std::move(function));
  return {};
}

bool Exporter::is_there(const Socket& socket) {
  const auto all = host_.virtual_functions(*socket.physical);
  return all && std::find(all->begin(), all->end(), socket.function->bdf()) != all->end();
}

// Sessions end between the server's calls.
void Exporter::virtual_functions_changed() {
  functions_changed_ = true;
  for (auto& socket : sockets_) {
    if (socket.physical && socket.open && !is_there(socket)) socket.gone = true;
  }
}

void Exporter::end(Socket& socket) {
  socket.gone = socket.open = false;
  server_.close(*socket.function);
  if (on_socket_) on_socket_(socket.function->bdf(), socket.path, false);
}

// As after its power-up. If its path has been taken meanwhile it has no socket until the next
// change.
void Exporter::open_again(Socket& socket) {
  auto& function = *socket.function;
  if (!function.prepare() || !server_.listen(socket.path, function)) return;
  socket.open = true;
  if (on_socket_) on_socket_(function.bdf(), socket.path, true);
}

void Exporter::follow_virtual_functions() {
  virtual_functions_changed();
  functions_changed_ = false;
  for (auto& socket : sockets_) {
    if (socket.gone) end(socket);
    if (socket.physical && !socket.open && is_there(socket)) open_again(socket);
  }
}

bool Exporter::has_client(platform::Bdf bdf) const {
  if (window_ && server_.has_client(*window_)) return true;
  return std::any_of(functions_.begin(), functions_.end(), [&](const auto& function) {
    return function->bdf() == bdf && server_.has_client(*function);
  });
}

Status Exporter::add_window(const std::vector<FoundFunction>& functions,
                            const std::string& socket) {
  window_ = std::make_unique<EcamWindow>(host_, functions);
  if (pacer_ != nullptr) window_->before_access([this] { catch_up(); });
  return server_.listen(socket, *window_);
}

// A client's access finds the card where the clock outside says.
void Exporter::catch_up() {
  cpus_.synchronise();
  SimTime allowed = pacer_->allowed();
  if (simulation_.agenda.next_activity() != UINT64_MAX) {
    allowed = std::min(allowed, sim_now() + kBehind);
  }
  if (allowed > sim_now()) cpus_.spin(sim_now(), allowed);
}

// The next things that happen by themselves.
void Exporter::work() {
  cpus_.synchronise();
  if (pacer_ != nullptr) return catch_up();
  const SimTime next = simulation_.agenda.next_activity();
  if (next == UINT64_MAX) return;
  cpus_.spin(sim_now(), std::min(std::max(next, sim_now() + kSlice), sim_now() + kLeap));
}

// Milliseconds to wait for a client before going on with the simulation; -1: for ever.
int Exporter::timeout() {
  const SimTime next = simulation_.agenda.next_activity();
  if (next == UINT64_MAX) return -1;
  if (pacer_ != nullptr) return pacer_->milliseconds_until(next);
  return next > sim_now() + kLeap ? 1 : 0;
}

void Exporter::run(int wake, const std::function<bool()>& stopped) {
  server_.wake_on(wake);
  while (!stopped()) {
    cpus_.synchronise();
    server_.serve(timeout());
    if (functions_changed_) follow_virtual_functions();
    work();
  }
}

}  // namespace npu::model
