// SPDX-License-Identifier: Apache-2.0
// What benches with registers have: BAR0, through which a driver reads and writes them, and time.
#pragma once

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include "model/core/simulation.hpp"

namespace npu::test {

class RegisterHost {
 public:
  template <class R>
  R read() {
    R value;
    EXPECT_EQ(bar0_access(tlm::TLM_READ_COMMAND, R::kOffset, &value.raw, sizeof value.raw),
              tlm::TLM_OK_RESPONSE);
    return value;
  }
  template <class R>
  void write(R value) {
    bar0_access(tlm::TLM_WRITE_COMMAND, R::kOffset, &value.raw, sizeof value.raw);
  }
  tlm::tlm_response_status bar0_access(tlm::tlm_command command, std::uint64_t offset, void* data,
                                       unsigned length) {
    auto& trans = sim.pool.allocate(command, offset, static_cast<unsigned char*>(data), length);
    auto delay = sc_core::SC_ZERO_TIME;
    bar0->b_transport(trans, delay);
    EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
    const auto status = trans.get_response_status();
    trans.release();
    return status;
  }
  void run(Picoseconds time) {
    sc_core::sc_start(sc_core::sc_time::from_value(static_cast<std::uint64_t>(time.count())));
  }

  model::Simulation sim;
  tlm_utils::simple_initiator_socket<RegisterHost> bar0{"bar0"};
};

}  // namespace npu::test
