// SPDX-License-Identifier: Apache-2.0
// The management socket of a running npusim (apps/dsmi/client/protocol.hpp). What only looks is
// answered out of the card's registers by the debug transport, so nobody inside the machine
// notices.
#pragma once

#include <array>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "apps/dsmi/client/protocol.hpp"
#include "model/host/vfio_user/listener.hpp"
#include "tools/cli/management/probed_card.hpp"
#include "tools/cli/management/served_devices.hpp"

namespace npu::cli {

class ManagementServer {
 public:
  static constexpr std::size_t kMostClients = 64;  // those beyond are turned away

  // `system` and `devices` outlive it. Errors of vfio_user::listen_at().
  static Result<std::unique_ptr<ManagementServer>> listen(const std::string& path,
                                                          model::System& system,
                                                          ServedDevices& devices);
  ~ManagementServer();
  ManagementServer(const ManagementServer&) = delete;
  ManagementServer& operator=(const ManagementServer&) = delete;

  // Readable when there is something to do.
  int file() const { return events_.get(); }
  // Answers what has come, without waiting; from a host task, and making or ending a virtual device
  // takes simulated time.
  void serve();
  std::size_t clients() const { return clients_.size(); }

 private:
  struct Client {
    FileDescriptor socket;
    std::array<unsigned char, sizeof(dsmi::RequestMessage)> message{};
    std::size_t filled = 0;
    std::string name;  // of the template
  };

  ManagementServer(std::string path, model::System& system, ServedDevices& devices);
  void accept();
  // False: the client is gone, or has not taken an answer.
  bool serve(Client& client);
  dsmi::AnswerMessage answer(const dsmi::RequestMessage& request, Client& client);
  dsmi::AnswerMessage answer_of_card(const dsmi::RequestMessage& request);
  dsmi::AnswerMessage answer_of_devices(const dsmi::RequestMessage& request, Client& client);
  static bool is_readable(const dsmi::RequestMessage& request, Bytes width);
  static bool is_writable(const dsmi::RequestMessage& request, Bytes width);

  const std::string path_;
  ServedDevices& devices_;
  std::uint64_t inode_ = 0;
  std::vector<std::unique_ptr<ProbedCard>> cards_;
  FileDescriptor listener_, events_;
  std::list<Client> clients_;
};

}  // namespace npu::cli
