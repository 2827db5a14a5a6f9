// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <memory>

#include "apps/exec/acl/caller.hpp"
#include "apps/exec/gate.hpp"
#include "apps/exec/host/program.hpp"
#include "npu/base/child_program.hpp"

namespace npu::exec {
namespace {

std::string title_of(const std::vector<std::string>& words) {
  std::string title;
  for (const auto& word : words) title += (title.empty() ? "" : " ") + word;
  return title;
}

std::vector<std::string> names_of(const std::vector<CardDescription>& cards) {
  std::vector<std::string> names;
  names.reserve(cards.size());
  for (const auto& card : cards) names.push_back(card.soc_name);
  return names;
}

// Programs' state and what they have done, by their number.
class Server {
 public:
  Server(platform::Platform& platform, const ServerOptions& options, Listener& listener)
      : platform_(platform),
        options_(options),
        settings_(settings_of(options)),
        cards_(platform, names_of(options.cards), settings_),
        shares_(platform),
        operators_(options.operator_cores),
        machine_{platform, cards_, shares_, options.images, operators_, {},
                 {},       0,      {},      options.sharing},
        listener_(listener),
        gate_(platform, listener, options.timeout,
              [this](ClientThread& thread) { serve(thread); }) {
    gate_.on_idle(options.idle);
    gate_.on_interrupt(options.interrupted);
    gate_.on_stall(
        [this](ClientProcess& process) { program_of(process).state->stop(process.stalled); });
  }

  Result<ServerResult> run() {
    machine_.races = options_.races;
    if (auto made = functions_.make(options_.functions, machine_); !made)
      return forward_error(made);
    if (auto started = start(); !started) return forward_error(started);
    {
      const Watch watch(*this);
      gate_.run([this](ClientProcess& process) { program_of(process).state->end_calls(); },
                [this](ClientProcess& process) { clean(process); });
    }
    adopt_orphans(false);
    ServerResult result{results(), cards_.memory_left() + functions_.memory_left()};
    functions_.close();
    cards_.close();
    return result;
  }

 private:
  // Whoever watches may look as long as this is there, however it ends.
  class Watch {
   public:
    explicit Watch(Server& server)
        : watched_(server.options_.watched), abandonable_(server.options_.abandonable) {
      if (watched_) watched_([&server] { return server.snapshot(); });
      if (abandonable_) abandonable_([&server] { return server.give_up(); });
    }
    ~Watch() {
      if (watched_) watched_({});
      if (abandonable_) abandonable_({});
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    const std::function<void(std::function<ServerSnapshot()>)>& watched_;
    const std::function<void(std::function<ServerResult()>)>& abandonable_;
  };

  struct Program {
    std::unique_ptr<acl::Process> state;
    ProgramResult result;
    bool has_called = false;
    std::uint32_t calls = 0;  // so far, if they are counted
  };

  Status start() {
    auto variables = options_.variables;
    variables.emplace_back(compat::kSocketVariable, listener_.name());
    if (options_.races != nullptr) variables.emplace_back(compat::kRacesVariable, "1");
    adopt_orphans(true);
    std::vector<pid_t> started;
    for (const auto& words : options_.programs) {
      auto own = variables;
      own.emplace_back(compat::kProgramVariable, std::to_string(started.size() + 1));
      const auto id = start_program(words, own);
      if (!id) {
        for (const auto other : started) ::kill(other, SIGKILL);
        return forward_error(id);
      }
      started.push_back(*id);
      gate_.add("p" + std::to_string(started.size() - 1), title_of(words), *id);
    }
    return {};
  }

  // Null: the program has the cards.
  ProgramFunctions::Place* place_of(std::uint64_t root) {
    const auto& all = options_.function_of;
    if (all.empty()) return nullptr;
    const auto number = all[root == 0 ? all.size() - 1 : std::min(root - 1, all.size() - 1)];
    return number ? &functions_.place(*number) : nullptr;
  }
  acl::Machine& machine_of(std::uint64_t root) {
    auto* const place = place_of(root);
    return place == nullptr ? machine_ : place->machine;
  }

