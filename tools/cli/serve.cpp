// SPDX-License-Identifier: Apache-2.0
// npusim serve: the machine's functions for vfio-user clients, such as a virtual machine monitor.
#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "machine/composed_machine.hpp"
#include "model/host/exporter.hpp"
#include "npu/abi/layout.hpp"
#include "npu/base/shortened.hpp"
#include "npu/driver/virtual_functions.hpp"
#include "tools/cli/activity_report.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/identity.hpp"
#include "tools/cli/management/management_server.hpp"
#include "tools/cli/metrics/http_server.hpp"
#include "tools/cli/metrics/sharing_metrics.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/recording.hpp"
#include "tools/cli/run_checks.hpp"
#include "tools/cli/stop_signals.hpp"
#include "tools/cli/wall_pacer.hpp"
#include "workloads/framework/counters.hpp"
#include "workloads/simulator/identity.hpp"

namespace npu::cli {
namespace {

struct Socket {
  std::string path;
  std::optional<platform::Bdf> bdf;  // none: the next card
};

// "PATH" or "PATH=BB:DD.F".
tl::expected<Socket, Failure> parse_socket(const std::string& text) {
  const auto equals = text.rfind('=');
  if (equals == std::string::npos) return Socket{text, std::nullopt};
  const std::string where = text.substr(equals + 1);
  const auto bdf = platform::parse_bdf(where);
  if (!bdf) {
    return bad_input("--socket " + shortened(text, kShownPath) + ": '" + shortened(where) +
                     "' is no function; give BB:DD.F");
  }
  return Socket{text.substr(0, equals), bdf};
}

tl::expected<std::vector<Socket>, Failure> parse_sockets(const Options& options,
                                                         std::size_t cards) {
  std::vector<Socket> sockets;
  std::size_t next = 0;
  for (const auto& text : options.sockets) {
    const auto socket = parse_socket(text);
    if (!socket) return tl::unexpected(socket.error());
    if (socket->path.empty())
      return bad_input("--socket " + shortened(text, kShownPath) + ": no path");
    if (!socket->bdf && ++next > cards) {
      return bad_input(fmt::format("--socket {}: the machine has {} card{}",
                                   shortened(text, kShownPath), cards, cards == 1 ? "" : "s"));
    }
    sockets.push_back(*socket);
  }
  if (!sockets.empty() && !options.ecam.empty()) {
    return bad_input("serve: --ecam gives all functions away; not together with --socket");
  }
  if (sockets.empty() && options.ecam.empty() && options.management.empty() &&
      options.metrics.empty()) {
    return bad_input(
        "serve: give --socket PATH, --ecam PATH, --management PATH or --metrics SOCKET");
  }
  return sockets;
}

// Sockets without a name get the cards that nobody has named, in order.
std::vector<std::pair<platform::Bdf, std::string>> functions_of(
    model::System& system, const std::vector<Socket>& sockets) {
  std::set<std::uint32_t> named;
  for (const auto& socket : sockets) {
    if (socket.bdf) named.insert(socket.bdf->packed());
  }
  std::vector<std::pair<platform::Bdf, std::string>> functions;
  functions.reserve(sockets.size());
  unsigned card = 0;
  const auto next_card = [&] {
    const unsigned last = system.cards() - 1;
    while (card < last && named.count(system.fabric().endpoint(card).requester()) != 0) ++card;
    const auto bdf = platform::Bdf::unpack(system.fabric().endpoint(card).requester());
    if (card < last) ++card;
    return bdf;
  };
  for (const auto& socket : sockets) {
    functions.emplace_back(socket.bdf ? *socket.bdf : next_card(), socket.path);
  }
  return functions;
}

// Signals and what the management socket has, as one descriptor to wait for.
class WakeUps {
 public:
  WakeUps(const StopSignals& signals, const ManagementServer* management,
          const MetricsServer* metrics)
      : events_(::epoll_create1(EPOLL_CLOEXEC)) {
    add(signals.file());
    if (metrics != nullptr) add(metrics->file());
    if (management != nullptr) add(management->file());
  }
  int file() const { return events_.get(); }

