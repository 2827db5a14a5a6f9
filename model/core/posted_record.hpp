// SPDX-License-Identifier: Apache-2.0
// A posted write of a record to host memory.
#pragma once

#include <cstring>

#include "model/core/simulation.hpp"
#include "model/core/transaction.hpp"

namespace npu::model {

// False: the function may not write now.
template <class Socket, class Record>
bool post_record(Simulation& sim, Socket& socket, unsigned function, std::uint64_t bus,
                 const Record& record, std::uint64_t cause) {
  auto& trans = sim.pool.allocate(tlm::TLM_WRITE_COMMAND, bus, nullptr, sizeof record);
  auto& info = Transaction::of(trans);
  info.posted = true;
  info.function = static_cast<std::uint8_t>(function);
  info.cause = cause;
  info.issued = sim_now();
  std::memcpy(trans.get_data_ptr(), &record, sizeof record);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  auto delay = sc_core::SC_ZERO_TIME;
  const bool sent = socket->nb_transport_fw(trans, phase, delay) != tlm::TLM_COMPLETED;
  if (!sent) trans.release();
  return sent;
}

}  // namespace npu::model