  Program& program_of(const ClientProcess& process) {
    auto& program = programs_[process.number];
    if (program.state == nullptr) {
      const auto root = process.root == ClientProcess::kUnnumbered ? 0U : process.root + 1;
      program.state =
          std::make_unique<acl::Process>(machine_of(root), process.number + 1, root, process.id);
    }
    return program;
  }

  void serve(ClientThread& thread) {
    auto& program = program_of(thread.process);
    ++program.result.threads;
    acl::Caller caller(*program.state, *thread.channel);
    CallRecord call;
    while (gate_.next(thread, call)) {
      if (!std::exchange(program.has_called, true)) {
        program.result.first_call = platform_.clock().now();
      }
      if (options_.charge_work) program.result.work += options_.charge_work(call.work);
      const Instant begin = platform_.clock().now();
      thread.call = call.call;
      thread.call_began = begin;
      if (options_.races != nullptr) caller.set_site(site_of(thread, call.call, program));
      // Who sleeps uses nothing.
      const bool uses = call.call != compat::Call::kSleep;
      if (uses) program.state->calls().enter();
      const int status = serve(caller, call);
      if (uses) program.state->calls().leave();
      // What costs nothing else costs a look at what the host has in its caches: a loop of such
      // calls waits for somebody else.
      if (platform_.clock().now() == begin) platform_.clock().relax({}, Instant::never());
      thread.process.helper = program.state->managed().view_thread();
      count(program.result, call, status, platform_.clock().now() - begin);
      gate_.answer(thread, status, call);
    }
    program.state->forget(caller.number());
  }

  races::CallSite site_of(const ClientThread& thread, compat::Call call, Program& program) const {
    const auto& process = thread.process;
    auto& sites = options_.races->sites();
    const auto place = sites.place(process.name, process.id, call, thread.channel->stack());
    return {place, ++program.calls, sites.thread(thread.name)};
  }

  acl::DriverSettings settings_of(const ServerOptions& options) {
    auto settings = options.driver;
    settings.on_fault_errors = [this](std::uint32_t card, const driver::FaultErrorWarning& what) {
      warn(card, what);
    };
    settings.tell = options.tell;
    return settings;
  }

  // The program whose address space it is finds it in its counter; who reads along is told.
  void warn(std::uint32_t index, const driver::FaultErrorWarning& what) {
    const auto is_meant = [&](acl::ProcessCard* card) {
      return card->index() == index && card->process().vmid() == what.vmid;
    };
    for (const auto& process : gate_.processes()) {
      const auto found = programs_.find(process.number);
      if (found == programs_.end() || found->second.state == nullptr) continue;
      const auto cards = found->second.state->cards();
      if (std::none_of(cards.begin(), cards.end(), is_meant)) continue;
      ++found->second.result.fault_warnings;
      if (!options_.tell) return;
      options_.tell(
          fmt::format("{}: device {}: {} page faults that nobody could serve, at {:.6f} us",
                      process.name, index, what.fault_errors, platform_.clock().now().us()));
      return;
    }
  }

  int serve(acl::Caller& caller, CallRecord& call) const {
    if (const auto* const what = acl::switched_off(call.call, settings_.features)) {
      caller.error() = fmt::format("{} is switched off", what);
      return acl::kFeature;
    }
    const auto handler = acl::handler_of(call.call);
    if (handler == nullptr) {
      caller.error() = "the call is not served";
      return acl::kNotSupported;
    }
    caller.begin(call);
    const bool sleeps = call.call == compat::Call::kSleep;
    auto& idle = caller.process().machine().idle;
    if (!sleeps) idle.begin_call(platform_.clock().now());
    const auto done = handler(caller, call);
    if (!sleeps) idle.end_call(platform_.clock().now());
    if (done) return acl::kSuccess;
    caller.error() = done.error().text;
    return done.error().code;
  }

  static void count(ProgramResult& result, const CallRecord& call, int status, Picoseconds time) {
    if (call.call >= compat::Call::kCount) return;
    auto& statistics =
        result.calls[std::string(compat::kCallNames[static_cast<std::size_t>(call.call)])];
    ++statistics.calls;
    if (status != acl::kSuccess) ++statistics.failed;
    statistics.total += time;
    statistics.longest = std::max(statistics.longest, time);
  }

