// SPDX-License-Identifier: Apache-2.0
#include "machine/gdb/debugger.hpp"

#include <utility>

#include "machine/gdb/server.hpp"
#include "model/system.hpp"

namespace npu::gdb {

class Debugger::Owned {
 public:
  Owned(Connection connection, const Surroundings& around)
      : server(std::move(connection), around.folder, around.raised, around.given_up) {}
  Server server;
};

Debugger::Debugger(std::unique_ptr<Owned> owned) : owned_(std::move(owned)) {}
Debugger::~Debugger() = default;

Result<std::unique_ptr<Debugger>> Debugger::listen(const std::string& where,
                                                   const Surroundings& surroundings) {
  auto connection = Connection::listen(where);
  if (!connection) return tl::unexpected(connection.error());
  return std::unique_ptr<Debugger>(
      new Debugger(std::make_unique<Owned>(std::move(*connection), surroundings)));
}

std::unique_ptr<Debugger> Debugger::at(int in, int out, const Surroundings& surroundings) {
  return std::unique_ptr<Debugger>(new Debugger(
      std::make_unique<Owned>(Connection(FileDescriptor(in), FileDescriptor(out)), surroundings)));
}

const std::string& Debugger::address() const {
  return owned_->server.connection().address();
}

void Debugger::attach(model::System& system) {
  system.simulation().program_files.enable();
  for (unsigned i = 0; i < system.cards(); ++i) {
    auto& card = system.card(i);
    owned_->server.add_card(card.mmu().memory(), card.memory_watch());
  }
  owned_->server.attach();
}

void Debugger::look() {
  owned_->server.look();
}

void Debugger::detach() {
  owned_->server.detach();
}

void Debugger::ended(int exit_code) {
  owned_->server.ended(exit_code);
}

}  // namespace npu::gdb
