// SPDX-License-Identifier: Apache-2.0
#include "machine/gdb/server.hpp"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <utility>

#include "machine/gdb/object.hpp"

namespace npu::gdb {
namespace {

constexpr greg_t kTrapFlag = 0x100;   // of eflags: a trap behind the next instruction
constexpr unsigned kInterrupted = 2;  // SIGINT, as gdb numbers it
constexpr std::size_t kHandlerStack = std::size_t{512} << 10;
constexpr std::array<const char*, 8> kPipes{"scalar", "vector", "cube",    "MTE1",
                                            "MTE2",   "MTE3",   "FixPipe", "all"};

Server* g_server = nullptr;

void handle(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigfillset(&action.sa_mask);
  for (const int ends : {SIGINT, SIGTERM, SIGHUP, SIGSEGV}) sigdelset(&action.sa_mask, ends);
  sigaction(signal, &action, nullptr);
}

}  // namespace

class Server::Snooper final : public model::MemoryWatch::Snooper {
 public:
  Snooper(Server& server, const model::DeviceMemoryPort& memory)
      : server_(server), memory_(memory) {}
  void snoop(model::Writer writer, model::SpaceId space, std::uint64_t address,
             Bytes length) override {
    const auto watched = server_.target_.spaces.met(memory_, space, address, length);
    if (watched) server_.written(memory_, *watched, writer);
  }
  void snoop_local(std::uint64_t address, Bytes length) override {
    const auto watched = server_.target_.spaces.met_local(memory_, address, length);
    if (watched) server_.written(memory_, *watched, model::Writer::kDma);
  }