  ServerSnapshot snapshot() const {
    ServerSnapshot now;
    for (const auto& process : gate_.processes()) {
      for (const auto& thread : process.threads) add_call(now, *thread);
      const auto program = programs_.find(process.number);
      if (program == programs_.end() || program->second.state == nullptr) continue;
      for (auto* const card : program->second.state->cards()) {
        now.clients.push_back(snapshot_of(process.name, *program->second.state, *card));
        now.clients.back().device += number_of(program->second.state->machine().cards);
      }
    }
    add_schedulers(now, cards_);
    for (const auto& place : functions_.places()) add_schedulers(now, place->cards);
    return now;
  }

  // Of the first device, for who looks at all of them: of a virtual one, what tools number it.
  std::uint32_t number_of(const acl::Cards& cards) const {
    for (const auto& place : functions_.places()) {
      if (&place->cards == &cards) return place->id;
    }
    return 0;
  }

  void add_schedulers(ServerSnapshot& now, const acl::Cards& cards) const {
    for (std::uint32_t device = 0; device < cards.count(); ++device) {
      const auto* const time_slices = cards.time_slices(device);
      if (time_slices != nullptr) {
        now.schedulers.emplace_back(number_of(cards) + device, time_slices->snapshot());
      }
    }
  }

  static void add_call(ServerSnapshot& now, const ClientThread& thread) {
    if (thread.stage != Stage::kInCall || thread.call >= compat::Call::kCount) return;
    const auto number = static_cast<std::size_t>(thread.call);
    now.calls.push_back({thread.name, compat::kCallNames[number], thread.call_began});
  }

  static ClientSnapshot snapshot_of(const std::string& name, acl::Process& process,
                                    acl::ProcessCard& card) {
    ClientSnapshot client;
    client.program = name;
    client.device = card.index();
    if (process.sharing().quota) client.memory = process.sharing().quota->use();
    if (process.managed().is_told_by(card)) {
      const auto seen = process.managed().memory()->snapshot();
      client.managed = true;
      client.page_faults = seen.faults;
      client.fault_errors = seen.fault_errors;
      client.fault_warnings = seen.fault_error_warnings;
    }
    client.modules = card.modules();
    client.features = process.machine().cards.settings().features;
    if (card.turn() == nullptr) return client;
    client.in_turns = true;
    client.turn = card.turn()->snapshot();
    return client;
  }

  void clean(ClientProcess& process) {
    auto& program = program_of(process);
    program.state->close(true);
    program.result.shares = !options_.sharing.empty();
    program.result.use = program.state->use();
    program.result.left = program.state->leftovers();
    program.result.end = platform_.clock().now();
    // Another image of the process begins anew.
    if (process.replaced) program.state.reset();
  }

  // Nothing is served from here on, and nothing given back.
  ServerResult give_up() {
    end_children();
    const Instant now = platform_.clock().now();
    gate_.give_up();
    for (const auto& process : gate_.processes()) {
      if (!process.cleaned) programs_[process.number].result.end = now;
    }
    return {results(), 0};
  }

  std::vector<ProgramResult> results() {
    std::vector<ProgramResult> all;
    for (const auto& process : gate_.processes()) {
      auto& result = programs_[process.number].result;
      // Its children may have gone on.
      if (const auto& state = programs_[process.number].state) result.use = state->use();
      if (result.first_call > result.end) result.first_call = result.end;
      result.name = process.name;
      result.title = process.title;
      result.exit_code = exit_code_of(process.status);
      result.stalls = process.stalls;
      all.push_back(std::move(result));
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return std::pair(a.name.size(), a.name) < std::pair(b.name.size(), b.name);
    });
    return all;
  }

  platform::Platform& platform_;
  const ServerOptions& options_;
  const acl::DriverSettings settings_;
  acl::Cards cards_;
  driver::MemoryShares shares_;
  acl::ProgramOperators operators_;
  acl::Machine machine_;
  ProgramFunctions functions_;
  Listener& listener_;
  std::map<unsigned, Program> programs_;
  Gate gate_;
};

}  // namespace

Result<ServerResult> serve_programs(platform::Platform& platform, const ServerOptions& options) {
  auto listener = Listener::open();
  if (!listener) return forward_error(listener);
  Server server(platform, options, **listener);
  return server.run();
}

}  // namespace npu::exec
