// SPDX-License-Identifier: Apache-2.0
// Functions of the modelled machine served to vfio-user clients, one socket each.
//
// Simulated time goes on as far as there is work: an access that is answered takes as long as the
// model says, what was posted and what the card has in flight is worked off between the messages,
// and while nothing is left to happen the clock stands still. A pacer holds it to another clock.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/host/ecam_window.hpp"
#include "model/host/exported_function.hpp"
#include "model/host/vfio_user/server.hpp"

namespace npu::model {

// Holds simulated time to a clock outside.
class Pacer {
 public:
  virtual ~Pacer() = default;
  // How far simulated time may be by now.
  virtual SimTime allowed() = 0;
  // Until it may be at `when`; rounded up.
  virtual int milliseconds_until(SimTime when) = 0;
};

class Exporter {
 public:
  // All for as long as the exporter lives. `pacer` may be null: as fast as possible.
  Exporter(Simulation& simulation, HostCpus& cpus, HostPlatform& host, HostMemory& memory,
           Interrupts& interrupts, ResourceLookup resources, Pacer* pacer);

  // Before run(), from the host task that will run it. kAlreadyExists: it has a socket; errors of
  // ExportedFunction::prepare() and of vfio_user::Server::listen(). The socket of a virtual
  // function ends with the function, and comes back with it.
  Status add(platform::Bdf bdf, const std::string& socket);
  // The whole hierarchy on one socket; `functions`: what there was at boot.
  Status add_window(const std::vector<FoundFunction>& functions, const std::string& socket);
  // `hook` is called when the socket of a virtual function has ended (false) or come back (true).
  void on_socket(std::function<void(platform::Bdf, const std::string& path, bool open)> hook) {
    on_socket_ = std::move(hook);
  }
  // Virtual functions have come or gone otherwise than by a client. Not from within run()'s calls
  // of functions, but from `stopped`.
  void follow_virtual_functions();
  // Somebody has negotiated on the function's socket, or on that of the whole hierarchy.
  bool has_client(platform::Bdf bdf) const;
  // Until `stopped`, which is asked whenever `wake` (a file descriptor) may have become readable.
  void run(int wake, const std::function<bool()>& stopped);

  const std::vector<std::unique_ptr<ExportedFunction>>& functions() const { return functions_; }
  const vfio_user::Server& server() const { return server_; }

 private:
  struct Socket {
    ExportedFunction* function;
    std::string path;
    std::optional<platform::Bdf> physical;  // whose virtual function it is
    bool open = true;
    bool gone = false;  // for a moment at least: its client is to learn of that
  };
  bool is_there(const Socket& socket);
  void virtual_functions_changed();
  void end(Socket& socket);
  void open_again(Socket& socket);
  int timeout();
  void work();
  void catch_up();

  Simulation& simulation_;
  HostCpus& cpus_;
  HostPlatform& host_;
  HostMemory& memory_;
  Interrupts& interrupts_;
  ResourceLookup resources_;
  Pacer* pacer_;
  std::vector<std::unique_ptr<ExportedFunction>> functions_;
  std::vector<Socket> sockets_;
  bool functions_changed_ = false;
  std::function<void(platform::Bdf, const std::string& path, bool open)> on_socket_;
  std::unique_ptr<EcamWindow> window_;
  vfio_user::Server server_;
};

}  // namespace npu::model
