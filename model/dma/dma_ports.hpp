// SPDX-License-Identifier: Apache-2.0
// How the parts of the DMA module send: forms the transactions of all kinds.
#pragma once

#include <functional>
#include <optional>

#include "model/core/buffered_pool.hpp"
#include "model/dma/dma_types.hpp"

namespace npu::model {

class DmaPorts {
 public:
  // Forward paths of the module's sockets.
  using Forward = std::function<tlm::tlm_sync_enum(tlm::tlm_generic_payload&, sc_core::sc_time&)>;

  DmaPorts(Simulation& sim, Forward to_host, Forward to_hbm, Forward to_l2)
      : sim_(sim),
        to_host_(std::move(to_host)),
        to_hbm_(std::move(to_hbm)),
        to_l2_(std::move(to_l2)) {}

  // Reads of host memory: the data is in the response's own buffer.
  void read_host(const RequestTag& tag, const HostAgent& agent, std::uint64_t bus, Bytes length,
                 std::uint64_t cause);
  // ATS request for device writes at `bus`.
  void translate(const RequestTag& tag, const HostAgent& agent, std::uint64_t bus,
                 std::uint64_t cause);
  // A posted write to be filled (get_data_ptr()) and sent.
  tlm::tlm_generic_payload& make_posted_write(const HostAgent& agent, std::uint64_t bus,
                                              Bytes length, std::uint64_t cause);
  // Returns the time when the transmitter has taken the write; nothing: the function may not send
  // it (bus mastering is off), and it is dropped.
  std::optional<SimTime> post(tlm::tlm_generic_payload& trans);

  // As read_host(), from device memory.
  void fetch_device(const RequestTag& tag, SpaceId space, Bytes address, Bytes length,
                    std::uint64_t cause);
  // `address` is of the address space `space`. `data` stays valid until the response; null: the
  // lines come to the L2.
  void read_device(const RequestTag& tag, SpaceId space, std::uint64_t address, unsigned char* data,
                   Bytes length, std::uint64_t cause);
  struct Reduction {
    abi::ReduceOperation operation = abi::ReduceOperation::kNone;
    abi::ElementType element = abi::ElementType::kInt8;
  };
  // The same of a write. One that reduces waits in the MMU for a page that somebody serves: it must
  // not be made twice.
  void write_device(const RequestTag& tag, Reduction reduction, SpaceId space,
                    std::uint64_t address, unsigned char* data, Bytes length, std::uint64_t cause);

 private:
  // To the HBM, or of what has no data to the L2.
  const Forward& to_memory(const tlm::tlm_generic_payload& trans) const;
  void send_late(std::uint64_t handle);
  void send(const Forward& forward, tlm::tlm_generic_payload& trans, const RequestTag& tag,
            std::uint64_t cause);

  static constexpr SimTime kLate = 300'000;  // ps, of an access with order.rule=weakest, at most

  Simulation& sim_;
  Forward to_host_;
  Forward to_hbm_;
  Forward to_l2_;
  BufferedPool pool_;
};

}  // namespace npu::model
