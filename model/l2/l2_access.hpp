// SPDX-License-Identifier: Apache-2.0
// A request of an L2 from acceptance to response.
#pragma once

#include <algorithm>
#include <systemc>
#include <tlm>

#include "model/core/transaction.hpp"
#include "model/l2/line_cursor.hpp"

namespace npu::model {

struct L2Access {
  L2Access() = default;
  // At the slices at `at`; a line has 2^line_shift bytes.
  L2Access(tlm::tlm_generic_payload& request, unsigned from, SimTime at, unsigned line_shift)
      : trans(&request),
        arrival(at),
        client(static_cast<std::uint16_t>(from)),
        write(request.is_write()) {
    const auto& info = Transaction::of(request);
    const std::uint16_t rows = std::max<std::uint16_t>(info.rows, 1);
    const unsigned length = request.get_data_length();
    const bool rows_are_alike = rows == 1 || length % rows == 0;
    sc_assert(rows_are_alike);
    rest = LineCursor(request.get_address(), length / rows, rows, info.pitch, line_shift);
  }

  tlm::tlm_generic_payload* trans = nullptr;
  LineCursor rest;          // that was not looked up
  SimTime arrival = 0;      // at the slices
  SimTime ready = 0;        // of what is known
  SimTime tail = 0;         // from a line being there to the response
  SimTime blocked = 0;      // since when
  SimTime hbm_until = 0;    // a line came from there, or room was waited for; 0: neither
  std::uint32_t fills = 0;  // reads it waits for
  std::uint16_t client = 0;
  bool write = false;
  std::uint32_t hits = 0, misses = 0;  // lines
};

}  // namespace npu::model