 private:
  void add(int file) {
    epoll_event event{};
    event.events = EPOLLIN;
    ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, file, &event);
  }
  FileDescriptor events_;
};

tl::expected<std::unique_ptr<ManagementServer>, Failure> open_management(model::System& system,
                                                                         ServedDevices& devices,
                                                                         const std::string& path) {
  if (path.empty()) return std::unique_ptr<ManagementServer>();
  auto server = ManagementServer::listen(path, system, devices);
  if (!server) {
    return bad_input("--management " + shortened(path, kShownPath) + ": " +
                     server.error().message());
  }
  if (auto said = print("management on " + path + "\n"); !said) {
    return tl::unexpected(said.error());
  }
  return std::move(*server);
}

tl::expected<std::unique_ptr<MetricsServer>, Failure> open_metrics_socket(
    const std::string& place) {
  if (place.empty()) return std::unique_ptr<MetricsServer>();
  auto server = MetricsServer::listen(place);
  if (!server) {
    return bad_input("--metrics " + shortened(place, kShownPath) + ": " + server.error().context);
  }
  if (auto said = print("metrics on " + (*server)->place() + "\n"); !said) {
    return tl::unexpected(said.error());
  }
  return std::move(*server);
}

void answer_metrics(MetricsServer& server, CardWatch& cards, const std::string& prefix) {
  server.answer([&] {
    MetricFamilies families(prefix);
    cards.add_to(families);
    return families.text();
  });
}

// The first card's driver divides it, and leaves it so.
Status divide(platform::Platform& host, platform::Bdf card, const std::string& templates) {
  auto device = driver::Device::open(host, card);
  if (!device) return forward_error(device);
  auto functions = driver::VirtualFunctions::open(**device);
  if (!functions) return forward_error(functions);
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= templates.size();) {
    const auto end = std::min(templates.find(',', begin), templates.size());
    names.push_back(templates.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto count = static_cast<std::uint32_t>(names.size());
  if (auto set = (*functions)->set_count(count); !set) return set;
  for (const auto& name : names) {
    driver::VirtualDeviceOptions wanted;
    wanted.name = name;
    const auto made = (*functions)->create(wanted);
    if (!made) return forward_error(made);
    const auto text = fmt::format("virtual function {}: {}\n", to_string(*made->bdf), name);
    if (auto said = print(text); !said) return fail(ErrorCode::kIo, "standard output");
  }
  return (*device)->shutdown();
}

Outcome open_socket(model::System& system, platform::Bdf bdf, const std::string& path,
                    model::Exporter& exporter) {
  const std::string option = "--socket " + shortened(path, kShownPath) + ": ";
  if (auto added = exporter.add(bdf, path); !added) {
    const bool can_be = added.error().code == ErrorCode::kNotFound &&
                        system.resources()(bdf, abi::kRegisterBar).size != 0;
    if (!can_be) return bad_input(option + added.error().message());
    return bad_input(option + to_string(bdf) +
                     " is a virtual function that nobody has made; see --virtual-functions");
  }
  return print("serving " + to_string(bdf) + " on " + path + "\n");
}

// Functions of cards come first: they are reset, and with them their virtual functions would go.
Outcome open_sockets(model::System& system, const std::vector<Socket>& sockets,
                     const Options& options, model::Exporter& exporter) {
  const auto functions = functions_of(system, sockets);
  const auto is_physical = [&](platform::Bdf bdf) {
    const auto& all = system.fabric().functions();
    return std::any_of(all.begin(), all.end(), [&](const auto& each) { return each.bdf == bdf; });
  };
  for (const auto& [bdf, path] : functions) {
    if (!is_physical(bdf)) continue;
    if (auto opened = open_socket(system, bdf, path, exporter); !opened) return opened;
  }
  if (!options.virtual_functions.empty()) {
    const auto card = platform::Bdf::unpack(system.fabric().endpoint(0).requester());
    if (auto done = divide(system.host(), card, options.virtual_functions); !done) {
      return bad_input("--virtual-functions " + shortened(options.virtual_functions) + ": " +
                       done.error().message());
    }
  }
  for (const auto& [bdf, path] : functions) {
    if (is_physical(bdf)) continue;
    if (auto opened = open_socket(system, bdf, path, exporter); !opened) return opened;
  }
  exporter.on_socket([](platform::Bdf function, const std::string& path, bool open) {
    const auto text = open ? fmt::format("serving {} on {}\n", to_string(function), path)
                           : fmt::format("{} is gone, and {} with it\n", to_string(function), path);
    static_cast<void>(print(text));
  });
  return {};
}

Outcome serve_sockets(sim::ComposedMachine& machine, const std::vector<Socket>& sockets,
                      const Options& options, reports::Report& report, Recording& recording) {
  auto& system = machine.system;
  std::optional<WallPacer> pacer;
  if (options.pace == "wall") pacer.emplace();
  StopSignals signals;
  system.fabric().root_complex().redirect_peers();  // the cards have different owners
  model::Exporter exporter(system.simulation(), system.cpus(), system.host(), system.host_memory(),
                           system.interrupts(), system.resources(), pacer ? &*pacer : nullptr);
  if (auto opened = open_sockets(system, sockets, options, exporter); !opened) return opened;
  if (!options.ecam.empty()) {
    if (auto added = exporter.add_window(system.fabric().functions(), options.ecam); !added) {
      return bad_input("--ecam " + shortened(options.ecam, kShownPath) + ": " +
                       added.error().message());
    }
    if (auto said = print("serving all functions on " + options.ecam + "\n"); !said) return said;
  }
  ServedDevices devices(system, exporter);
  const auto management = open_management(system, devices, options.management);
  if (!management) return tl::unexpected(management.error());
  const auto metrics = open_metrics_socket(options.metrics);
  if (!metrics) return tl::unexpected(metrics.error());
  CardWatch watched(probe_cards(system));
  const WakeUps wake_ups(signals, management->get(), metrics->get());
  auto& view = machine.view;
  ActivityReport activities(view);
  recording.begin(view);
  exporter.run(wake_ups.file(), [&] {
    if (*management) (*management)->serve();
    if (*metrics) answer_metrics(**metrics, watched, options.metrics_prefix);
    const bool left = options.once && exporter.server().statistics().clients > 0 &&
                      !exporter.server().has_client();
    return left || signals.came();
  });
  recording.end(view, view);
  activities.add_to(report);
  add_exports(report, exporter, system.host_memory());
  workloads::add_counters(report, view);
  report.simulated = view.simulated_time();
  return {};
}

}  // namespace

Outcome serve(const Options& options) {
  if (auto ok = expect_at_most(0, "serve", options.arguments); !ok) return ok;
  if (options.pace != "fast" && options.pace != "wall") {
    return bad_input("--pace: found '" + shortened(options.pace) + "'; allowed: fast, wall");
  }
  const auto config = load_config(options.config, options.sets);
  if (!config) return tl::unexpected(config.error());
  const auto sockets = parse_sockets(options, config->cards.size());
  if (!sockets) return tl::unexpected(sockets.error());
  if (auto apart = check_files(options, nullptr, nullptr); !apart) return apart;
  auto file = OptionFile::open("--report", options.report);
  if (!file) return tl::unexpected(file.error());
  auto recording = Recording::open(options);
  if (!recording) return tl::unexpected(recording.error());
  if (auto done = write_config(options.config_out, *config); !done) return done;
  auto report = workloads::begin_report("serve", options.config, *config, options.sets);
  sim::ComposedMachine machine(*config, sim::SoftwareTime::kAccessesOnly);
  Outcome served;
  const Status ran = machine.system.run([&](platform::Platform&) {
    served = serve_sockets(machine, *sockets, options, report, *recording);
  });
  if (!ran) served = failure("serve: " + ran.error().message());
  if (!served) return served;
  recording->complete(report, *config);
  const Outcome recorded = recording->write(report);
  OptionFile no_page;
  const Outcome published = publish(*file, no_page, report);
  return recorded ? published : recorded;
}

}  // namespace npu::cli
