// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/smi/attachment.hpp"

#include "apps/dsmi/client/socket_machine.hpp"
#include "machine/composed_machine.hpp"
#include "npu/driver/device.hpp"
#include "npu/dsmi/attach.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/management/probed_card.hpp"

namespace npu::cli {
namespace {

Outcome with_server(const std::string& path, const std::string& command,
                    const std::function<Outcome(bool)>& body) {
  auto machine = dsmi::socket_machine(path);
  if (!machine) return bad_input(command + ": --socket " + machine.error().context);
  if (auto attached = dsmi::attach(std::move(*machine)); !attached) {
    return failure(command + ": " + attached.error().message());
  }
  const Outcome done = body(true);
  dsmi::detach();
  return done;
}

Outcome with_configuration(const Options& options, const std::string& command,
                           const std::function<Outcome(bool)>& body) {
  const auto config = load_config(options.config, options.sets);
  if (!config) return tl::unexpected(config.error());
  sim::ComposedMachine composed(*config, sim::SoftwareTime::kAccessesOnly);
  Outcome done;
  const Status ran = composed.system.run([&](platform::Platform& host) {
    dsmi::Machine machine;
    machine.cards = probe_cards(composed.system);
    machine.clock = &host.clock();
    machine.tasks = &host.tasks();
    const auto attached = dsmi::attach(std::move(machine));
    done = attached ? body(false) : failure(command + ": " + attached.error().message());
    dsmi::detach();
  });
  if (!ran) return failure(command + ": " + ran.error().message());
  return done;
}

// The socket to ask at; empty: there is a configuration instead.
tl::expected<std::string, Failure> socket_of(const Options& options, const std::string& command) {
  if (options.sockets.size() > 1) return bad_input(command + ": --socket is given twice");
  const bool configured = !options.config.empty() || !options.sets.empty();
  if (!options.sockets.empty() && configured) {
    return bad_input(command + ": give --socket or --config, not both");
  }
  if (!options.sockets.empty()) return options.sockets.front();
  if (configured) return std::string();
  return bad_input(command +
                   ": give --socket PATH, of a running npusim serve --management PATH, or --config "
                   "CONFIG, a machine to be looked at, e.g. 910b2");
}

// Those of the machine, open.
Result<std::vector<std::shared_ptr<driver::Device>>> open_all(platform::Platform& host,
                                                              std::size_t count) {
  const auto found = driver::scan(host);
  if (!found) return forward_error(found);
  std::vector<std::shared_ptr<driver::Device>> devices;
  for (std::uint32_t i = 0; i < count; ++i) {
    auto device = driver::Device::open_index(host, *found, i);
    if (!device) return forward_error(device);
    devices.push_back(std::move(*device));
  }
  return devices;
}

}  // namespace

Outcome with_driven_cards(const Options& options, const std::string& command,
                          const std::function<Outcome()>& body) {
  const auto socket = socket_of(options, command);
  if (!socket) return tl::unexpected(socket.error());
  if (!socket->empty()) return with_server(*socket, command, [&](bool) { return body(); });
  const auto config = load_config(options.config, options.sets);
  if (!config) return tl::unexpected(config.error());
  sim::ComposedMachine composed(*config, sim::SoftwareTime::kAccessesOnly);
  Outcome done;
  const Status ran = composed.system.run([&](platform::Platform& host) {
    const auto devices = open_all(host, config->cards.size());
    if (!devices) {
      done = failure(command + ": " + devices.error().message());
      return;
    }
    std::vector<driver::Device*> cards;
    for (const auto& device : *devices) cards.push_back(device.get());
    const auto attached = dsmi::attach(host, cards);
    done = attached ? body() : failure(command + ": " + attached.error().message());
    dsmi::detach();
  });
  if (!ran) return failure(command + ": " + ran.error().message());
  return done;
}

Outcome with_cards(const Options& options, const std::string& command,
                   const std::function<Outcome(bool live)>& body) {
  const auto socket = socket_of(options, command);
  if (!socket) return tl::unexpected(socket.error());
  if (socket->empty()) return with_configuration(options, command, body);
  return with_server(*socket, command, body);
}

}  // namespace npu::cli
