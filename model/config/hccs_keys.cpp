// SPDX-License-Identifier: Apache-2.0
// The keys of a card's HCCS ports.
#include "model/config/key_table.hpp"

namespace npu::model {

using keys::number;

const Table& hccs_table() {
  using H = HccsConfig;
  static const Table kTable{
      "",
      "the card's ports to other cards; both directions of a link are independent",
      {
          number("rate_gb_per_s", &H::rate, 1, 2000, "on the wire, each way"),
          number("packet_payload_bytes", &H::packet_payload, 32, 4096, "data of one packet")
              .in_powers_of_two(),
          number("packet_overhead_bytes", &H::packet_overhead, 1, 256,
                 "header, CRC and flow control of each packet"),
          number("propagation_ns", &H::propagation, 0, 100'000,
                 "transmitter to the far port's transaction layer, one way"),
          number("ingress_ns", &H::ingress, 0, 100'000,
                 "far port to its memory controller port, each request"),
          number("receive_buffer_kib", &H::receive_buffer, 1, 65'536,
                 "data of requests that a link's receiver holds"),
          number("max_outstanding_reads_kib", &H::max_outstanding_reads, 1, 65'536,
                 "asked for and not yet here, per DMA engine"),
          number("max_outstanding_writes_kib", &H::max_outstanding_writes, 1, 65'536,
                 "sent and not yet acknowledged, per DMA engine"),
          number("command_setup_ns", &H::command_setup, 0, 100'000,
                 "of an engine before the first request of a P2P command"),
          number("response_timeout_us", &H::response_timeout, 1, 64'000'000,
                 "a request without a response has failed"),
      }};
  return kTable;
}

}  // namespace npu::model