 private:
  Server& server_;
  const model::DeviceMemoryPort& memory_;
};

Server::Server(Connection connection, std::string folder, std::atomic<bool>& raised,
               bool (*given_up)())
    : session_(std::move(connection), target_, given_up),
      folder_(std::move(folder)),
      raised_(raised) {}

Server::~Server() {
  detach();
}

void Server::add_card(model::DeviceMemoryPort& memory, model::MemoryWatch& watch) {
  target_.threads.add_card(&memory);
  snoopers_.push_back(std::make_unique<Snooper>(*this, memory));
  watch.add_snooper(*snoopers_.back());
}

void Server::attach() {
  if (!session_.accept()) return;
  attached_ = true;
  g_server = this;
  model::detail::program_debugger = this;
  handle(SIGTRAP, &Server::on_trap);
  handle(SIGIO, &Server::on_input);
  connection().announce();
  Stop first;
  first.first = true;
  stop(first);
}

void Server::detach() {
  if (!attached_) return;
  attached_ = false;
  step_ = {};
  target_.only = 0;
  target_.code.clear();
  target_.spaces.forget_watches();
  model::detail::program_debugger = nullptr;
}

void Server::ended(int exit_code) {
  if (!connection().broken()) session_.send(fmt::format("W{:02x}", exit_code & 0xFF));
  connection().close();
}

// --- what the models tell -----------------------------------------------------------------------

void Server::loaded(const void* link_map, ConstByteSpan file) {
  const auto& map = *static_cast<const struct link_map*>(link_map);
  const std::string path = fmt::format("{}/program{}.so", folder_, target_.libraries.size());
  const auto end = end_of_object(map.l_addr);
  if (end == 0 || !write_object(path, file)) return;
  target_.code.add(map.l_addr, end);
  target_.libraries.push_back({path, reinterpret_cast<std::uintptr_t>(link_map), map.l_addr,
                               reinterpret_cast<std::uintptr_t>(map.l_ld)});
  stop_in_model("library:;", current(), Stop().signal);
}

void Server::begins(model::ProgramRun& run) {
  if (!has_stack_) {  // behind the guard's, which is too small for this
    static std::array<char, kHandlerStack> stack;
    stack_t other{};
    other.ss_sp = stack.data();
    other.ss_size = stack.size();
    has_stack_ = sigaltstack(&other, nullptr) == 0;
  }
  target_.threads.begins(run);
}

// Where programs return to nothing can trap: who waits there is told here. Further steps of it end
// where they begin.
void Server::ends(model::ProgramRun& run) {
  const unsigned thread = target_.threads.of(run).id;
  const bool stops = target_.code.asked_for(kOutside) && target_.threads.returns(run);
  if (stops && (target_.only == 0 || target_.only == thread)) {
    stop_in_model("swbreak:;", thread, Stop().signal);
    while (attached_ && step_.run == &run) stop_in_model("", thread, Stop().signal);
  }
  target_.threads.ends(run);
  if (step_.run == &run) step_ = {};
}

void Server::leaves(model::ProgramRun& run) {
  effect_ = {};
  target_.threads.leaves(run);
  if (asked()) stop_in_model("", target_.threads.of(run).id, kInterrupted);
}

void Server::look() {
  if (asked()) stop_in_model("", current(), kInterrupted);
}

void Server::written(const model::DeviceMemoryPort& memory, std::uint64_t watched,
                     model::Writer writer) {
  if (serving_ || !attached_) return;
  unsigned thread = current();
  std::string who = writer == model::Writer::kDma ? "DMA or the host" : "an AICPU";
  if (writer == model::Writer::kAiCore) {
    auto* const core = effect_.memory == &memory ? target_.threads.find(&memory, effect_.core)
                                                 : target_.threads.find(thread);
    if (core != nullptr) thread = core->id;
    who = core == nullptr ? "an AI Core" : target_.threads.name(*core);
    if (effect_.memory == &memory && effect_.pipe == 0) {
      who += ", the scalar unit,";
    } else if (effect_.memory == &memory) {
      who +=
          fmt::format(", {}, instruction {} of its program", kPipes[effect_.pipe], effect_.number);
    }
  }
  target_.last_write =
      fmt::format("{:#x}: written by {} at {} ps\n", watched, who, model::sim_now());
  session_.say(target_.last_write);
  stop_in_model(fmt::format("watch:{:x};", watched), thread, Stop().signal);
}

unsigned Server::current() const {
  auto* const run = model::detail::running_program;
  return run == nullptr ? kHost : const_cast<Threads&>(target_.threads).of(*run).id;
}

// --- signals ------------------------------------------------------------------------------------

void Server::on_trap(int signal, siginfo_t* info, void* context) {
  if (g_server == nullptr || model::detail::running_program == nullptr) {
    ::signal(signal, SIG_DFL);
    raise(signal);
    return;
  }
  g_server->trap(info->si_code == SI_KERNEL, *static_cast<ucontext_t*>(context));
}

void Server::on_input(int, siginfo_t*, void* context) {
  const int before = errno;
  if (g_server != nullptr) g_server->input(*static_cast<ucontext_t*>(context));
  errno = before;
}

// In the model nothing may be done here but to remember it.
void Server::input(ucontext_t& at) {
  if (serving_ || !attached_) return;
  const std::size_t have = came_bytes_;
  const long got = connection().read_now(came_.data() + have, came_.size() - have);
  if (got < 0) gone_ = true;
  if (got > 0) came_bytes_ = have + static_cast<std::size_t>(got);
  if (got == 0) return;
  wanted_ = true;
  raised_ = true;
  auto* const run = model::detail::running_program;
  if (run == nullptr || !target_.code.contains(general(at, kRip)) || !asked()) return;
  Stop interrupted{current(), "", kInterrupted, &at, false};
  stop(interrupted);
}

// Whether gdb wants all to stand still, by what has come. If it has gone, it wants nothing more.
bool Server::asked() {
  if (!wanted_ || serving_ || !attached_) return false;
  wanted_ = false;
  session_.reader().feed({came_.data(), came_bytes_});
  came_bytes_ = 0;
  if (gone_) detach();
  return !gone_ && session_.reader().take_interrupt();
}

void Server::trap(bool breakpoint, ucontext_t& at) {
  at.uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
  if (open_ != 0) {
    target_.code.close(open_);
    open_ = 0;
  }
  const std::uint64_t place = general(at, kRip) - 1;
  Stop why{current(), "", Stop().signal, &at, false};
  if (breakpoint && target_.code.patched(place)) {
    at.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(place);
    const bool returned = met(at);
    const bool wanted =
        target_.code.asked_for(place) && (target_.only == 0 || target_.only == why.thread);
    if (!returned && !wanted) return pass(at);
    if (wanted) why.why = "swbreak:;";
  } else if (!breakpoint && !stepped(at)) {
    return;
  } else if (gone_) {
    return;
  }
  if (attached_) stop(why);
}

// The call of the port has returned that ends the step.
bool Server::met(ucontext_t& at) {
  if (step_.run != model::detail::running_program || step_.traps) return false;
  return target_.code.own() == general(at, kRip) && step_.stack == general(at, kRsp);
}

// Whether a step has ended behind one instruction.
bool Server::stepped(ucontext_t& at) {
  if (step_.run != model::detail::running_program || !step_.traps) return false;
  if (target_.code.contains(general(at, kRip))) return true;
  // It called somebody, or has returned for good.
  std::uint64_t back = 0;
  const std::uint64_t stack = general(at, kRsp);
  const bool call = target_.own.read(stack, &back, sizeof back) && target_.code.contains(back);
  step_.traps = false;
  step_.stack = stack + sizeof back;
  if (call) {
    target_.code.set_own(back);
  } else {
    step_ = {};
  }
  target_.code.lift_back();
  return false;
}

// --- standing still -----------------------------------------------------------------------------

void Server::stop(const Stop& why) {
  auto* const run = model::detail::running_program;
  if (run != nullptr) target_.threads.leaves(*run);
  serving_ = true;
  step_ = {};
  target_.code.stopped();
  const Action action = session_.serve(why);
  serving_ = false;
  // What came behind the last packet, an interrupt, gets no signal.
  if (session_.reader().has_interrupt()) wanted_ = raised_ = true;
  go_on(action, why);
}

void Server::stop_in_model(const std::string& why, unsigned thread, unsigned signal) {
  if (serving_ || !attached_) return;
  stop({thread, why, signal, nullptr, false});
}

void Server::go_on(const Action& action, const Stop& why) {
  using Kind = Action::Kind;
  if (action.kind == Kind::kDetach || action.kind == Kind::kKill) {
    detach();
    connection().close();
    if (action.kind == Kind::kKill) raise(SIGTERM);
    return;
  }
  if (action.kind == Kind::kContinue) {
    target_.code.go_on();
    if (why.machine != nullptr) pass(*why.machine);
    return;
  }
  const bool here = why.machine != nullptr && action.thread == why.thread;
  if (here) {
    step_ = {model::detail::running_program, true, 0};
    return pass(*why.machine), void(why.machine->uc_mcontext.gregs[REG_EFL] |= kTrapFlag);
  }
  target_.code.lift_back();
  auto* const thread = target_.threads.find(action.thread);
  if (thread != nullptr && thread->active && !thread->left.empty()) {
    step_ = {thread->run, false, thread->left.value[kRsp]};
    target_.code.set_own(thread->left.value[kRip]);
  }
  if (why.machine != nullptr) pass(*why.machine);
}

// Over the breakpoint that it is at.
void Server::pass(ucontext_t& at) {
  const std::uint64_t place = general(at, kRip);
  if (!target_.code.patched(place)) return;
  open_ = place;
  target_.code.open(place);
  at.uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
}

}  // namespace npu::gdb
