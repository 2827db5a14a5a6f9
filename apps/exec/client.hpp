// SPDX-License-Identifier: Apache-2.0
// A program that is served, and its threads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/exec/host/channel.hpp"
#include "apps/exec/host/listener.hpp"
#include "apps/exec/host/thread_states.hpp"
#include "npu/platform/time.hpp"

namespace npu::exec {

struct ClientProcess;

enum class Stage : std::uint8_t {
  kRunning,  // its own work: simulated time stands still until it calls, blocks or ends
  kReady,    // it has called, and its task will serve that
  kInCall,   // its task serves the call
  kEnded,
};

struct ClientThread {
  ClientThread(ClientProcess& owner, pid_t thread, std::unique_ptr<Channel> connection)
      : process(owner), id(thread), channel(std::move(connection)) {}

  static constexpr unsigned kUnnumbered = ~0U;
  ClientProcess& process;
  const pid_t id;
  unsigned number = kUnnumbered;  // in its process, in the order of their first calls
  std::string name;               // "p0.t1": the second one of the first program that called
  std::unique_ptr<Channel> channel;
  Stage stage = Stage::kRunning;
  compat::Call call = compat::Call::kCount;  // kInCall: which, and when its serving has begun
  Instant call_began;
  bool has_task = false;
  bool gone = false;  // its process has ended, or runs another image
  std::unique_ptr<platform::Condition> called;
  std::unique_ptr<platform::Task> task;

  // It has made its last call.
  bool ends() const {
    return stage == Stage::kEnded || (stage == Stage::kReady && channel->posts_the_end());
  }
};

struct ClientProcess {
  static constexpr unsigned kUnnumbered = ~0U;
  unsigned number = 0;
  unsigned root = kUnnumbered;  // the program that it is, or descends from; kUnnumbered: unknown
  std::string name;             // "p0"
  std::string title;            // the program's words
  pid_t id = 0;
  int status = 0;  // as waitpid() tells it, once it has ended
  bool alive = true;
  bool cleaned = false;       // it has ended, and what it had on cards was given back
  bool to_clean = false;      // nothing of it is served any more
  bool replaced = false;      // execve(): what the image before had is to be given back first
  std::uint64_t image = 0;    // that its threads have connected from (compat::Hello)
  bool stalled = false;       // stopped, or silent for too long: nobody waits for it
  bool told_stalled = false;  // who is told of changes of that knows it
  unsigned stalls = 0;
  pid_t helper = 0;    // a thread of the client library's that serves npusim alone; 0: none
  unsigned tasks = 0;  // of threads
  unsigned named = 0;  // threads that had a task
  std::vector<std::unique_ptr<ClientThread>> threads;
  std::vector<ThreadState> seen;  // that are in no call, when it was last found to be quiet
  FirstThread first_thread;
  std::vector<Arrival> newcomers;  // threads of the image that has replaced another
};

}  // namespace npu::exec
