// SPDX-License-Identifier: Apache-2.0
// What gdb asks while all stands still.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "machine/gdb/connection.hpp"
#include "machine/gdb/packets.hpp"
#include "machine/gdb/spaces.hpp"

namespace npu::gdb {

// What can be looked at.
struct Target {
  OwnMemory own;
  Code code{own};
  Threads threads{code};
  Spaces spaces{own, code, threads};
  struct Library {
    std::string file;
    std::uint64_t link_map = 0, base = 0, dynamic = 0;
  };
  std::vector<Library> libraries;
  std::string last_write;  // a sentence; empty: nobody has written to what is watched
  unsigned only = 0;       // breakpoints are for this thread alone; 0: for all
};

// Why all stands still.
struct Stop {
  unsigned thread = kHost;
  std::string why;                // of the protocol: "swbreak:;"
  unsigned signal = 5;            // SIGTRAP, as gdb numbers it
  ucontext_t* machine = nullptr;  // of `thread`; null: it is in its port
  bool first = false;             // gdb has not asked for it
};

struct Action {
  enum class Kind : std::uint8_t { kContinue, kStep, kDetach, kKill };
  Kind kind = Kind::kContinue;
  unsigned thread = 0;  // that makes the step
};

class Session {
 public:
  // `given_up`: asked after signals and now and then.
  Session(Connection connection, Target& target, bool (*given_up)());

  Connection& connection() { return connection_; }
  PacketReader& reader() { return reader_; }
  // Until gdb has connected. False: nobody has.
  bool accept() { return connection_.accept(given_up_); }
  // Until gdb lets all go on.
  Action serve(const Stop& stop);
  // On gdb's console, while all runs.
  void say(const std::string& text);
  void send(const std::string& text) { connection_.write(packet_of(text)); }

 private:
  bool answer(std::string_view packet, Action& action);
  bool resume(std::string_view packet, Action& action);
  std::string query(std::string_view packet);
  std::string read_memory(std::string_view arguments);
  std::string write_memory(std::string_view arguments, bool binary);
  std::string point(std::string_view arguments, bool insert);
  std::string registers() const;
  std::string set_register_of(std::string_view arguments);
  std::string select(std::string_view arguments);
  std::string stop_reply() const;
  std::string library_list() const;
  Thread* selected() { return target_.threads.find(selected_); }

  Connection connection_;
  Target& target_;
  bool (*given_up_)();
  PacketReader reader_;
  Stop stop_;
  unsigned selected_ = kHost;
  bool acknowledges_ = true, knows_breaks_ = false;
};

}  // namespace npu::gdb
