// SPDX-License-Identifier: Apache-2.0
// Virtual devices of a served machine's cards: looked up in the card's own books, which takes no
// time; made and ended by a driver that opens the physical function for that, and closes it again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/dsmi/client/protocol.hpp"
#include "model/host/exporter.hpp"
#include "model/system.hpp"

namespace npu::cli {

class ServedDevices {
 public:
  // Both outlive it.
  ServedDevices(model::System& system, model::Exporter& exporter)
      : system_(system), exporter_(exporter) {}

  // `function`: a virtual one, or dsmi::kTotals. None: no such function or field.
  std::optional<std::uint64_t> field(unsigned card, std::uint64_t function, std::uint64_t field);
  // A code of dsmi_error_code.h, shifted by 32 the function in front of it: as Request::kCreate
  // answers. From a host task; simulated time passes. DSMI_ERROR_BUSY: a client has the physical
  // function.
  std::uint64_t create(unsigned card, std::uint64_t function, const std::string& name);
  std::uint64_t destroy(unsigned card, std::uint64_t function);

 private:
  template <class Body>
  std::uint64_t with_driver(unsigned card, Body body);

  model::System& system_;
  model::Exporter& exporter_;
};

}  // namespace npu::cli
